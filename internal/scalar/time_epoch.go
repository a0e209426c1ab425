package scalar

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// bindFromEpoch is from_epoch: a count of s, ms, us or ns since 1970 as a timestamp of that unit, in UTC.
func bindFromEpoch(c *Call) error {
	unit, err := named(c, 1, epochUnits)
	if err != nil {
		return err
	}
	return c.gives(&arrow.TimestampType{Unit: unit, TimeZone: "UTC"}, func(out *Out, args []Vec) { copy(out.Data, args[0].Data) })
}

// bindToEpoch is to_epoch: the s, ms, us or ns from 1970 to an instant, rounded down.
func bindToEpoch(c *Call) error {
	unit, err := named(c, 1, epochUnits)
	if err != nil {
		return err
	}
	t := c.Args[0].Type
	own, to := tree.UnitOf(t), tree.NanosPer(unit)
	x := &cast{from: t, to: arrow.PrimitiveTypes.Int64, fromKind: column.KindOf(t), toKind: column.Int64}
	x.low, x.high = rangeOf(column.Int64)
	c.Fails = to < own
	return c.gives(arrow.PrimitiveTypes.Int64, func(out *Out, args []Vec) {
		var buf [calc.BlockRows]int64
		for i, v := range wide(&args[0], x.fromKind, &buf) {
			sec, nanos := splitUnit(v, own)
			if !x.storeTime(out, i, sec, nanos, to) {
				if x.clear(out, i); !out.Skip(i) {
					x.miss(out, i, tree.LiteralFrom(t, calc.Int128{uint64(v)}).Short()+" in "+unit.String())
				}
			}
		}
	})
}
