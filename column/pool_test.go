package column

import (
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestE4DebugPoolNamesLoansThatAreOut(t *testing.T) {
	p := NewDebugPool()
	buf := p.Get(100)
	err := p.Check()
	require.ErrorContains(t, err, "column pool: 1× memory lent at")
	require.ErrorContains(t, err, "pool_test.go:")
	p.Put(buf)
	require.NoError(t, p.Check())
	b := NewBatch(p, textSchema(), 0)
	require.ErrorContains(t, p.Check(), "1× batch made at")
	b.Release()
	require.NoError(t, p.Check())
}

func TestE4DebugPoolTellsDoubleReturnsAndPoisons(t *testing.T) {
	p := NewDebugPool()
	buf := p.Get(8)
	copy(buf, "abcdefgh")
	p.Put(buf)
	require.Equal(t, []byte{poison, poison, poison, poison, poison, poison, poison, poison}, buf)
	p.Put(buf)
	require.ErrorContains(t, p.Check(), "returned twice?")

	p = NewDebugPool()
	b := NewBatch(p, textSchema(), 0)
	b.Release()
	b.Release()
	require.ErrorContains(t, p.Check(), "batch released twice")
}

func TestE4PoolLendsReturnedMemoryAgainWithinItsLimit(t *testing.T) {
	p := NewPool()
	a := p.Get(1000)
	require.Len(t, a, 1000)
	require.Equal(t, 1024, cap(a))
	p.Put(a)
	b := p.Get(600)
	require.Same(t, &a[0], &b[0])
	require.Len(t, b, 600)
	p.SetLimit(1023)
	p.Put(b)
	c := p.Get(600)
	require.NotSame(t, &b[0], &c[0], "beyond the limit memory goes to the garbage collector")
	require.Nil(t, p.Get(0))
	require.NoError(t, p.Check())
	huge := p.Get(1<<maxClassBits + 1)
	require.Len(t, huge, 1<<maxClassBits+1)
	p.Put(huge)
	p.Put(make([]byte, 100)) // not of a size class: left alone
	var none *Pool
	require.Len(t, none.Get(10), 10)
	none.Put(nil)
	require.NoError(t, none.Check())
}

func TestARecordLivesOnWhenItsBatchIsReleased(t *testing.T) {
	pool := NewDebugPool()
	bld := NewBuilder(pool, textSchema())
	for i := range 10 {
		bld.Int64(0, int64(i))
		bld.String(1, "value")
		bld.EndRow()
	}
	b := bld.Finish()
	d := b.Derive()
	b.Release()
	d.Sel = []uint32{1, 3, 9}
	rec := d.Record()
	d.Release()
	require.Error(t, pool.Check(), "the record keeps the batch")
	require.Equal(t, []int64{1, 3, 9}, rec.Column(0).(*array.Int64).Int64Values())
	require.Equal(t, "value", rec.Column(1).(*array.String).Value(2))
	col := rec.Column(1)
	col.Retain()
	rec.Release()
	require.Equal(t, "value", col.(*array.String).Value(0), "a column that is kept keeps the batch")
	col.Release()
	require.NoError(t, pool.Check())
}

func TestARecordOfNoRowsOrNoColumns(t *testing.T) {
	pool := NewDebugPool()
	for _, s := range samples() {
		b := NewBuilder(pool, schemaFor(s.typ)).Finish()
		rec := b.Record()
		require.Zero(t, rec.NumRows())
		require.True(t, arrow.TypeEqual(s.typ, rec.Column(0).DataType()))
		again, err := FromRecord(pool, rec)
		require.NoError(t, err)
		again.Release()
		rec.Release()
		b.Release()
	}
	b := NewBatch(pool, arrow.NewSchema(nil, nil), 7)
	rec := b.Record()
	require.Equal(t, int64(7), rec.NumRows())
	rec.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

func TestFromRecordHoldsTheRecordUntilReleased(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	a := build(t, mem, arrow.BinaryTypes.String, []string{"a", "", "c"})
	rec := recordOf(a)
	a.Release()
	b, err := FromRecord(NewDebugPool(), rec)
	require.NoError(t, err)
	rec.Release()
	require.Positive(t, mem.CurrentAlloc())
	d := b.Derive()
	b.Release()
	require.Equal(t, "c", d.Cols[0].String(2))
	d.Release()
	mem.AssertSize(t, 0)
}

func TestB92FromRecordGivesEverythingBackOnErrors(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	pool := NewDebugPool()
	good := build(t, mem, arrow.BinaryTypes.LargeString, []string{"a", "", "c"})
	bad := array.NewNull(3)
	s := arrow.NewSchema([]arrow.Field{{Name: "g", Type: good.DataType()}, {Name: "l", Type: bad.DataType()}}, nil)
	rec := array.NewRecordBatch(s, []arrow.Array{good, bad}, 3)
	_, err := FromRecord(pool, rec)
	require.EqualError(t, err, `column "l": type null is not supported`)
	rec.Release()
	rec = array.NewRecordBatch(schemaFor(good.DataType()), []arrow.Array{good}, 2)
	_, err = FromRecord(pool, rec)
	require.EqualError(t, err, `column "v" has 3 values in a record of 2 rows`)
	rec.Release()
	good.Release()
	bad.Release()
	mem.AssertSize(t, 0)
	require.NoError(t, pool.Check())
}

func TestFromRecordCopiesWhatIsNotAligned(t *testing.T) {
	raw := make([]byte, 8*4+1)
	copy(raw[1:], BytesOf([]int64{1, 2, 3, 4}))
	data := array.NewData(arrow.PrimitiveTypes.Int64, 4, []*memory.Buffer{nil, memory.NewBufferBytes(raw[1:])}, nil, 0, 0)
	pool := NewDebugPool()
	b, err := FromRecord(pool, recordOf(array.MakeFromData(data)))
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3, 4}, Values[int64](&b.Cols[0]))
	b.Release()
	require.NoError(t, pool.Check())
}

func TestPoolsAndBatchesAreSafeForConcurrentUse(t *testing.T) {
	pool := NewPool()
	shared := timed(pool, 100, true, true)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				d := shared.Derive()
				d.Sel = []uint32{uint32(g), uint32(g + i%50 + 1)}
				c := d.Compact()
				rec := c.Record()
				c.Release()
				d.Release()
				if got := rec.Column(0).(*array.Int64).Value(0); got != int64(g) {
					t.Errorf("row %d instead of %d", got, g)
				}
				rec.Release()
			}
		})
	}
	wg.Wait()
	shared.Release()
	require.NoError(t, pool.Check())
}
