package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

type part struct {
	SKU   string            `arkflow:"sku"`
	Price *float64          `arkflow:"price"`
	Tags  []string          `arkflow:"tags"`
	Extra map[string]string `arkflow:"extra"`
}

type purchase struct {
	TS    int64 `arkflow:"ts"`
	ID    int64 `arkflow:"id"`
	Buyer *struct{ Name string }
	Parts []part        `arkflow:"parts"`
	Took  time.Duration `arkflow:"took"`
}

type tagged struct {
	TS    int64            `arkflow:"ts"`
	ID    int64            `arkflow:"id"`
	Parts []part           `arkflow:"parts"`
	ByTag map[string]int64 `arkflow:"by_tag"`
}

// purchases are rows of every depth.
func purchases(from, n int) (out []purchase) {
	for i := from; i < from+n; i++ {
		p := purchase{TS: int64(i*10 - i%7*30), ID: int64(i), Took: time.Duration(i) * time.Millisecond}
		if i%3 > 0 {
			p.Buyer = &struct{ Name string }{fmt.Sprintf("buyer %d", i)}
		}
		for k := range i % 4 {
			price := float64(k) + 0.5
			q := part{SKU: fmt.Sprintf("%d-%d", i, k), Price: &price}
			if k > 0 {
				q.Tags, q.Price = []string{"new", fmt.Sprint(k)}, nil
				q.Extra = map[string]string{"a": fmt.Sprint(i), "b": ""}
			}
			p.Parts = append(p.Parts, q)
		}
		out = append(out, p)
	}
	return out
}

func count(p purchase) tagged {
	out := tagged{TS: p.TS, ID: p.ID, Parts: p.Parts}
	for _, q := range p.Parts {
		for _, t := range q.Tags {
			if out.ByTag == nil {
				out.ByTag = map[string]int64{}
			}
			out.ByTag[t]++
		}
	}
	return out
}

func TestGoldenNestedColumnsGoThroughEverything(t *testing.T) {
	job := arkflow.NewJob("nested")
	src := job.Source("in", memory.Of[purchase](), arkflow.EventTime("ts"))
	counted := arkflow.Map(arkflow.As[purchase](src), "count", count).Stream()
	parts := counted.Split("split", arkflow.When("some", expr.Col("by_tag").IsNotNull()), arkflow.Otherwise("none"))
	both := parts.Branch("some").Union("both", parts.Branch("none"))
	both.Select("slim", "parts", "id", "by_tag").Sink("rows", drop.Sink{})
	w := both.KeyBy("id").Window("w", window.Tumbling(50*msec), window.Count("parts").As("rows"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{}) // whole rows, through an exchange

	first, second := purchases(0, 40), purchases(40, 30)
	var rows, late []map[string]any
	for _, split := range [][]purchase{first, second} {
		w := int64(-1 << 62)
		for _, p := range split {
			c := count(p)
			row := map[string]any{"parts": c.Parts, "id": c.ID, "by_tag": c.ByTag}
			rows = append(rows, row)
			if floor(p.TS, 50)+50 <= w {
				late = append(late, map[string]any{"parts": c.Parts, "id": c.ID, "by_tag": c.ByTag, "ts": c.TS})
			}
			w = max(w, p.TS)
		}
	}
	require.NotEmpty(t, late)
	Verify(t, job, From("in", Rows(first...), Rows(second...)), Want("rows", rows...), Want("late", late...))
}

func floor(v, by int64) int64 {
	if v%by < 0 {
		return v/by*by - by
	}
	return v / by * by
}

func TestNestedColumnsAreWrittenAndReadAsJSON(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "purchases.jsonl")
	write := arkflow.NewJob("write")
	write.Source("in", memory.Of(purchases(0, 20)), arkflow.ProcessingTime()).Sink("out", file.Sink{URL: path})
	require.NoError(t, write.Run(t.Context()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), `{"ts":-100,"id":5,"Buyer":{"Name":"buyer 5"},"parts":[{"sku":"5-0","price":0.5,"tags":null,"extra":null}],"took":5000000}`)

	read := arkflow.NewJob("read")
	out := memory.NewSink()
	src := read.Source("in", file.Source{URL: path, Format: codec.JSONOf[purchase]()}, arkflow.ProcessingTime())
	arkflow.Map(arkflow.As[purchase](src), "count", count).Stream().Sink("out", out)
	require.NoError(t, read.Run(t.Context()))
	require.Len(t, out.Rows(), 20)
	require.Equal(t, map[string]any{"ts": int64(70), "id": int64(7), "by_tag": map[string]any{"new": int64(2), "1": int64(1), "2": int64(1)}, "parts": []any{
		map[string]any{"sku": "7-0", "price": 0.5, "tags": nil, "extra": nil},
		map[string]any{"sku": "7-1", "price": nil, "tags": []any{"new", "1"}, "extra": map[string]any{"a": "7", "b": ""}},
		map[string]any{"sku": "7-2", "price": nil, "tags": []any{"new", "2"}, "extra": map[string]any{"a": "7", "b": ""}}}}, out.Rows()[7])

	// The schema can be written down.
	own := codec.JSONOf[purchase]().Schema()
	back, err := codec.ReadSchema("schema", codec.SchemaConfig(own))
	require.NoError(t, err)
	require.True(t, back.Equal(own))
}
