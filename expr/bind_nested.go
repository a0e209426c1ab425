package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// nestedArg gives the argument of n that is a column of lists or structs, where n looks into its values; nil where there is none.
// Such a column stands alone, or is asked whether it is null.
func (bd *binder) nestedArg(n *tree.Node) *tree.Node {
	if n.Op == tree.OpIsNull || n.Op == tree.OpIsNotNull {
		return nil
	}
	for _, a := range n.Args {
		if a.Op != tree.OpColumn {
			continue
		}
		if at := bd.schema.FieldIndices(a.Name); len(at) > 0 && column.KindOf(bd.schema.Field(at[0]).Type).IsNested() {
			return a
		}
	}
	return nil
}

// refuseNested records the fault of an argument that nestedArg found.
func (bd *binder) refuseNested(n, arg *tree.Node) {
	typ := bd.schema.Field(bd.schema.FieldIndices(arg.Name)[0]).Type
	bd.faultf(n, "take it apart by a Go function (operator.Map)", "an expression does not look into column %q, which is a %s", arg.Name, typ)
}

// isScalar reports whether values of a type can be computed.
func isScalar(t arrow.DataType) bool {
	k := column.KindOf(t)
	return k != column.Invalid && !k.IsNested()
}
