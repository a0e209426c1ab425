package parquet

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

func TestNestedColumnsAreRefusedOrLeftOut(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}}, nil)
	for _, err := range []error{New(s).Check(), New(nil).CheckRows(s)} {
		require.ErrorContains(t, err, "schema.l: Parquet is read and written without nested columns, this is list[int64?]; take the column apart, or use Arrow IPC or JSON")
	}
	require.Equal(t, 1, flat(s).NumFields())
}
