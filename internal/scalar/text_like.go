package scalar

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// bindLike is like: % stands for any text, _ for one character, \ takes the meaning from the next one. A constant pattern without _
// and \ is looked for by its pieces.
func bindLike(c *Call) error {
	match := matchLike
	if p := c.text(1); c.Args[1].Const && !strings.ContainsAny(p, `_\`) {
		pieces := strings.Split(p, "%")
		last := len(pieces) - 1
		switch {
		case last == 0:
			match = bytes.Equal
		case last == 1 && pieces[1] == "":
			match = func(s, p []byte) bool { return bytes.HasPrefix(s, p[:len(p)-1]) }
		case last == 1 && pieces[0] == "":
			match = func(s, p []byte) bool { return bytes.HasSuffix(s, p[1:]) }
		case last == 2 && pieces[0] == "" && pieces[2] == "":
			match = func(s, p []byte) bool { return bytes.Contains(s, p[1:len(p)-1]) }
		}
	}
	return bindFind(c, match)
}

// matchLike matches by going back to the last % where the text after it does not fit.
func matchLike(s, p []byte) bool {
	backP, backS := -1, 0 // where to go on: after the last %, and where its text ends so far
	i, j := 0, 0
	for i < len(s) || j < len(p) {
		if j < len(p) {
			switch p[j] {
			case '%':
				if j++; j == len(p) {
					return true
				}
				backP, backS = j, i
				continue
			case '_':
				if i < len(s) {
					_, n := utf8.DecodeRune(s[i:])
					i += n
					j++
					continue
				}
			case '\\':
				if j+1 < len(p) {
					if i < len(s) && s[i] == p[j+1] {
						i++
						j += 2
						continue
					}
					break
				}
				fallthrough // at the end it stands for itself
			default:
				if i < len(s) && s[i] == p[j] {
					i++
					j++
					continue
				}
			}
		}
		if backP < 0 || backS >= len(s) {
			return false
		}
		_, n := utf8.DecodeRune(s[backS:])
		if backS += n; backP < len(p) && p[backP] < utf8.RuneSelf && strings.IndexByte(`%_\`, p[backP]) < 0 {
			skip := bytes.IndexByte(s[backS:], p[backP]) // to where the text after % may begin
			if skip < 0 {
				return false
			}
			backS += skip
		}
		i, j = backS, backP
	}
	return true
}
