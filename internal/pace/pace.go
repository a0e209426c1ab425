package pace

import "time"

// Pace keeps rows under a rate, on average: after n rows the next may pass when their time is over. The zero value is no limit.
type Pace struct {
	PerSecond float64
	Ready     time.Time // the next rows may pass then
}

// Open reports whether rows may pass at that time.
func (p *Pace) Open(now time.Time) bool { return p.PerSecond <= 0 || !now.Before(p.Ready) }

// Batch is how many rows a batch should have at most, so that rows come evenly: those of a tenth of a second.
func (p *Pace) Batch() int { return int(min(max(1, p.PerSecond/10), 1<<30)) }

// Passed notes that n rows passed.
func (p *Pace) Passed(n int, now time.Time) {
	if p.PerSecond <= 0 {
		return
	}
	if p.Ready.Before(now) {
		p.Ready = now
	}
	p.Ready = p.Ready.Add(time.Duration(float64(n) / p.PerSecond * float64(time.Second)))
}
