package preagg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestW10TheGateClosesWhereGatheringDoesNotPay(t *testing.T) {
	var g Gate
	require.True(t, g.Open(1000), "it begins open")
	g.Left(1000, 1000)
	require.True(t, g.Open(1000), "too few rows to judge")
	g.Left(8000, 8000)
	for range 256 {
		require.False(t, g.Open(1024))
	}
	require.True(t, g.Open(1), "another trial")
	g.Left(10_000, 2501)
	for range 1024 {
		require.False(t, g.Open(1024), "a rest that is four times as long")
	}
	require.True(t, g.Open(1))
	g.Left(10_000, 2500)
	require.True(t, g.Open(1<<40), "four rows an entry pay")
	g.Left(10_000, 10_000)
	require.False(t, g.Open(256<<10), "a good trial begins anew")
	require.True(t, g.Open(1))
}

func TestRestsAreBounded(t *testing.T) {
	var g Gate
	for range 40 {
		g.Left(sample, sample)
		require.LessOrEqual(t, g.rest, int64(longRest))
		g.rest = 0
	}
	require.EqualValues(t, longRest, g.next)
}
