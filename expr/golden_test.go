package expr

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite golden files")

// pairRow is one row of a column "l" and a column "r", both nullable. It has the samples 7 and 3 of each type.
func pairBatch(p *column.Pool, l, r arrow.DataType) *column.Batch {
	s := arrow.NewSchema([]arrow.Field{{Name: "l", Type: l, Nullable: true}, {Name: "r", Type: r, Nullable: true}}, nil)
	b := column.NewBuilder(p, s)
	for row := range 4 {
		if row != 2 && row != 3 {
			appendSample(b.Col(0), 7)
		}
		if row != 1 && row != 3 {
			appendSample(b.Col(1), 3)
		}
		b.EndRow()
	}
	return b.Finish()
}

func appendSample(c *column.Appender, v int64) {
	switch c.Kind() {
	case column.Bool:
		c.Bool(v > 5)
	case column.Bytes:
		c.String(fmt.Sprint("v", v))
	case column.Decimal:
		c.Decimal(uint64(v*100), 0)
	case column.Float32, column.Float64:
		c.Float64(float64(v) + 0.5)
	default:
		c.Int64(v)
	}
}

// describe evaluates an expression over a batch: its type and values, or the fault.
func describe(t *testing.T, e Expr, b *column.Batch) string {
	p, err := e.Bind(b.Schema)
	if err != nil {
		return "fault: " + strings.TrimPrefix(err.Error(), "expression "+e.String()+": ")
	}
	var errs Errors
	out := b.Derive()
	defer out.Release()
	var c column.Column
	require.NoError(t, p.New().Eval(out, &c, b, &errs))
	var values []string
	for i := range b.Rows {
		values = append(values, valueAt(&c, i))
	}
	if errs.Len() > 0 {
		values = append(values, "error: "+errs.First().(*RowError).Problem)
	}
	return fmt.Sprintf("%s: %s", p.Type(), strings.Join(values, " | "))
}

func valueAt(c *column.Column, i int) string {
	v := modelValue(c, i)
	if v == nil {
		return "null"
	}
	if c.Kind != column.Bool && c.Kind != column.Bytes {
		var w int128
		width := c.Kind.Width()
		copy(column.BytesOf(w[:]), c.Data[i*width:(i+1)*width])
		return valueText(w, c.Type)
	}
	return fmt.Sprint(v)
}

// TestEveryOperatorOverEveryType compares the type and the values of each operator, with and without nulls, with
// testdata/operators.golden, which is read by people; -update rewrites it.
func TestEveryOperatorOverEveryType(t *testing.T) {
	pool := column.NewDebugPool()
	s := wideSchema()
	typ := func(name string) arrow.DataType { return s.Field(s.FieldIndices(name)[0]).Type }
	pairs := []string{"i8 i64", "i64 u64", "u64 i64", "u8 u8", "u64 u8", "u64 i8", "i64 f64", "f32 f64", "f32 i8", "u64 f32", "d2 i64", "i8 d2", "d2 d5", "d2 f64",
		"ts tms", "tms durn", "durn tms", "durs tms", "day tms", "day dms", "tus tns", "tms durs", "durs durn", "durm i64", "i8 durm", "s bin", "dict s", "sv ls", "tod todn",
		"s i64", "b i64", "tms i64", "tms s", "tod durs", "day durs"}
	for _, f := range s.Fields() {
		if !f.Nullable {
			pairs = append(pairs, f.Name+" "+f.Name)
		}
	}
	var out strings.Builder
	l, r := Col("l"), Col("r")
	for _, pair := range pairs {
		names := strings.Fields(pair)
		b := pairBatch(pool, typ(names[0]), typ(names[1]))
		fmt.Fprintf(&out, "# l: %s, r: %s, rows: %s\n", typ(names[0]), typ(names[1]), "l r | l null | null r | null null")
		for _, e := range []Expr{l.Add(r), l.Sub(r), l.Mul(r), l.Div(r), l.Mod(r), l.Eq(r), l.Ne(r), l.Lt(r), l.Le(r), l.Gt(r), l.Ge(r), l.In(r, nil)} {
			fmt.Fprintf(&out, "%-16s %s\n", e, describe(t, e, b))
		}
		b.Release()
	}
	for _, f := range s.Fields() {
		if f.Nullable {
			continue
		}
		b := pairBatch(pool, f.Type, arrow.FixedWidthTypes.Boolean)
		fmt.Fprintf(&out, "# l: %s\n", f.Type)
		for _, e := range []Expr{l, l.Neg(), l.Not(), l.IsNull(), l.IsNotNull(), l.Eq(nil), l.And(r), l.Or(r)} {
			fmt.Fprintf(&out, "%-16s %s\n", e, describe(t, e, b))
		}
		b.Release()
	}
	require.NoError(t, pool.Check())
	const path = "testdata/operators.golden"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(out.String(), "\n"))
}

// TestNullLogicIsThatOfSQL goes over all pairs of true, false and null.
func TestNullLogicIsThatOfSQL(t *testing.T) {
	pool := column.NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}, {Name: "r", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil)
	build := column.NewBuilder(pool, s)
	for i := range 9 {
		for c, v := range []int{i / 3, i % 3} {
			if v < 2 {
				build.Bool(c, v == 0)
			}
		}
		build.EndRow()
	}
	b := build.Finish()
	l, r := Col("l"), Col("r")
	for e, want := range map[string]string{
		"and": "true false null false false false null false null",
		"or":  "true true true true false null true null null",
		"not": "false false false true true true null null null",
		"eq":  "true false null false true null null null null",
	} {
		x := map[string]Expr{"and": l.And(r), "or": l.Or(r), "not": l.Not(), "eq": l.Eq(r)}[e]
		require.Equal(t, "bool: "+strings.ReplaceAll(want, " ", " | "), describe(t, x, b), e)
	}
	b.Release()
	require.NoError(t, pool.Check())
}
