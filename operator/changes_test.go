package operator

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corrected is the stream of a window's results that may be corrected.
func corrected() Stream {
	return Stream{Schema: arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String}, {Name: "window_start", Type: arrow.PrimitiveTypes.Int64},
		{Name: "total", Type: arrow.PrimitiveTypes.Int64}}, nil), Changes: Upsert, ChangeKey: []string{"k", "window_start"}}
}

type correctedRow struct {
	K     string `arkflow:"k"`
	Start int64  `arkflow:"window_start"`
	Total int64  `arkflow:"total"`
}

type withoutStart struct {
	K string `arkflow:"k"`
}

func TestW11OperatorsThatKeepTheKeyKeepTheChangeMode(t *testing.T) {
	for name, c := range map[string]struct {
		op   Operator
		want []string
	}{
		"select":        {Select("total", expr.Col("window_start").As("s"), "k"), []string{"k", "s"}},
		"rename":        {Rename(map[string]string{"k": "key"}), []string{"key", "window_start"}},
		"drop":          {Drop("total"), []string{"k", "window_start"}},
		"map":           {Map(func(r correctedRow) correctedRow { return r }), []string{"k", "window_start"}},
		"filter by key": {Filter(expr.Col("k").Ne("x").And(expr.Col("window_start").Gt(0))), []string{"k", "window_start"}},
	} {
		b, err := c.op.Bind([]Stream{corrected()})
		require.NoError(t, err, name)
		assert.Equal(t, Upsert, b.Outputs()[Main].Changes, name)
		assert.Equal(t, c.want, b.Outputs()[Main].ChangeKey, name)
	}
}

func TestW11OperatorsThatWouldCountCorrectionsTwiceRefuseThem(t *testing.T) {
	for want, op := range map[string]Operator{
		`a filter by "total" would leave the earlier row`:        Filter(expr.Col("total").Gt(1)),
		`the select does not keep column "window_start"`:         Select("k", "total"),
		`the select does not keep column "k"`:                    Select(expr.Col("k").Eq("a").As("k"), "window_start"),
		`the drop does not keep column "k"`:                      Drop("k"),
		`the map does not keep column "window_start"`:            Map(func(r correctedRow) withoutStart { return withoutStart{r.K} }),
		`a flat_map would take each for a row of its own; leave`: FlatMap(func(r correctedRow, emit func(correctedRow)) { emit(r) }),
	} {
		_, err := op.Bind([]Stream{corrected()})
		require.ErrorContains(t, err, want)
		s := corrected()
		s.Changes = Append
		_, err = op.Bind([]Stream{s})
		require.NoError(t, err)
	}
	_, err := Union().Bind([]Stream{corrected(), corrected()})
	require.ErrorContains(t, err, "a union would take each for a row of its own")
	assert.Equal(t, "upsert append", Upsert.String()+" "+Append.String())
}
