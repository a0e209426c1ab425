package arrowipc

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocktest"
	"github.com/arkflow-go/arkflow/column"
)

func TestNestedColumnsComeBack(t *testing.T) {
	typ, err := codec.ParseType("struct[name:string?,list:list[struct[x:int64?]?]?,map:map[string,float64?]?]")
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: typ, Nullable: true}}, nil)
	pool := column.NewDebugPool()
	d, err := codec.JSON(schema).NewDecoder(pool)
	require.NoError(t, err)
	rows := []string{`{"id":1,"v":{"name":"a","list":[{"x":1},null,{"x":null}],"map":{"k":0.5,"l":null}}}`, `{"id":2,"v":null}`, `{"id":3,"v":{"name":null,"list":[],"map":{}}}`,
		`{"id":4,"v":{"name":"","list":null,"map":null}}`}
	for _, r := range rows {
		require.NoError(t, d.Append([]byte(r)))
	}
	b := d.Finish()
	file := blocktest.Write(t, New(schema), schema, b)
	r, err := blocktest.Open(New(nil), pool, file, 100, 1<<20)
	require.NoError(t, err)
	back, err := r.Next()
	require.NoError(t, err)
	e, err := codec.JSON(nil).NewEncoder(back.Schema)
	require.NoError(t, err)
	text, err := e.Encode(nil, back)
	require.NoError(t, err)
	want := ""
	for _, r := range rows {
		want += r + "\n"
	}
	require.Equal(t, want, string(text))
	back.Release()
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}
