package window

// slicer cuts time into slices that run between neighbouring edges of windows, starts and ends: at most two a slide. Where windows do
// not overlap a slice is a window.
type slicer struct {
	grid  grid
	first int64 // length of the first slice of a slide; 0 where a slide is one slice
	whole int64 // windows that have the slice at the beginning of a slide

	buckets buckets
	parts   [2][]uint32 // scratch: rows of the two slices of a slide
}

func newSlicer(g grid) slicer {
	s := slicer{grid: g, first: g.size % g.step, whole: g.size / g.step}
	if s.first > 0 {
		s.whole++
	}
	return s
}

// sliceOf is the slice of an instant: its first instant, its end, and the starts of the first and last window that have it.
func (s *slicer) sliceOf(t int64) (at, end, from, last int64) {
	past := s.grid.past(t)
	last = t - past
	at, end = last, addTo(last, s.grid.step)
	n := s.whole
	switch {
	case s.first == 0:
	case past < s.first:
		end = last + s.first
	default:
		at += s.first
		n--
	}
	return at, end, last - (n-1)*s.grid.step, last
}

// each calls add for the rows of each slice, whose times are from lo to hi.
func (s *slicer) each(times []int64, rows rowSet, lo, hi int64, ordered bool, add func(at int64, rows rowSet) error) error {
	at, end, _, _ := s.sliceOf(lo)
	if hi < end {
		return add(at, rows)
	}
	if ordered {
		for rows.len() > 0 {
			at, end, _, _ = s.sliceOf(times[rows.at(0)])
			n := before(times, rows, end)
			if err := add(at, rows.cut(0, n)); err != nil {
				return err
			}
			rows = rows.cut(n, rows.len())
		}
		return nil
	}
	return s.buckets.split(s.grid, times, rows, s.grid.floor(lo), hi, func(start int64, rows rowSet) error {
		return s.eachOfSlide(start, times, rows, add)
	})
}

// eachOfSlide is each for rows of one slide.
func (s *slicer) eachOfSlide(start int64, times []int64, rows rowSet, add func(at int64, rows rowSet) error) error {
	if s.first == 0 {
		return add(start, rows)
	}
	p := &s.parts
	p[0], p[1] = p[0][:0], p[1][:0]
	for i := range rows.len() {
		r, second := rows.at(i), 0
		if times[r]-start >= s.first {
			second = 1
		}
		p[second] = append(p[second], uint32(r))
	}
	for i, at := range [2]int64{start, start + s.first} {
		if len(p[i]) > 0 {
			if err := add(at, rowSet{rows: p[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}
