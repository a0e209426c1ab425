package generate

import (
	"context"
	"io"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
)

const sample = `{ "customer_id": "c-1", "amount": 42, "ts": 1757000000000, "rate": 1.5e0, "ok": true }`

type event struct {
	ID  int64
	Key string
	At  time.Time
}

func makeEvent(i int64) event {
	return event{ID: i, Key: string(rune('a' + i%3)), At: time.UnixMilli(i)}
}

func newContext(pool *column.Pool) *operator.Context {
	return &operator.Context{Context: context.Background(), Pool: pool, Clock: operator.SystemClock{}, Logger: slog.New(slog.DiscardHandler), Counters: &operator.Counters{}}
}

func open(t require.TestingT, s Source, ctx *operator.Context, split string, position []byte) operator.Reader {
	r, err := s.Open(ctx, operator.Split{ID: split}, position)
	require.NoError(t, err)
	return r
}

func TestB9ATemplateIsASchemaAndARow(t *testing.T) {
	s := Source{Context: sample, Count: 10, BatchSize: 4}
	require.NoError(t, s.Check())
	require.Equal(t, "generate", s.Kind())
	require.Equal(t, []arrow.Field{{Name: "customer_id", Type: arrow.BinaryTypes.String}, {Name: "amount", Type: arrow.PrimitiveTypes.Int64},
		{Name: "ts", Type: arrow.PrimitiveTypes.Int64}, {Name: "rate", Type: arrow.PrimitiveTypes.Float64}, {Name: "ok", Type: arrow.FixedWidthTypes.Boolean}},
		s.Schema().Fields())
	pool := column.NewDebugPool()
	r := open(t, s, newContext(pool), "0", nil)
	var sizes []int
	for {
		b, err := r.Poll()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		sizes = append(sizes, b.Rows)
		for i := range b.Rows {
			require.Equal(t, "c-1", b.Cols[0].String(i))
			require.Equal(t, int64(42), column.Values[int64](&b.Cols[1])[i])
			require.Equal(t, int64(1757000000000), column.Values[int64](&b.Cols[2])[i])
			require.Equal(t, 1.5, column.Values[float64](&b.Cols[3])[i])
			require.True(t, b.Cols[4].Bool(i))
		}
		b.Release()
	}
	require.Equal(t, []int{4, 4, 2}, sizes)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}

// TestC11FuncMakesTheSameRowsFromAnyPosition reads splits whole and again from every position.
func TestC11FuncMakesTheSameRowsFromAnyPosition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		count := rapid.IntRange(1, 50).Draw(t, "count")
		n := rapid.IntRange(1, 5).Draw(t, "splits")
		s := Func(makeEvent, Count(int64(count)), Splits(n), BatchSize(rapid.IntRange(1, 9).Draw(t, "batch")))
		require.NoError(t, s.Check())
		splits, err := s.Splits(context.Background())
		require.NoError(t, err)
		require.Len(t, splits, n)
		total := 0
		for k, split := range splits {
			r := open(t, s, newContext(pool), split.ID, nil)
			want := []int64{}
			var positions [][]byte
			for {
				p, err := r.Position()
				require.NoError(t, err)
				positions = append(positions, p)
				got, err := readIDs(t, r)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				want = append(want, got...)
			}
			require.NoError(t, r.Close())
			for i, id := range want {
				require.Equal(t, int64(k+i*n), id)
			}
			total += len(want)
			at := rapid.SampledFrom(positions).Draw(t, "position")
			again := open(t, s, newContext(pool), split.ID, at)
			var rest []int64
			for {
				got, err := readIDs(t, again)
				if err == io.EOF {
					break
				}
				rest = append(rest, got...)
			}
			require.Equal(t, want[len(want)-len(rest):], append([]int64{}, rest...))
			var from int
			for _, c := range at {
				from = from*10 + int(c-'0')
			}
			require.Len(t, rest, len(want)-from)
			require.NoError(t, again.Close())
		}
		require.Equal(t, count, total)
		require.NoError(t, pool.Check())
	})
}

func readIDs(t require.TestingT, r operator.Reader) ([]int64, error) {
	b, err := r.Poll()
	if err != nil {
		return nil, err
	}
	require.NotNil(t, b)
	defer b.Release()
	ids := append([]int64{}, column.Values[int64](&b.Cols[0])...)
	for i, id := range ids {
		e := makeEvent(id)
		require.Equal(t, e.Key, b.Cols[1].String(i))
		require.Equal(t, e.At.UnixMicro(), column.Values[int64](&b.Cols[2])[i])
	}
	return ids, nil
}

func TestWithoutCountASourceNeverEnds(t *testing.T) {
	r := open(t, Func(makeEvent), newContext(column.NewPool()), "0", []byte("9000000000000"))
	for k := range 5 {
		ids, err := readIDs(t, r)
		require.NoError(t, err)
		require.Len(t, ids, 4096)
		require.Equal(t, int64(9000000000000+4096*k), ids[0])
	}
	require.NoError(t, r.Close())
	require.Equal(t, "at full speed", Func(makeEvent).Describe())
}

func TestE6RowsOfAFunctionThatDoNotFitFollowThePolicy(t *testing.T) {
	late := func(i int64) event {
		if i%2 == 1 {
			return event{ID: i, At: time.Unix(1<<50, 0)}
		}
		return makeEvent(i)
	}
	pool := column.NewDebugPool()
	ctx := newContext(pool)
	r := open(t, Func(late, Count(4)), ctx, "0", nil)
	_, err := r.Poll()
	require.ErrorContains(t, err, `row 1: column "At": field "At": does not fit a Timestamp(µs)`)
	require.NoError(t, r.Close())

	ctx.OnError = operator.Skip()
	r = open(t, Func(late, Count(4)), ctx, "0", nil)
	ids, err := readIDs(t, r)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 2}, ids)
	require.Equal(t, map[string]int64{"error": 2}, ctx.Counters.Dropped())
	require.NoError(t, r.Close())

	none := Func(func(i int64) event { return event{At: time.Unix(1<<50, 0)} }, Count(4), BatchSize(1))
	r = open(t, none, ctx, "0", nil)
	_, err = r.Poll()
	require.Equal(t, io.EOF, err, "batches of which nothing is left are passed over")
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}

func TestAPanicOfTheFunctionLeaksNothing(t *testing.T) {
	pool := column.NewDebugPool()
	r := open(t, Func(func(i int64) event {
		if i == 300 {
			panic("boom")
		}
		return makeEvent(i)
	}), newContext(pool), "0", nil)
	require.PanicsWithValue(t, "boom", func() { _, _ = r.Poll() })
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}

func TestCheckTellsAllFaults(t *testing.T) {
	s := Source{Context: "[]", Interval: -1, BatchSize: -1, Count: -1, Rate: math.NaN(), NumSplits: 1 << 20}
	for _, want := range []string{"context: the context begins with [ and is no JSON object", "interval: -1ns is negative", "batch_size: -1 is less than 1",
		"count: -1 is negative", "rate: NaN is no number of rows a second", "splits: 1048576 is not within 1 and 32768"} {
		require.ErrorContains(t, s.Check(), want)
	}
	_, err := s.Splits(context.Background())
	require.Error(t, err)
	_, err = s.Open(newContext(nil), operator.Split{ID: "0"}, nil)
	require.Error(t, err)
	_, err = s.Infer(context.Background())
	require.Error(t, err)
	require.Nil(t, s.Schema())

	require.NoError(t, Func(func(i int64) event { return event{} }, nil).Check(), "an option that is nil is none")
	require.ErrorContains(t, Source{Context: sample, Rate: 1, Interval: 1}.Check(), "rate: there is an interval as well; give one of the two")
	require.ErrorContains(t, Source{}.Check(), "context: there is no context")
	both := Func(makeEvent)
	both.Context = sample
	require.ErrorContains(t, both.Check(), "context: there is a function as well")
	require.ErrorContains(t, Func[event](nil).Check(), "the function is nil")
	require.ErrorContains(t, Func(func(int64) struct{ C chan int } { panic("never called") }).Check(), `field "C"`)

	good := Source{Context: sample}
	for position, want := range map[string]string{"x": `"x" is no position`, "-1": "is no position", "99999999999999999999": "is no position"} {
		_, err := good.Open(newContext(nil), operator.Split{ID: "0"}, []byte(position))
		require.ErrorContains(t, err, want)
	}
	_, err = good.Open(newContext(nil), operator.Split{ID: "1"}, nil)
	require.ErrorContains(t, err, "the source has the splits 0 to 0")
	schema, err := good.Infer(context.Background())
	require.NoError(t, err)
	require.Equal(t, good.Schema(), schema)
	require.Equal(t, good, good.WithSchema(nil))
}

func TestTemplatesThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "there is no context",
		"{":                           "ends too early",
		`{"a"`:                        "ends too early",
		`{"a":`:                       "ends too early",
		`{"a":1`:                      "ends too early",
		`{"a":1,}`:                    "no JSON",
		`{a:1}`:                       "no JSON",
		`nope`:                        "no JSON",
		`{}`:                          "the object has no field",
		`{"a":1} 2`:                   "there is more behind the JSON object",
		`{"a":1,"a":2}`:               `field "a" stands twice`,
		`{"a":null}`:                  `field "a": null has no type`,
		`{"a":[1]}`:                   `field "a": an object or a list is no column`,
		`{"a":{}}`:                    `field "a": an object or a list is no column`,
		`{"a":9223372036854775808}`:   "does not fit an int64",
		`{"a":1e999}`:                 "does not fit a float64",
		`{"a":-9223372036854775808,"`: "ends too early",
	} {
		_, err := parseTemplate(text)
		require.ErrorContains(t, err, want, text)
	}
	tpl, err := parseTemplate(`{"a":-9223372036854775808,"b":"\u00e4","":0.0}`)
	require.NoError(t, err)
	require.Equal(t, []any{int64(math.MinInt64), "ä", 0.0}, tpl.values)
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{sample, `{"a":1}`, `{"a":[`, `{"a":"\ud800"}`, ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := parseTemplate(text)
		if err != nil {
			return
		}
		require.Len(t, tpl.values, tpl.schema.NumFields())
		require.NoError(t, Source{Context: text}.Check())
	})
}

func params(config, codec map[string]any) connectors.Params {
	return connectors.Params{Path: "s", Config: config, Codec: codec}
}

func TestGenerateInSpecs(t *testing.T) {
	config := map[string]any{"context": sample, "interval": "500ms", "batch_size": 1}
	src, err := FromParams(params(config, map[string]any{"type": "json"}))
	require.NoError(t, err)
	s := src.(Source)
	require.Equal(t, 500*time.Millisecond, s.Interval)
	require.Equal(t, "1 rows each 500ms", s.Describe())
	got, codec, err := s.Config()
	require.NoError(t, err)
	require.Equal(t, config, got)
	require.Equal(t, map[string]any{"type": "json"}, codec)

	config = map[string]any{"context": sample, "count": int64(9), "rate": 2.5, "splits": 3}
	src, err = FromParams(params(config, nil))
	require.NoError(t, err)
	got, codec, err = src.(Source).Config()
	require.NoError(t, err)
	require.Equal(t, config, got)
	require.Nil(t, codec)
	require.Equal(t, "2.5 rows/s, 9 rows", src.(Source).Describe())
	_, _, err = Func(makeEvent).Config()
	require.ErrorContains(t, err, "rows made by a Go function cannot be written in a spec")

	for want, p := range map[string]connectors.Params{
		"s.config.context: there is no context": params(nil, nil),
		"s.config.count: -1 is negative":        params(map[string]any{"context": sample, "count": -1}, nil),
		`s.config.interval: 5 has no unit`:      params(map[string]any{"context": sample, "interval": 5}, nil),
		`s.config.contxt: unknown field`:        params(map[string]any{"contxt": sample}, nil),
		`s.codec.type: "csv" is not the codec`:  params(map[string]any{"context": sample}, map[string]any{"type": "csv"}),
		`s.codec.x: unknown field`:              params(map[string]any{"context": sample}, map[string]any{"type": "json", "x": 1}),
	} {
		_, err := FromParams(p)
		require.ErrorContains(t, err, want)
	}
}

func TestP3GenerateAllocatesPerBatchOnly(t *testing.T) {
	type small struct{ ID, Value int64 }
	for _, s := range []Source{{Context: sample}, Func(func(i int64) small { return small{i, i} })} {
		r := open(t, s, newContext(column.NewPool()), "0", nil)
		n := testing.AllocsPerRun(20, func() {
			b, err := r.Poll()
			if err != nil {
				t.Error(err)
				return
			}
			b.Release()
		})
		require.LessOrEqual(t, n, 3.0)
		require.NoError(t, r.Close())
	}
}
