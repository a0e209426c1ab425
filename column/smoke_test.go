package column

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

func TestSmoke(t *testing.T) {
	p := NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := NewBuilder(p, s)
	for i := range 3000 {
		b.Int64(0, int64(i))
		if i%3 == 0 {
			b.String(1, "x")
		}
		b.Time(int64(i), true)
		b.EndRow()
	}
	x := b.Finish()
	d := x.Derive()
	x.Release()
	d.Sel = []uint32{1, 3, 2999}
	r := d.Record()
	d.Release()
	t.Log(r)
	r.Release()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
}
