package exprtext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with a text, and where.
type Error struct {
	Text    string // the whole text
	Pos     int    // byte offset of what is wrong
	Problem string
	Hint    string // what to do about it; may be empty
}

// Error gives position, problem and hint, and below them the line with a caret:
//
//	at 1:10: unexpected "and"; an operand is missing before it
//		status = and amount > 0
//		         ^
func (e *Error) Error() string {
	line, col, text, caret := e.place()
	hint := ""
	if e.Hint != "" {
		hint = "; " + e.Hint
	}
	return fmt.Sprintf("at %d:%d: %s%s\n\t%s\n\t%s^", line, col, e.Problem, hint, text, strings.Repeat(" ", caret))
}

// excerptRunes bounds how much of a line stands on either side of the caret.
const excerptRunes = 40

// place gives line and column from 1, in characters, and the part of the line around them with the caret's distance.
func (e *Error) place() (line, col int, text string, caret int) {
	at := min(e.Pos, len(e.Text))
	start := strings.LastIndexByte(e.Text[:at], '\n') + 1
	end := len(e.Text)
	if i := strings.IndexByte(e.Text[at:], '\n'); i >= 0 {
		end = at + i
	}
	line = strings.Count(e.Text[:at], "\n") + 1
	before, after := printable(e.Text[start:at]), printable(e.Text[at:end])
	col = utf8.RuneCountInString(before) + 1
	if r := []rune(before); len(r) > excerptRunes {
		before = "…" + string(r[len(r)-excerptRunes:])
	}
	if r := []rune(after); len(r) > excerptRunes {
		after = string(r[:excerptRunes]) + "…"
	}
	return line, col, before + after, utf8.RuneCountInString(before)
}

// printable gives text with a space for each control character, so that the caret stands where it should.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, s)
}
