package expr

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/scalar"
	"github.com/arkflow-go/arkflow/internal/tree"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docRows gives the rows of the table of docs/expressions.md: expression, result, type.
func docRows(t *testing.T) (rows [][]string) {
	text, err := os.ReadFile("../docs/expressions.md")
	require.NoError(t, err)
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		require.Len(t, cells, 5, line)
		for i, c := range cells {
			cells[i] = strings.Trim(strings.ReplaceAll(c, "\x00", "|"), " `")
		}
		rows = append(rows, cells[1:4])
	}
	return rows
}

// oneValue evaluates an expression for a row of a batch and shows its value, or what is wrong, and its type as the table does.
func oneValue(t *testing.T, e Expr, b *column.Batch, row int) (value, typ string) {
	p, err := e.Bind(b.Schema)
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "expression ")
		if _, after, ok := strings.Cut(text, ": "); ok {
			text = after
		}
		return "fault: " + text, ""
	}
	var errs Errors
	out := b.Derive()
	defer out.Release()
	var c column.Column
	require.NoError(t, p.New().Eval(out, &c, b, &errs))
	for i, r := range errs.Rows() {
		if int(r) == row {
			return "error: " + errs.At(i).(*RowError).Problem, ""
		}
	}
	return shown(&c, row, p.Type()), p.Type().String()
}

func shown(c *column.Column, row int, t arrow.DataType) string {
	switch {
	case c.IsNull(row):
		return "null"
	case c.Kind == column.Bytes:
		return tree.Literal{Type: t, Value: c.String(row)}.Short()
	case c.Kind == column.Bool:
		return tree.Literal{Type: t, Value: c.Bool(row)}.Short()
	}
	var w calcWords
	width := c.Kind.Width()
	copy(column.BytesOf(w[:]), c.Data[row*width:(row+1)*width])
	return tree.LiteralFrom(t, w).Short()
}

type calcWords = [2]uint64

// TestEachRowOfTheDocumentedTable runs the table of docs/expressions.md: with its constants, and functions also with columns in
// place of those operands that may come with the rows.
func TestEachRowOfTheDocumentedTable(t *testing.T) {
	pool := column.NewDebugPool()
	rows := docRows(t)
	require.Greater(t, len(rows), 100)
	shownBy := map[string]bool{}
	for _, row := range rows {
		b := column.NewBuilder(pool, arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil))
		b.Int64(0, 1)
		b.EndRow()
		batch := b.Finish()
		e := T(row[0])
		require.Empty(t, e.n.Faults(), row[0])
		got, typ := oneValue(t, e, batch, 0)
		assert.Equal(t, row[1:], []string{got, typ}, row[0])
		batch.Release()
		noteFunctions(e.n, shownBy)
		if typ != "" || strings.HasPrefix(got, "error") {
			checkWithColumns(t, pool, e, got)
		}
	}
	for _, name := range append(scalar.Names(), lazyFunctions...) {
		assert.True(t, shownBy[name], "docs/expressions.md has no example of %s", name)
	}
	require.NoError(t, pool.Check())
}

func noteFunctions(n *tree.Node, seen map[string]bool) {
	if n.Op == tree.OpCall {
		seen[n.Name] = true
	}
	for _, a := range n.Args {
		noteFunctions(a, seen)
	}
}

// checkWithColumns evaluates a function with its constants as columns: three rows, of which the middle one is null.
func checkWithColumns(t *testing.T, pool *column.Pool, e Expr, want string) {
	if e.n.Op != tree.OpCall && e.n.Op != tree.OpCast && e.n.Op != tree.OpTryCast {
		return
	}
	n := *e.n
	n.Args = append([]*tree.Node{}, n.Args...)
	var fields []arrow.Field
	var values []tree.Literal
	f, _ := scalar.Find(n.Name)
	for i, a := range n.Args {
		if a.Op != tree.OpLiteral || a.Lit.IsNull() || f != nil && f.Params[min(i, len(f.Params)-1)].Const {
			continue
		}
		name := string(rune('a' + i))
		fields = append(fields, arrow.Field{Name: name, Type: a.Lit.Type, Nullable: true})
		values = append(values, a.Lit)
		n.Args[i] = Col(name).n
	}
	if len(fields) == 0 {
		return
	}
	b := column.NewBuilder(pool, arrow.NewSchema(fields, nil))
	for row := range 3 {
		for i, v := range values {
			if row != 1 {
				appendLiteral(b.Col(i), v)
			}
		}
		b.EndRow()
	}
	batch := b.Finish()
	for _, row := range []int{0, 2} {
		got, _ := oneValue(t, Expr{&n}, batch, row)
		assert.Equal(t, want, got, "%s with columns", e)
	}
	if n.Name != "hash" && n.Name != "coalesce" {
		got, _ := oneValue(t, Expr{&n}, batch, 1)
		assert.Equal(t, "null", got, "%s of nulls", e)
	}
	batch.Release()
}

func appendLiteral(c *column.Appender, l tree.Literal) {
	w := l.Words()
	switch v := l.Value.(type) {
	case bool:
		c.Bool(v)
	case string:
		c.String(v)
	case float64:
		c.Float64(v)
	default:
		if c.Kind() == column.Decimal {
			c.Decimal(w[0], int64(w[1]))
			return
		}
		c.Int64(int64(w[0]))
	}
}
