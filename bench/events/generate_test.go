package events_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/arkflow-go/arkflow/bench/events"
)

func TestMixIsSplitmix64(t *testing.T) {
	// The first outputs of the published generator for the seed 0 are Mix of 0, γ, 2γ.
	const gamma = 0x9E3779B97F4A7C15
	state := uint64(0)
	for _, want := range []uint64{0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F} {
		assert.Equal(t, want, events.Mix(state))
		state += gamma
	}
}

func TestEventsAreAFunctionOfTheirNumber(t *testing.T) {
	for _, keys := range []int64{2, 7, 1000, 1_000_000} {
		g := events.NewGenerator(keys).WithText()
		whole, part := events.NewBatch(events.Rows), events.NewBatch(events.Rows)
		g.Fill(whole, 0, events.Rows)
		for i := range whole.Key {
			m := events.Mix(uint64(i))
			assert.Equal(t, int64(m>>33)%keys, whole.Key[i])
			assert.Equal(t, int64(m&0xFFFF), whole.Price[i])
			assert.Equal(t, int64(i/100), whole.Time[i])
		}
		g.Fill(part, 4321, 777)
		assert.Equal(t, whole.Key[4321:4321+777], part.Key)
		assert.Equal(t, whole.Price[4321:4321+777], part.Price)
		assert.Equal(t, whole.Time[4321:4321+777], part.Time)
		assert.Equal(t, whole.Text[4321*events.TextBytes:(4321+777)*events.TextBytes], part.Text)
		assert.Equal(t, part.Key[5], events.ParseText(part.Text[5*events.TextBytes:]))
	}
}

func TestEachTenthEventIsBehind(t *testing.T) {
	g := events.NewGenerator(10)
	g.Behind = 50
	b := events.NewBatch(100)
	g.Fill(b, 12345, 100)
	for i, got := range b.Time {
		want := int64(12345+i) / 100
		if (12345+i)%10 == 9 {
			want -= 50
		}
		assert.Equal(t, want, got)
	}
}

func TestHalfOfTheEventsShareAKey(t *testing.T) {
	g := events.NewGenerator(1_000_000)
	hot, even := events.NewBatch(events.Rows), events.NewBatch(events.Rows)
	g.Fill(even, 0, events.Rows)
	g.Hot = true
	g.Fill(hot, 0, events.Rows)
	zeros := 0
	for i, k := range hot.Key {
		if k == 0 {
			zeros++
			continue
		}
		assert.Equal(t, even.Key[i], k)
	}
	assert.InDelta(t, events.Rows/2, zeros, events.Rows/20)
	assert.Equal(t, even.Price, hot.Price)
}

func TestTextOfAKey(t *testing.T) {
	assert.Equal(t, "key-000000000", string(events.AppendText(nil, 0)))
	assert.Equal(t, "xkey-000012340", string(events.AppendText([]byte("x"), 12340)))
	assert.Len(t, events.AppendText(nil, 999_999_999), events.TextBytes)
	assert.EqualValues(t, 999_999_999, events.ParseText([]byte("key-999999999...")))
}

func TestDistinctKeys(t *testing.T) {
	assert.EqualValues(t, 7, events.NewGenerator(7).DistinctKeys(0, 1000))
	assert.EqualValues(t, 1, events.NewGenerator(1_000_000).DistinctKeys(5, 1))
	n := events.NewGenerator(1_000_000).DistinctKeys(0, 1_000_000)
	assert.InDelta(t, 632_000, n, 2_000, "1 - 1/e of the keys")
}
