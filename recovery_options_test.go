package arkflow_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
)

// C5, C6: all pairs of what can be said about recovery, with a bucket and without: a pair of which one would do nothing is refused, and the error names
// it; any other passes. "" below passes.
func TestC5StartOptionsThatWouldDoNothingAreRefused(t *testing.T) {
	const (
		twice      = "FromSavepoint() is given twice"
		both       = "StartFresh() begins without state, and FromSavepoint() with that of a savepoint; give one of them"
		noEpoch    = "FallBack() speaks of the epochs in the bucket, and FromSavepoint() begins with none of them; leave FallBack() out"
		fallFresh  = "FallBack() says how to go on, and StartFresh() begins without state; give one of them"
		scaleFresh = "Rescale() says how to go on, and StartFresh() begins without state; give one of them"
		dropFresh  = "AllowDropped() says how to go on, and StartFresh() begins without state; give one of them"

		noFall  = "FallBack() is given, and the job has no bucket: nothing is kept that it could speak of; give Runtime.Bucket, or leave FallBack() out"
		noFresh = "StartFresh() is given, and the job has no bucket: nothing is kept that it could speak of; give Runtime.Bucket, or leave StartFresh() out"
		noScale = "Rescale() is given, and the job has neither a bucket nor a savepoint to go on from; give Runtime.Bucket or FromSavepoint(url), or leave Rescale() out"
		noDrop  = "AllowDropped() is given, and the job has neither a bucket nor a savepoint to go on from; give Runtime.Bucket or FromSavepoint(url), or leave AllowDropped() out"
		noWait  = "Runtime.Checkpoints.OnClaimed: Standby without a bucket: no other execution is known to wait for; give Runtime.Bucket, or leave it at TakeOver"
	)
	names := []string{"FallBack", "StartFresh", "Rescale", "AllowDropped", "FromSavepoint", "AllowJob", "Standby", "Restart"}
	saved := "mem://" // where there is none
	options := map[string]arkflow.StartOption{
		"FallBack": arkflow.FallBack(), "StartFresh": arkflow.StartFresh(), "Rescale": arkflow.Rescale(), "AllowDropped": arkflow.AllowDropped("old"),
		"FromSavepoint": arkflow.FromSavepoint(saved), "AllowJob": arkflow.FromSavepoint(saved, nil, arkflow.AllowJob("old")), "Standby": nil, "Restart": arkflow.Restart(1, time.Second),
	}
	// of the pair of one and another, by their places in names: the upper half
	for kind, want := range map[string][][]string{
		"with a bucket": {
			{"", fallFresh, "", "", noEpoch, noEpoch, "", ""},
			{"", scaleFresh, dropFresh, both, both, "", ""},
			{"", "", "", "", "", ""},
			{"", "", "", "", ""},
			{twice, twice, "", ""},
			{twice, "", ""},
			{"", ""},
			{""},
		},
		"without": {
			{noFall, noFall + "|" + noFresh, noFall + "|" + noScale, noFall + "|" + noDrop, noEpoch, noEpoch, noWait, noFall},
			{noFresh, noFresh + "|" + noScale, noFresh + "|" + noDrop, both, both, noWait, noFresh},
			{noScale, noScale + "|" + noDrop, "", "", noWait, noScale},
			{noDrop, "", "", noWait, noDrop},
			{twice, twice, noWait, ""},
			{twice, noWait, ""},
			{noWait, noWait},
			{""},
		},
	} {
		for i, row := range want {
			require.Len(t, row, len(names)-i)
			for d, texts := range row {
				one, other := names[i], names[i+d]
				for _, pair := range [][2]string{{one, other}, {other, one}} {
					t.Run(fmt.Sprint(kind, " ", pair), func(t *testing.T) {
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						bucket := memblob.OpenBucket(nil)
						defer bucket.Close()
						rt := arkflow.Runtime{}
						if kind == "with a bucket" {
							rt.Bucket = bucket
						}
						if one == "Standby" || other == "Standby" {
							rt.Checkpoints.OnClaimed = arkflow.Standby
						}
						j := arkflow.NewJob("pair")
						j.Source("in", generate.Func(saleOf, generate.Count(1)), arkflow.EventTime("at")).Sink("out", drop.Sink{})
						h, err := rt.Start(ctx, j, options[pair[0]], options[pair[1]])
						isSaved := one == "FromSavepoint" || other == "FromSavepoint" || one == "AllowJob" || other == "AllowJob"
						switch {
						case texts == "" && isSaved:
							require.ErrorContains(t, err, "there is no savepoint")
						case texts == "":
							require.NoError(t, err)
							require.NoError(t, h.Wait(ctx))
						default:
							requireEach(t, err, texts)
							_, err := bucket.List(nil).Next(ctx)
							require.ErrorIs(t, err, io.EOF, "nothing was begun")
						}
					})
				}
			}
		}
	}
}

// requireEach wants all texts, between bars, in an error.
func requireEach(t *testing.T, err error, texts string) {
	require.Error(t, err)
	for text := range strings.SplitSeq(texts, "|") {
		require.ErrorContains(t, err, text)
	}
}

// An option that names nothing says nothing.
func TestC5OptionsThatNameNothingAreRefused(t *testing.T) {
	for want, o := range map[string]arkflow.StartOption{
		"start: AllowDropped() names no operator; give the IDs of those whose state may be left behind":  arkflow.AllowDropped(),
		`start: AllowDropped("a", "") names no operator`:                                                 arkflow.AllowDropped("a", ""),
		"savepoint: the URL is empty; give the one that Handle.Savepoint wrote to":                       arkflow.FromSavepoint(""),
		`savepoint: AllowJob("") names no job; give the name of the job that the savepoint was taken of`: arkflow.FromSavepoint("mem://", arkflow.AllowJob("")),
		`savepoint: AllowJob("a") and AllowJob("b"): a savepoint is of one job; give one of them`:        arkflow.FromSavepoint("mem://", arkflow.AllowJob("a"), arkflow.AllowJob("b")),
	} {
		j := arkflow.NewJob("nothing")
		j.Source("in", generate.Func(saleOf, generate.Count(1)), arkflow.EventTime("at")).Sink("out", drop.Sink{})
		_, err := arkflow.Runtime{}.Start(t.Context(), j, o)
		require.ErrorContains(t, err, want)
	}
}
