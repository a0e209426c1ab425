package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

var keyed = operator.Stream{Schema: orders, Time: operator.EventTime, Key: []string{"ID"}}

func TestRenameChangesNamesAndNothingElse(t *testing.T) {
	pool := column.NewDebugPool()
	inst, out := start(t, operator.Rename(map[string]string{"ID": "Amount", "Amount": "ID"}), newContext(pool, operator.Fail()), keyed)
	require.Equal(t, "Amount int64, Tier? utf8, ID float64", describe(out.Schema))
	require.Equal(t, []string{"Amount"}, out.Key)
	b := batch(pool, someOrders...)
	b.Sel = []uint32{0, 3, 4}
	var g gather
	require.NoError(t, inst.Process(0, b, &g))
	got := g.batches[0]
	require.Same(t, out.Schema, got.Schema)
	require.Equal(t, wantHidden(true, 0, 3, 4), hiddenOf(got))
	require.Equal(t, 2.5, column.Values[float64](got.Column("ID"))[got.Row(1)])
	require.Equal(t, "Amount", keyed.Schema.Field(2).Name, "the input's schema is as it was")
	g.release()
	b.Release()
	noLeak(t, pool)
}

func TestRenameBindTellsAllFaults(t *testing.T) {
	_, err := operator.Rename(map[string]string{"Tire": "x", "ID": "Amount", "Tier": ""}).Bind([]operator.Stream{keyed})
	for _, want := range []string{`columns.Tire: no column "Tire"; did you mean "Tier"?`, `columns.Tier: the new name is empty`,
		`columns "ID" and "Amount" would both be named "Amount"`} {
		require.ErrorContains(t, err, want)
	}
	_, err = operator.Rename(nil).Bind([]operator.Stream{keyed})
	require.ErrorContains(t, err, "no column is renamed")
	_, err = operator.Rename(nil).Bind(nil)
	require.EqualError(t, err, "a rename reads one input, it has 0")
}

func TestRenameInSpecs(t *testing.T) {
	op := operator.Rename(map[string]string{"b": "c", "a": "x"})
	require.Equal(t, "rename", op.Kind())
	require.Equal(t, "a to x, b to c", op.(operator.Described).Describe())
	requireRoundTrip(t, op, operator.RenameFromConfig, map[string]any{"columns": map[string]any{"a": "x", "b": "c"}})
	for config, want := range map[string]any{
		"config.columns: is missing":                                  map[string]any{},
		"config.columns: want a mapping of old to new names, not [a]": map[string]any{"columns": []any{"a"}},
		"config.columns.a: want a column name, not 1":                 map[string]any{"columns": map[string]any{"a": 1}},
		`config.x: unknown field "x"`:                                 map[string]any{"columns": map[string]any{"a": "b"}, "x": 1},
	} {
		_, err := operator.RenameFromConfig(want.(map[string]any))
		require.ErrorContains(t, err, config)
	}
}

// requireRoundTrip requires that an operator is written as config and is read back.
func requireRoundTrip(t *testing.T, op operator.Operator, read func(map[string]any) (operator.Operator, error), config map[string]any) {
	t.Helper()
	type configured interface {
		Config() (map[string]any, error)
	}
	got, err := op.(configured).Config()
	require.NoError(t, err)
	require.Equal(t, config, got)
	again, err := read(got)
	require.NoError(t, err)
	got, err = again.(configured).Config()
	require.NoError(t, err)
	require.Equal(t, config, got)
	require.Equal(t, op.(operator.Described).Describe(), again.(operator.Described).Describe())
}

func TestDropLeavesColumnsOutAndKeepsHashesWithTheKey(t *testing.T) {
	pool := column.NewDebugPool()
	for _, c := range []struct {
		drop   []string
		schema string
		key    []string
	}{
		{[]string{"Tier"}, "ID int64, Amount float64", []string{"ID"}},
		{[]string{"Amount", "ID"}, "Tier? utf8", nil},
	} {
		inst, out := start(t, operator.Drop(c.drop...), newContext(pool, operator.Fail()), keyed)
		require.Equal(t, c.schema, describe(out.Schema))
		require.Equal(t, c.key, out.Key)
		b := batch(pool, someOrders...)
		b.Sel = []uint32{1, 2}
		var g gather
		require.NoError(t, inst.Process(0, b, &g))
		got := g.batches[0]
		require.Len(t, got.Cols, out.Schema.NumFields())
		require.Equal(t, wantHidden(c.key != nil, 1, 2), hiddenOf(got))
		require.Len(t, b.Cols, 3)
		g.release()
		b.Release()
	}
	noLeak(t, pool)
}

func TestDropBindTellsAllFaults(t *testing.T) {
	for want, columns := range map[string][]string{
		`columns[0]: no column "Tire"; did you mean "Tier"?`: {"Tire"},
		`columns[1]: column "ID" is named twice`:             {"ID", "ID"},
		"every column is dropped":                            {"ID", "Tier", "Amount"},
		"no column is dropped":                               nil,
	} {
		_, err := operator.Drop(columns...).Bind([]operator.Stream{keyed})
		require.ErrorContains(t, err, want)
	}
	_, err := operator.Drop("ID").Bind(nil)
	require.EqualError(t, err, "a drop reads one input, it has 0")
}

func TestDropInSpecs(t *testing.T) {
	op := operator.Drop("a", "b")
	require.Equal(t, "drop", op.Kind())
	requireRoundTrip(t, op, operator.DropFromConfig, map[string]any{"columns": []any{"a", "b"}})
	for want, config := range map[string]map[string]any{
		"config.columns: is missing":                          {},
		"config.columns: want a list of column names, not a":  {"columns": "a"},
		"config.columns[1]: want a column name, not 2":        {"columns": []any{"a", 2}},
		`config.column: unknown field "column"; did you mean`: {"column": []any{"a"}},
	} {
		_, err := operator.DropFromConfig(config)
		require.ErrorContains(t, err, want)
	}
}
