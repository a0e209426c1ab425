package nexmark

import (
	"math"
	"math/bits"
)

// random is splitmix64.
type random uint64

// randomOf gives the random numbers of an event.
func randomOf(event int64) random { return random(mix(uint64(event) * 0xD1342543DE82EF95)) }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (r *random) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	return mix(uint64(*r))
}

// below gives a number in [0, n).
func (r *random) below(n int64) int64 {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int64(hi)
}

// priceBits is how many bits of the exponent each of the tables of prices covers.
const priceBits = 11

// prices gives prices in cents: 100 · 10^(6u) for u uniform in [0, 1), rounded.
type prices struct{ coarse, fine [1 << priceBits]float64 }

func newPrices() *prices {
	p := &prices{}
	for i := range p.coarse {
		u := float64(i) / (1 << priceBits)
		p.coarse[i] = 100 * math.Pow(10, 6*u)
		p.fine[i] = math.Pow(10, 6*u/(1<<priceBits))
	}
	return p
}

func (p *prices) of(x uint64) int64 {
	rest := float64(x<<(2*priceBits)>>11) / (1 << 53) / (1 << (2 * priceBits)) * 6 * math.Ln10 // less than 4e-6: 1 + rest is e^rest
	return int64(p.coarse[x>>(64-priceBits)]*p.fine[x<<priceBits>>(64-priceBits)]*(1+rest) + 0.5)
}
