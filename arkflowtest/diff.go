package arkflowtest

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiff is how many rows of each kind a diff shows.
const maxDiff = 20

// diff tells how the rows of got differ from those of want, as multisets; "" where they do not. A missing and an unexpected row that agree in
// most columns stand under each other.
func diff(want, got []string) string {
	missing, extra := minus(want, got), minus(got, want)
	if len(missing) == 0 && len(extra) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows wanted, %d there: %d missing (-), %d unexpected (+)\n", len(want), len(got), len(missing), len(extra))
	shown := 0
	used := make([]bool, len(extra))
	for _, m := range missing {
		if shown == maxDiff {
			fmt.Fprintf(&b, "  … and %d more missing\n", len(missing)-maxDiff)
			break
		}
		shown++
		near := nearest(m, extra, used)
		if near < 0 {
			fmt.Fprintf(&b, "- %s\n", m)
			continue
		}
		used[near] = true
		minusLine, plusLine := align(m, extra[near])
		fmt.Fprintf(&b, "- %s\n+ %s\n", minusLine, plusLine)
	}
	shown = 0
	for i, e := range extra {
		if used[i] {
			continue
		}
		if shown == maxDiff {
			b.WriteString("  … and more unexpected\n")
			break
		}
		shown++
		fmt.Fprintf(&b, "+ %s\n", e)
	}
	return b.String()
}

// minus gives the elements of a that b has not, counted, sorted.
func minus(a, b []string) (out []string) {
	left := map[string]int{}
	for _, s := range b {
		left[s]++
	}
	for _, s := range a {
		if left[s] > 0 {
			left[s]--
			continue
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// nearest gives the unused line that shares most columns with one, at least half of them; -1 where there is none.
func nearest(line string, others []string, used []bool) int {
	cells := columns(line)
	best, at := (len(cells)+1)/2-1, -1
	for i, o := range others {
		if used[i] {
			continue
		}
		same := 0
		for k, c := range columns(o) {
			if k < len(cells) && cells[k] == c {
				same++
			}
		}
		if same > best {
			best, at = same, i
		}
	}
	return at
}

// align pads the columns of two lines to the same width.
func align(a, b string) (string, string) {
	ca, cb := columns(a), columns(b)
	for i := range min(len(ca), len(cb)) {
		w := max(len([]rune(ca[i])), len([]rune(cb[i])))
		ca[i], cb[i] = pad(ca[i], w), pad(cb[i], w)
	}
	return strings.TrimRight(strings.Join(ca, " "), " "), strings.TrimRight(strings.Join(cb, " "), " ")
}

func pad(s string, w int) string { return s + strings.Repeat(" ", max(0, w-len([]rune(s)))) }

// columns cuts a line at the spaces outside quotes.
func columns(line string) (out []string) {
	from, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ' ' && !quoted:
			out = append(out, line[from:i])
			from = i + 1
		}
	}
	return append(out, line[from:])
}
