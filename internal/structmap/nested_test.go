package structmap

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type address struct {
	Street string
	Zip    *int32 `arkflow:"zip"`
}

type item struct {
	Name  string
	Price float64
	Tags  []string
}

// customer has every kind of nesting.
type customer struct {
	ID      int64
	Home    address
	Work    *address
	Items   []item
	Maybe   []*int64
	Grid    [][]int16
	Counts  map[string]int64
	By      map[int32]*address
	Flags   map[bool][]byte
	Waits   []time.Duration
	Seen    []time.Time
	Pointer *[]uint8
	Names   *[]string
}

func drawCustomer(t *rapid.T) customer {
	addr := rapid.Custom(func(t *rapid.T) address {
		return address{rapid.StringN(0, 5, 10).Draw(t, "street"), rapid.Ptr(rapid.Int32(), true).Draw(t, "zip")}
	})
	list := func(n int) bool { return rapid.IntRange(0, n).Draw(t, "nil") == 0 }
	c := customer{ID: rapid.Int64().Draw(t, "id"), Home: addr.Draw(t, "home"), Work: rapid.Ptr(addr, true).Draw(t, "work")}
	if !list(3) {
		c.Items = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) item {
			i := item{Name: rapid.StringN(0, 3, 6).Draw(t, "name"), Price: rapid.Float64Range(-9, 9).Draw(t, "price")}
			if rapid.Bool().Draw(t, "tags") {
				i.Tags = rapid.SliceOfN(rapid.StringN(0, 3, 6), 0, 3).Draw(t, "tags")
			}
			return i
		}), 0, 3).Draw(t, "items")
	}
	if !list(3) {
		c.Maybe = rapid.SliceOfN(rapid.Ptr(rapid.Int64(), true), 0, 3).Draw(t, "maybe")
	}
	if !list(3) {
		c.Grid = rapid.SliceOfN(rapid.SliceOfN(rapid.Int16(), 0, 2), 0, 3).Draw(t, "grid")
	}
	if !list(3) {
		c.Counts = rapid.MapOfN(rapid.StringN(0, 3, 6), rapid.Int64(), 0, 3).Draw(t, "counts")
	}
	if !list(3) {
		c.By = rapid.MapOfN(rapid.Int32(), rapid.Ptr(addr, true), 0, 3).Draw(t, "by")
	}
	if !list(3) {
		c.Flags = rapid.MapOfN(rapid.Bool(), rapid.SliceOfN(rapid.Byte(), 0, 3), 0, 2).Draw(t, "flags")
	}
	if !list(3) {
		c.Waits = rapid.SliceOfN(rapid.Map(rapid.Int64(), func(v int64) time.Duration { return time.Duration(v) }), 0, 2).Draw(t, "waits")
	}
	if !list(3) {
		c.Seen = rapid.SliceOfN(rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(v int64) time.Time { return time.UnixMicro(v).UTC() }), 0, 2).Draw(t, "seen")
	}
	if !list(2) {
		b := rapid.SliceOfN(rapid.Byte(), 1, 3).Draw(t, "bytes")
		c.Pointer = &b
	}
	if !list(2) {
		n := rapid.SliceOfN(rapid.StringN(0, 2, 4), 0, 2).Draw(t, "names")
		c.Names = &n
	}
	return c
}

func TestNestedStructsComeBackAsTheyWere(t *testing.T) {
	w, err := NewWriter[customer]()
	require.NoError(t, err)
	require.NoError(t, column.CheckSchema(w.Schema()))
	r, err := NewReader[customer](w.Schema())
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		rows := rapid.SliceOfN(rapid.Custom(drawCustomer), 1, 6).Draw(t, "rows")
		for i := range rows {
			require.NoError(t, w.Check(&rows[i]))
		}
		bld := column.NewBuilder(pool, w.Schema())
		w.Append(bld, rows)
		b := bld.Finish()
		want := rows
		if rapid.Bool().Draw(t, "select") {
			b.Sel, want = []uint32{}, nil
			for i := range rows {
				if rapid.Bool().Draw(t, "keep") {
					b.Sel, want = append(b.Sel, uint32(i)), append(want, rows[i])
				}
			}
		}
		rec := b.Record() // and through Arrow
		again, err := column.FromRecord(pool, rec)
		require.NoError(t, err)
		for _, x := range []*column.Batch{b, again} {
			got := make([]customer, x.Len(), x.Len()+1)
			for i := range got { // what was there before is gone
				got[i] = customer{Items: []item{{Name: "old"}}, Counts: map[string]int64{"old": 1}, Work: &address{}}
			}
			r.Begin(x)
			require.Nil(t, r.Read(0, got))
			r.End()
			if len(want) > 0 {
				require.Equal(t, want, got)
			}
		}
		again.Release()
		rec.Release()
		b.Release()
		require.NoError(t, pool.Check())
	})
}

func TestNestedSchema(t *testing.T) {
	s, err := SchemaOf[customer]()
	require.NoError(t, err)
	want := map[string]string{
		"Home":  "struct<Street: utf8, zip: int32 nullable>",
		"Items": "list<item: struct<Name: utf8, Price: float64, Tags: list<item: utf8> nullable>>",
		"Maybe": "list<item: int64, nullable>",
		"By":    "map<int32, struct<Street: utf8, zip: int32 nullable>, items_nullable>",
	}
	for name, text := range want {
		require.Equal(t, text, s.Field(s.FieldIndices(name)[0]).Type.String())
	}
	for _, f := range s.Fields() {
		nullable := f.Name != "ID" && f.Name != "Home"
		require.Equal(t, nullable, f.Nullable, f.Name)
	}
}

func TestNestedFaultsNameTheFieldWithin(t *testing.T) {
	s, err := SchemaOf[customer]()
	require.NoError(t, err)
	type wrongAddress struct {
		Streat string
		Zip    string `arkflow:"zip"`
	}
	type wrong struct {
		Home   wrongAddress
		Items  []struct{ Price string }
		Counts map[string]struct{ X int }
		Grid   map[string]int
		Work   []int
		ID     []int
	}
	_, err = NewReader[wrong](s)
	for _, want := range []string{
		`field "Home.Streat" of structmap.wrong: no field "Streat" in column "Home"; did you mean "Street"?`,
		`field "Home.Zip" of structmap.wrong: column "Home" holds int32 here, the field has type string: the one is never the other; make the field an int32`,
		`field "Items[].Price" of structmap.wrong: column "Items" holds float64 here, the field has type string`,
		`field "Counts[]" of structmap.wrong: column "Counts" holds int64 here, the field has type struct { X int }`,
		`field "Grid" of structmap.wrong: column "Grid" holds list<item: list<item: int16>, nullable> here, the field has type map[string]int: the one is never the other`,
		`field "Work" of structmap.wrong: column "Work" holds struct<Street: utf8, zip: int32 nullable> here, the field has type []int`,
		`field "ID" of structmap.wrong: column "ID" holds int64 here, the field has type []int`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestNestedNullsThatAFieldCannotHold(t *testing.T) {
	s, err := SchemaOf[customer]()
	require.NoError(t, err)
	type strict struct {
		Home struct {
			Zip int32 `arkflow:"zip"`
		}
		Maybe []int64
	}
	r, err := NewReader[strict](s)
	require.NoError(t, err)
	w, err := NewWriter[customer]()
	require.NoError(t, err)
	zip := int32(5)
	one := int64(1)
	rows := []customer{{Home: address{Zip: &zip}, Maybe: []*int64{&one}}, {}, {Home: address{Zip: &zip}, Maybe: []*int64{&one, nil}}}
	bld := column.NewBuilder(nil, s)
	w.Append(bld, rows)
	got := make([]strict, 3)
	r.Begin(bld.Finish())
	errs := r.Read(0, got)
	require.NoError(t, errs[0])
	require.Equal(t, []int64{1}, got[0].Maybe)
	require.EqualError(t, errs[1], `column "Home": field "Home.Zip": is null; make the field a pointer to take nulls`)
	require.EqualError(t, errs[2], `column "Maybe": field "Maybe[]": is null; make the field a pointer to take nulls`)
}

func TestNestedInstantsOutOfReachAreRefused(t *testing.T) {
	type stamp struct{ At *time.Time }
	type row struct {
		In   stamp
		List []stamp
		By   map[string]time.Time
		None []int
	}
	w, err := NewWriter[row]()
	require.NoError(t, err)
	require.False(t, w.Total())
	far, near := time.Unix(1<<50, 0), time.Unix(5, 0)
	require.NoError(t, w.Check(&row{In: stamp{&near}, List: []stamp{{}, {&near}}, By: map[string]time.Time{"a": near}}))
	for field, bad := range map[string]row{"In": {In: stamp{&far}}, "List": {List: []stamp{{}, {&far}}}, "By": {By: map[string]time.Time{"a": far}}} {
		require.ErrorContains(t, w.Check(&bad), `field "`+field+`": does not fit a Timestamp(µs)`)
	}
	w2, err := NewWriter[struct{ List []item }]()
	require.NoError(t, err)
	require.True(t, w2.Total())
}

func TestNestedReadsWiderAndDifferentColumns(t *testing.T) {
	type row struct {
		V []float64
		M map[string]uint16
		S struct{ A *string }
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "V", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int64)}, {Name: "M", Type: arrow.MapOf(arrow.BinaryTypes.LargeString, arrow.PrimitiveTypes.Uint8)},
		{Name: "S", Type: arrow.StructOf(arrow.Field{Name: "B", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "A", Type: arrow.BinaryTypes.StringView, Nullable: true})}}, nil)
	r, err := NewReader[row](s)
	require.NoError(t, err)
	b := record(t, s, `[{"V":[1,9007199254740992],"M":[{"key":"a","value":5}],"S":{"B":1,"A":"x"}},{"V":[9007199254740993],"M":[],"S":{"B":2}}]`)
	got := make([]row, 2)
	r.Begin(b)
	errs := r.Read(0, got)
	require.NoError(t, errs[0])
	require.EqualError(t, errs[1], `column "V": field "V[]": has no exact float64 (value 9007199254740993)`)
	x := "x"
	require.Equal(t, row{V: []float64{1, 9007199254740992}, M: map[string]uint16{"a": 5}, S: struct{ A *string }{&x}}, got[0])
}
