package column

// Child gives the appender of the values within lists (the only one), or of a field of structs.
func (a *Appender) Child(i int) *Appender { return &a.children[i] }

// EndList completes a list, or map, of the values that were appended to its Child since the one before.
func (a *Appender) EndList() {
	a.endLists(1)
	a.noteValid(1)
	a.n++
}

// EndStruct completes a struct: each Child has got one value for it, or becomes null.
func (a *Appender) EndStruct() {
	a.n++
	for i := range a.children {
		if c := &a.children[i]; c.n < a.n {
			c.Null()
		}
	}
	a.n--
	a.noteValid(1)
	a.n++
}

// Truncate forgets all values from the n-th on.
func (a *Appender) Truncate(n int) { a.truncate(n) }

// endLists appends the ends of n lists, of which the first has what is in the child by now.
func (a *Appender) endLists(n int) {
	a.startOffsets()
	l := len(a.offsets)
	a.offsets = growTo(a.pool, &a.offBuf, a.offsets, n)
	for i := range n {
		a.offsets[l+i] = int32(a.children[0].n)
	}
}

// appendLists appends the lists from <= row < to; validity and number are the caller's.
func (a *Appender) appendLists(src *Column, from, to int) {
	a.startOffsets()
	l := len(a.offsets)
	base := src.Offsets[from]
	a.offsets = growTo(a.pool, &a.offBuf, a.offsets, to-from)
	at := int32(a.children[0].n) - base
	for i, o := range src.Offsets[from+1 : to+1] {
		a.offsets[l+i] = at + o
	}
	if end := src.Offsets[to]; end > base {
		a.children[0].appendRange(&src.Children[0], int(base), int(end))
	}
}

// dropOpen forgets values of children that belong to no complete value yet, where there are no more than n.
func (a *Appender) dropOpen(n int) {
	if a.n > n {
		return // truncate takes them with the rest
	}
	if a.kind == Struct {
		for i := range a.children {
			a.children[i].truncate(a.n)
		}
		return
	}
	last := 0
	if len(a.offsets) > 0 {
		last = int(a.offsets[len(a.offsets)-1])
	}
	a.children[0].truncate(last)
}

// truncateNested forgets the children of all values from the n-th on.
func (a *Appender) truncateNested(n int) {
	if a.kind == Struct {
		for i := range a.children {
			a.children[i].truncate(n)
		}
		return
	}
	a.children[0].truncate(int(a.offsets[n]))
	a.offsets = a.offsets[:n+1]
}

// finishNested hands the children to a batch.
func (a *Appender) finishNested(b *Batch, c *Column) {
	c.makeChildren()
	for i := range a.children {
		a.children[i].finish(b, &c.Children[i])
	}
}

// isTooLarge reports whether a value was left out.
func (a *Appender) isTooLarge() bool {
	if a.tooLarge > 0 {
		return true
	}
	for i := range a.children {
		if a.children[i].isTooLarge() {
			return true
		}
	}
	return false
}

// bytes is the memory of the values so far.
func (a *Appender) bytes() int {
	n := len(a.data) + 4*len(a.offsets)
	for i := range a.children {
		n += a.children[i].bytes()
	}
	return n
}
