package expr

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

func textBatch(p *column.Pool, texts ...string) *column.Batch {
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := column.NewBuilder(p, s)
	for i, x := range texts {
		if x != "null" {
			b.String(0, x)
		}
		b.Int64(1, int64(i))
		b.EndRow()
	}
	return b.Finish()
}

func TestFunctionsOfText(t *testing.T) {
	pool := column.NewDebugPool()
	b := textBatch(pool, "Aé,b,,Z", "null", "", "\xffX\xc3", "long Text of Sixteen+")
	for _, c := range []struct{ text, want string }{
		{"lower(s)", "utf8: aé,b,,z | null |  | \xffx\xc3 | long text of sixteen+"},
		{"upper(s)", "utf8: AÉ,B,,Z | null |  | \xffX\xc3 | LONG TEXT OF SIXTEEN+"},
		{"length(s)", "int64: 7 | null | 0 | 3 | 21"},
		{"substr(s, 2, 3)", "utf8: é,b | null |  | X\xc3 | ong"},
		{"upper(substr(lower(s), 0, 3))", "utf8: AÉ | null |  | \xffX | LO"},
		{"substr(trim(substr(lower(s), n)), 1)", "utf8: aé,b,,z | null |  | \xc3 | g text of sixteen+"},
		{"split_part(s, ',', 2)", "utf8: b | null | null | null | null"},
		{"split_part(s, ',', -1)", "utf8: Z | null |  | \xffX\xc3 | long Text of Sixteen+"},
		{"s like '%X%' or s like 'A_,b%'", "bool: true | null | false | true | false"},
		{"concat(s, '-', s)", "utf8: Aé,b,,Z-Aé,b,,Z | null | - | \xffX\xc3-\xffX\xc3 | long Text of Sixteen+-long Text of Sixteen+"},
		{"replace(s, ',', '')", "utf8: AébZ | null |  | \xffX\xc3 | long Text of Sixteen+"},
		{"concat('a', upper('b')) = 'aB'", "bool: true | true | true | true | true"},
	} {
		require.Equal(t, c.want, describe(t, T(c.text), b), c.text)
	}
	b.Release()
	require.NoError(t, pool.Check())
}
