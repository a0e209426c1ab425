package segment

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// State is mostly counts, sums and keys in 64 bits that have far fewer. A unit stores a column of them by the narrowest integers that hold
// all its values: that is less to pack, and a reader makes them wide again in a pass that costs little.

var (
	signed   = []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}
	unsigned = []arrow.DataType{arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64}
)

// ladder gives the integers by which values of a type may be stored, the narrowest first, nil of a type that is stored as it is.
func ladder(t arrow.DataType) []arrow.DataType {
	switch t.ID() {
	case arrow.INT64:
		return signed
	case arrow.UINT64:
		return unsigned
	}
	return nil
}

// mayStand reports whether values of a type may be stored by another.
func mayStand(stored, t arrow.DataType) bool {
	for _, s := range ladder(t) {
		if s.ID() == stored.ID() {
			return true
		}
	}
	return false
}

// step gives the place in the ladder of the narrowest integers that hold all values of a column, those of nulls included.
func step(c *column.Column) int {
	all := uint64(0)
	need := 0
	if c.Type.ID() == arrow.INT64 {
		for _, v := range column.Values[int64](c) {
			all |= uint64(v ^ v>>63)
		}
		need = 1 // the sign
	} else {
		for _, v := range column.View[uint64](c.Data) {
			all |= v
		}
	}
	need += bits.Len64(all)
	switch {
	case need <= 8:
		return 0
	case need <= 16:
		return 1
	case need <= 32:
		return 2
	}
	return 3
}

// narrow gives the rows of a unit by narrow columns, in the schema that stored gives for the steps; what is not narrow is shared.
func (w *Writer) narrow(b *column.Batch) (*column.Batch, error) {
	w.steps = w.steps[:0]
	some := false
	for i := range b.Cols {
		s := int8(-1)
		if i > 0 && ladder(b.Schema.Field(i).Type) != nil && b.Rows > 0 {
			s = int8(step(&b.Cols[i]))
			some = some || s < 3
		}
		w.steps = append(w.steps, s)
	}
	if !some {
		return b, nil
	}
	schema, err := w.narrowSchema()
	if err != nil {
		return nil, err
	}
	out := column.NewBatch(w.pool, schema, b.Rows)
	for i := range b.Cols {
		c := &out.Cols[i]
		*c = b.Cols[i]
		if s := w.steps[i]; s >= 0 && s < 3 {
			c.Type = schema.Field(i).Type
			c.Kind = column.KindOf(c.Type)
			c.Data = cutWords(out, column.View[uint64](b.Cols[i].Data), 1<<s)
		}
	}
	out.OnRelease(b.Release)
	return out, nil
}

// narrowSchema is the schema of the stream at the present steps. The last one is kept.
func (w *Writer) narrowSchema() (*arrow.Schema, error) {
	if w.narrowed != nil && string(w.narrowedAt) == string(bytesOf(w.steps)) {
		return w.narrowed, nil
	}
	s, err := keepSchema(w.schema, w.rows.Schema())
	if err != nil {
		return nil, err
	}
	fields := s.Fields()
	for i, step := range w.steps {
		if step >= 0 {
			fields[i].Type = ladder(fields[i].Type)[step]
		}
	}
	meta := s.Metadata()
	w.narrowed, w.narrowedAt = arrow.NewSchema(fields, &meta), bytesOf(w.steps)
	return w.narrowed, nil
}

func bytesOf(steps []int8) []byte {
	out := make([]byte, len(steps))
	for i, s := range steps {
		out[i] = byte(s)
	}
	return out
}

// cutWords gives the low bytes of words, in memory of a batch.
func cutWords(b *column.Batch, words []uint64, width int) []byte {
	switch width {
	case 1:
		return column.BytesOf(cut[uint8](b, words))
	case 2:
		return column.BytesOf(cut[uint16](b, words))
	}
	return column.BytesOf(cut[uint32](b, words))
}

func cut[N uint8 | uint16 | uint32](b *column.Batch, words []uint64) []N {
	out := column.Alloc[N](b, len(words))
	for i, v := range words {
		out[i] = N(v)
	}
	return out
}

// widen makes a column of narrow integers one of a type that they may stand for.
func widen(c *column.Column, t arrow.DataType) {
	switch c.Type.ID() {
	case arrow.INT8:
		c.Data = wide[int8, int64](column.View[int8](c.Data))
	case arrow.INT16:
		c.Data = wide[int16, int64](column.View[int16](c.Data))
	case arrow.INT32:
		c.Data = wide[int32, int64](column.View[int32](c.Data))
	case arrow.UINT8:
		c.Data = wide[uint8, uint64](c.Data)
	case arrow.UINT16:
		c.Data = wide[uint16, uint64](column.View[uint16](c.Data))
	case arrow.UINT32:
		c.Data = wide[uint32, uint64](column.View[uint32](c.Data))
	}
	c.Type, c.Kind = t, column.KindOf(t)
}

func wide[N int8 | int16 | int32 | uint8 | uint16 | uint32, W int64 | uint64](in []N) []byte {
	out := make([]W, len(in))
	for i, v := range in {
		out[i] = W(v)
	}
	return column.BytesOf(out)
}
