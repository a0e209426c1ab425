package scalar

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// pattern is a regular expression of RE2, prepared. It is immutable.
type pattern struct {
	std    *regexp.Regexp // for texts that are too long for a machine
	prog   *syntax.Prog
	branch []int32     // by instruction: the number of the branch that it is, -1 for others
	splits int         // number of branches
	ascii  [][2]uint64 // by instruction that takes a character: those below 128
	loop   []int32     // by instruction: of a branch that repeats one character first, the instruction of that; -1 for others
	groups int

	literal []byte    // every match contains it; nil: nothing is known
	before  int       // at most so many bytes of a match stand before its first one; -1: any number
	first   [256]bool // the bytes that a match can begin with; all where it can be empty
}

// machineBits bounds the memory of a machine for one text, in bits.
const machineBits = 1 << 18

func compilePattern(text string) (*pattern, error) {
	std, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	groups := re.MaxCap()
	re = re.Simplify()
	prog, err := syntax.Compile(re)
	if err != nil {
		return nil, err
	}
	p := &pattern{std: std, prog: prog, groups: groups}
	p.prepare()
	if l, before, ok := requiredLiteral(re); ok && !bytes.ContainsRune(l, utf8.RuneError) { // that also matches what is no UTF-8
		p.literal, p.before = l, before
	}
	p.findFirst()
	return p, nil
}

// takesRune tells whether an instruction takes a character.
func takesRune(in *syntax.Inst) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// prepare fills what is known by instruction.
func (p *pattern) prepare() {
	n := len(p.prog.Inst)
	p.branch, p.loop, p.ascii = make([]int32, n), make([]int32, n), make([][2]uint64, n)
	for i := range p.prog.Inst {
		in := &p.prog.Inst[i]
		p.branch[i], p.loop[i] = -1, -1
		switch {
		case takesRune(in):
			for b := range utf8.RuneSelf {
				if in.MatchRune(rune(b)) {
					p.ascii[i][b>>6] |= 1 << (b & 63)
				}
			}
		case in.Op == syntax.InstAlt || in.Op == syntax.InstAltMatch:
			p.branch[i] = int32(p.splits)
			p.splits++
			if body := &p.prog.Inst[in.Out]; takesRune(body) && body.Out == uint32(i) {
				p.loop[i] = int32(in.Out)
			}
		}
	}
}

// takes tells whether an instruction takes a character below 128.
func (p *pattern) takes(at uint32, b byte) bool { return p.ascii[at][b>>6&1]>>(b&63)&1 == 1 }

// requiredLiteral gives a text that every match contains and how many bytes may stand before it in the match, -1 for any number.
// ok is false where there is none.
func requiredLiteral(re *syntax.Regexp) (literal []byte, before int, ok bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return nil, 0, false
		}
		return []byte(string(re.Rune)), 0, true
	case syntax.OpCapture:
		return requiredLiteral(re.Sub[0])
	case syntax.OpPlus:
		return requiredLiteral(re.Sub[0])
	case syntax.OpConcat:
		at := 0
		for _, sub := range re.Sub {
			if l, b, found := requiredLiteral(sub); found && len(l) > len(literal) {
				literal, before, ok = l, -1, true
				if at >= 0 && b >= 0 {
					before = at + b
				}
			}
			if n := maxLength(sub); at >= 0 && n >= 0 {
				at += n
			} else {
				at = -1
			}
		}
	}
	return literal, before, ok
}

// maxLength bounds the bytes that an expression can match; -1: any number.
func maxLength(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return utf8.UTFMax * len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpCapture, syntax.OpQuest:
		return maxLength(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return -1
	}
	sum := 0
	for _, sub := range re.Sub {
		n := maxLength(sub)
		switch {
		case n < 0:
			return -1
		case re.Op == syntax.OpAlternate:
			sum = max(sum, n)
		default:
			sum += n
		}
	}
	return sum
}

// findFirst finds the bytes that a match can begin with.
func (p *pattern) findFirst() {
	seen := make([]bool, len(p.prog.Inst))
	all := false
	var walk func(pc uint32)
	walk = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &p.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			walk(in.Out)
			walk(in.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			walk(in.Out)
		case syntax.InstMatch:
			all = true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for b := range utf8.RuneSelf {
				p.first[b] = p.first[b] || p.takes(pc, byte(b))
			}
			for b := utf8.RuneSelf; b < 256; b++ {
				p.first[b] = true
			}
		}
	}
	walk(uint32(p.prog.Start))
	if all {
		for b := range p.first {
			p.first[b] = true
		}
	}
}

// machine matches by trying branches one after the other, and none twice at one place. It keeps its memory from text to text.
type machine struct {
	seen []uint64 // a bit for each branch and place
	jobs []job
	caps []int // where groups begin and end
}

// job is a branch that is still to be tried, or with at < 0 a group's end to be set back.
type job struct {
	at  int32 // instruction, or ^index into caps
	pos int
}

// find looks for the leftmost match, as package regexp does. groups is the number of groups whose places are wanted in caps, the whole
// match first; 0: none.
func (m *machine) find(p *pattern, s []byte, groups int) bool {
	m.caps = m.caps[:0]
	for range 2 * groups {
		m.caps = append(m.caps, -1)
	}
	at := 0
	if p.literal != nil {
		hit := bytes.Index(s, p.literal)
		if hit < 0 {
			return false
		}
		if p.before >= 0 {
			at = max(hit-p.before, 0)
		}
	}
	if p.splits*(len(s)-at+1) > machineBits {
		return m.findLong(p, s, groups)
	}
	words := (p.splits*(len(s)-at+1) + 63) / 64
	if cap(m.seen) < words {
		m.seen = make([]uint64, words)
	}
	m.seen = m.seen[:words]
	clear(m.seen)
	base := at
	for ; at <= len(s); at++ {
		if at < len(s) && !p.first[s[at]] {
			continue
		}
		if m.try(p, s, at, base) {
			return true
		}
	}
	return false
}

// findLong is find by package regexp, for texts that are too long.
func (m *machine) findLong(p *pattern, s []byte, groups int) bool {
	if groups == 0 {
		return p.std.Match(s)
	}
	found := p.std.FindSubmatchIndex(s)
	copy(m.caps, found)
	return found != nil
}

// try matches at a place.
func (m *machine) try(p *pattern, s []byte, start, base int) bool {
	m.jobs = append(m.jobs[:0], job{int32(p.prog.Start), start})
	width := len(s) - base + 1
	for len(m.jobs) > 0 {
		j := m.jobs[len(m.jobs)-1]
		m.jobs = m.jobs[:len(m.jobs)-1]
		if j.at < 0 {
			m.caps[^j.at] = j.pos
			continue
		}
		pc, pos := uint32(j.at), j.pos
		for alive := true; alive; {
			in := &p.prog.Inst[pc]
			switch in.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				bit := int(p.branch[pc])*width + pos - base
				if m.seen[bit>>6]>>(bit&63)&1 == 1 {
					alive = false
					continue
				}
				m.seen[bit>>6] |= 1 << (bit & 63)
				m.jobs = append(m.jobs, job{int32(in.Arg), pos})
				if p.loop[pc] >= 0 {
					if pos, alive = m.run(p, s, pc, pos, bit); !alive {
						continue
					}
				}
			case syntax.InstCapture:
				if int(in.Arg) < len(m.caps) {
					m.jobs = append(m.jobs, job{^int32(in.Arg), m.caps[in.Arg]})
					m.caps[in.Arg] = pos
				}
			case syntax.InstEmptyWidth:
				alive = syntax.EmptyOp(in.Arg)&^around(s, pos) == 0
			case syntax.InstMatch:
				if len(m.caps) > 0 {
					m.caps[0], m.caps[1] = start, pos
				}
				return true
			case syntax.InstNop:
			case syntax.InstFail:
				alive = false
			default:
				if pos == len(s) {
					alive = false
					break
				}
				if b := s[pos]; b < utf8.RuneSelf {
					alive = p.takes(pc, b)
					pos++
					break
				}
				r, n := utf8.DecodeRune(s[pos:])
				alive = in.MatchRune(r)
				pos += n
			}
			pc = in.Out
		}
	}
	return false
}

// run goes on with a branch that repeats one character, over those below 128; at each place the other way is left to be tried. It is
// at an end where that character cannot be taken again, or where it has been before.
func (m *machine) run(p *pattern, s []byte, pc uint32, pos, bit int) (end int, alive bool) {
	body, other := uint32(p.loop[pc]), int32(p.prog.Inst[pc].Arg)
	for {
		if pos == len(s) {
			return pos, false
		}
		if s[pos] >= utf8.RuneSelf {
			return pos, true
		}
		if !p.takes(body, s[pos]) {
			return pos, false
		}
		pos++
		bit++
		if m.seen[bit>>6]>>(bit&63)&1 == 1 {
			return pos, false
		}
		m.seen[bit>>6] |= 1 << (bit & 63)
		m.jobs = append(m.jobs, job{other, pos})
	}
}

// around tells which empty matches hold at a place.
func around(s []byte, pos int) syntax.EmptyOp {
	before, after := rune(-1), rune(-1)
	if pos > 0 {
		before, _ = utf8.DecodeLastRune(s[:pos])
	}
	if pos < len(s) {
		after, _ = utf8.DecodeRune(s[pos:])
	}
	return syntax.EmptyOpContext(before, after)
}
