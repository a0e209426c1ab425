package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec/internal/typetext"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// TypeName gives the word by which a JobSpec names a column type: "int64", "timestamp[ms,UTC]", "time32[s]",
// "duration[ns]", "decimal(10,2)", "dictionary[int32,string]", "list[int64]", "struct[a:int64,b:string?]", "map[string,float64?]". A
// question mark says that there may be nulls within. ParseType reads it back.
func TypeName(t arrow.DataType) string { return typetext.Name(t) }

// ParseType reads what TypeName gives. An unknown word is a fault that names the nearest ones.
func ParseType(name string) (arrow.DataType, error) { return typetext.Parse(name) }

// checkSchema reports what no decoder or encoder can work with: unsupported types and doubled names.
func checkSchema(s *arrow.Schema) error {
	var faults fault.List
	seen := map[string]bool{}
	for _, f := range s.Fields() {
		if err := column.CheckType(f.Type); err != nil {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: err.Error()})
		}
		if seen[f.Name] {
			faults.Add(&fault.Fault{Path: "schema." + f.Name, Problem: "two columns have this name"})
		}
		seen[f.Name] = true
	}
	return faults.Err()
}
