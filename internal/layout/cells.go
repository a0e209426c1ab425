package layout

// Index is the layout of a table that has only keys.
func (l *Layout) Index() *Layout {
	c := *l
	c.Args, c.Outs, c.Sides, c.Heaps, c.Buffer, c.Stride = nil, nil, 0, 0, false, l.Count+1
	return &c
}

// Cells is the layout of accumulators under a number.
func (l *Layout) Cells() *Layout {
	c := *l
	shift := l.Count - 1
	c.Mode, c.Count, c.Buffer = KeyWord, 1, false
	c.Stride -= shift
	c.Args = append([]Argument(nil), l.Args...)
	for i := range c.Args {
		c.Args[i].Accs = append([]Accumulator(nil), c.Args[i].Accs...)
		for j := range c.Args[i].Accs {
			c.Args[i].Accs[j].Off -= shift
		}
	}
	return &c
}

// Subtractable reports whether rows can be taken out of all accumulators again without a trace: counts and exact sums.
func (l *Layout) Subtractable() bool {
	for _, arg := range l.Args {
		for _, a := range arg.Accs {
			if !a.Wraps() {
				return false
			}
		}
	}
	return true
}
