package step

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func ExampleDo() {
	fmt.Println(Step{Where: "bucket", Op: "sync piece"}, "·", Step{Where: "bucket", Op: "sync piece", After: true})
	// Output: bucket: before sync piece · bucket: after sync piece
}

func TestStepsAreToldAndRefused(t *testing.T) {
	boom, own := errors.New("boom"), errors.New("own")
	did := 0
	do := func() error { did++; return own }
	require.ErrorIs(t, Do(t.Context(), "bucket", "sync piece", do), own)
	require.Equal(t, 1, did)
	var seen []string
	refuse := ""
	ctx := With(t.Context(), func(s Step) error {
		seen = append(seen, s.String())
		if s.String() == refuse {
			return boom
		}
		return nil
	})
	require.ErrorIs(t, Do(ctx, "bucket", "sync piece", do), own)
	require.Equal(t, []string{"bucket: before sync piece", "bucket: after sync piece"}, seen)
	require.Equal(t, 2, did)
	refuse = "bucket: before sync piece"
	require.ErrorIs(t, Do(ctx, "bucket", "sync piece", do), boom)
	require.Equal(t, 2, did, "it was refused")
	refuse = "bucket: after sync piece"
	require.ErrorIs(t, Do(ctx, "bucket", "sync piece", do), boom)
	require.Equal(t, 3, did, "it was done, and its reply lost")
}
