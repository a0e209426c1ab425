package column

import (
	"fmt"
	"math/bits"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unsafe"
)

const (
	minClassBits = 6  // 64 bytes
	maxClassBits = 26 // 64 MiB; larger loans are given to the garbage collector
	poison       = 0xDB
)

// DefaultPoolBytes bounds the idle memory that a pool keeps for later loans.
const DefaultPoolBytes = 64 << 20

// Pool lends the memory of batches. It is safe for use by several goroutines. The zero value works; a nil pool
// lends memory of the garbage collector.
type Pool struct {
	mu        sync.Mutex
	classes   [maxClassBits + 1][][]byte
	headers   []*Batch
	idleBytes int
	limit     int
	lent      int // bytes
	debug     *poolDebug
}

// poolDebug is the state of the debug mode: one entry a loan, found by the address of its first byte.
type poolDebug struct {
	loans   map[*byte]trace
	headers map[*Batch]trace
	faults  []string
}

// NewPool gives a pool that keeps at most DefaultPoolBytes of idle memory.
func NewPool() *Pool { return &Pool{} }

// NewDebugPool gives a pool in debug mode: loans are counted by the site that took them, memory is poisoned when
// it comes back and never lent twice, and Check names loans that are still out and memory that came back twice.
func NewDebugPool() *Pool {
	return &Pool{debug: &poolDebug{loans: map[*byte]trace{}, headers: map[*Batch]trace{}}}
}

// SetLimit bounds the idle memory that is kept, in bytes. Defaults to DefaultPoolBytes.
func (p *Pool) SetLimit(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = bytes
}

// Get lends n bytes whose content is undefined, aligned to 8. Its capacity is that of the size class.
func (p *Pool) Get(n int) []byte {
	if n == 0 {
		return nil
	}
	c := classOf(n)
	if p == nil {
		return alignedBytes(n)
	}
	if c > maxClassBits {
		return alignedBytes(n)[:n:n]
	}
	p.mu.Lock()
	p.lent += 1 << c
	var buf []byte
	if s := p.classes[c]; len(s) > 0 && p.debug == nil {
		buf = s[len(s)-1][:n]
		p.classes[c] = s[:len(s)-1]
		p.idleBytes -= 1 << c
	}
	p.mu.Unlock()
	if buf == nil {
		buf = alignedBytes(1 << c)[:n]
	}
	if p.debug != nil {
		p.mu.Lock()
		p.debug.loans[unsafe.SliceData(buf)] = here()
		p.mu.Unlock()
	}
	return buf
}

// Put takes back a loan. The caller must hold no other reference to it.
func (p *Pool) Put(buf []byte) {
	if p == nil || cap(buf) == 0 {
		return
	}
	c := bits.Len(uint(cap(buf))) - 1
	if cap(buf) != 1<<c || c < minClassBits || c > maxClassBits {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent -= 1 << c
	if p.debug != nil {
		full := buf[:cap(buf)]
		at := unsafe.SliceData(full)
		if _, ok := p.debug.loans[at]; !ok {
			p.debug.faults = append(p.debug.faults, "memory came back that was not lent (returned twice?) at "+here().String())
			return
		}
		delete(p.debug.loans, at)
		for i := range full {
			full[i] = poison
		}
		return
	}
	limit := p.limit
	if limit == 0 {
		limit = DefaultPoolBytes
	}
	if p.idleBytes+cap(buf) > limit {
		return
	}
	p.idleBytes += cap(buf)
	p.classes[c] = append(p.classes[c], buf[:0])
}

// Lent is the memory that is out, in bytes, as size classes. Loans beyond 64 MiB are not counted.
func (p *Pool) Lent() int {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lent
}

// Check reports, in debug mode, the loans that are still out and the faults seen; nil otherwise.
func (p *Pool) Check() error {
	if p == nil || p.debug == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := append([]string(nil), p.debug.faults...)
	bySite := map[string]int{}
	for _, s := range p.debug.loans {
		bySite["memory lent at "+s.String()]++
	}
	for _, s := range p.debug.headers {
		bySite["batch made at "+s.String()]++
	}
	var left []string
	for s, n := range bySite {
		left = append(left, fmt.Sprintf("%d× %s was not returned", n, s))
	}
	sort.Strings(left)
	lines = append(lines, left...)
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("column pool: %s", strings.Join(lines, "\n"))
}

// header gives an empty batch of one reference.
func (p *Pool) header() *Batch {
	var b *Batch
	if p != nil {
		p.mu.Lock()
		if n := len(p.headers); n > 0 && p.debug == nil {
			b = p.headers[n-1]
			p.headers = p.headers[:n-1]
		}
		p.mu.Unlock()
	}
	if b == nil {
		b = &Batch{}
	}
	b.pool = p
	b.refs.Store(1)
	if p != nil && p.debug != nil {
		p.mu.Lock()
		p.debug.headers[b] = here()
		p.mu.Unlock()
	}
	return b
}

func (p *Pool) putHeader(b *Batch) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.debug != nil {
		delete(p.debug.headers, b)
		return
	}
	if len(p.headers) < 1024 {
		p.headers = append(p.headers, b)
	}
}

func classOf(n int) int { return max(minClassBits, bits.Len(uint(n-1))) }

// alignedBytes allocates n bytes whose first is aligned to 8, as typed views need it.
func alignedBytes(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:n]
}

// trace is where a loan was taken; it is put in words only where it is told.
type trace [8]uintptr

func here() (t trace) {
	runtime.Callers(2, t[:])
	return t
}

// String names the caller outside this package that took the loan.
func (t trace) String() string {
	n := 0
	for n < len(t) && t[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(t[:n])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "/column.") || strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)
		}
		if !more {
			return f.Function
		}
	}
}
