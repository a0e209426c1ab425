package fields_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

func TestFieldsGiveWhatAValueMeansOrAFault(t *testing.T) {
	for _, c := range []struct {
		read func(*fault.List, any) any
		in   any
		want any
		bad  string
	}{
		{text, "a", "a", ""}, {text, nil, "", ""}, {text, 5, "", "p: want a name, not 5"},
		{columns, []any{"a", "b"}, []string{"a", "b"}, ""}, {columns, nil, []string(nil), ""}, {columns, "a", []string(nil), "p: want a list of column names, not a"},
		{columns, []any{"a", 2}, []string{"a"}, "p[1]: want a column name, not 2"},
		{millis, int64(1500), 1500 * time.Millisecond, ""}, {millis, "1.5ms", 1500 * time.Microsecond, ""}, {millis, nil, time.Duration(0), ""}, {millis, 7, 7 * time.Millisecond, ""},
		{millis, "soon", time.Duration(0), `p: want milliseconds, not soon; write a whole number, or a duration such as "500ms"`},
		{millis, 1.5, time.Duration(0), "p: want milliseconds, not 1.5"}, {millis, int64(math.MaxInt64), time.Duration(0), "p: want milliseconds"},
		{whole, 5, 5, ""}, {whole, int64(-5), -5, ""}, {whole, uint64(5), 5, ""}, {whole, 5.0, 5, ""}, {whole, nil, 0, ""},
		{whole, 5.5, 0, "p: want a whole number, not 5.5"}, {whole, uint64(math.MaxUint64), 0, "want a whole number"}, {whole, "5", 0, "want a whole number, not 5"},
		{truth, true, true, ""}, {truth, nil, false, ""}, {truth, "yes", false, "p: want true or false, not yes"},
	} {
		var faults fault.List
		require.Equal(t, c.want, c.read(&faults, c.in), "%v", c.in)
		if c.bad == "" {
			require.NoError(t, faults.Err(), "%v", c.in)
		} else {
			require.ErrorContains(t, faults.Err(), c.bad)
		}
	}
}

func text(f *fault.List, v any) any    { return fields.Text(f, v, "p") }
func columns(f *fault.List, v any) any { return fields.Columns(f, v, "p") }
func millis(f *fault.List, v any) any  { return fields.Millis(f, v, "p") }
func whole(f *fault.List, v any) any   { return fields.Whole(f, v, "p") }
func truth(f *fault.List, v any) any   { return fields.Bool(f, v, "p") }

func TestFieldsThatAreUnknownOrMissing(t *testing.T) {
	var faults fault.List
	fields.Exactly(&faults, map[string]any{"colum": 1, "b": 2}, "config", "column", "b", "c")
	require.EqualError(t, faults.Err(), "3 errors occurred:\n\t* config.colum: unknown field \"colum\"; did you mean \"column\"?\n\t* config.column: is missing\n\t* config.c: is missing")
}

func TestInversesReadBackEqual(t *testing.T) {
	var faults fault.List
	for _, d := range []time.Duration{0, time.Millisecond, time.Hour, 1500 * time.Microsecond, 1} {
		require.Equal(t, d, fields.Millis(&faults, fields.OfMillis(d), "p"), fmt.Sprint(d))
	}
	require.Equal(t, []string{"a", "b"}, fields.Columns(&faults, fields.List([]string{"a", "b"}), "p"))
	require.NoError(t, faults.Err())
}
