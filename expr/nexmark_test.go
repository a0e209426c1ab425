package expr

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

// The expressions of Nexmark's queries 14, 21 and 22.
const (
	q14Where  = "0.908 * price between 1000000 and 50000000"
	q14Period = "case when extract(hour from ts) between 8 and 18 then 'dayTime' when extract(hour from ts) <= 6 or extract(hour from ts) >= 20 then 'nightTime' else 'otherTime' end"
	q14Count  = "length(extra) - length(replace(extra, 'c', ''))"
	q21       = "case lower(channel) when 'apple' then '0' when 'google' then '1' when 'facebook' then '2' when 'baidu' then '3' else regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) end"
	q22       = "split_part(url, '/', 4)"
)

// someBids makes bids as the generator of Nexmark does, as far as these queries look at them.
func someBids(p *column.Pool, n int) *column.Batch {
	s := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.PrimitiveTypes.Int64}, {Name: "channel", Type: arrow.BinaryTypes.String}, {Name: "url", Type: arrow.BinaryTypes.String},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "extra", Type: arrow.BinaryTypes.String}}, nil)
	r := rand.New(rand.NewPCG(7, 7))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
		}
		return string(b)
	}
	hot := []string{"Google", "Facebook", "Baidu", "Apple"}
	b := column.NewBuilder(p, s)
	for i := range n {
		channel := hot[r.IntN(4)]
		url := "https://www.nexmark.com/" + word(5) + "/" + word(4) + "/" + word(5) + "/item.htm?query=1"
		if r.IntN(2) == 0 {
			id := r.IntN(10000)
			channel = "channel-" + strconv.Itoa(id)
			if r.IntN(10) > 0 {
				url += "&channel_id=" + strconv.Itoa(id*104729)
			}
		}
		b.Int64(0, int64(r.ExpFloat64()*1e7))
		b.String(1, channel)
		b.String(2, url)
		b.Int64(3, 1782864000000+int64(i)*100000)
		b.String(4, word(60))
		b.EndRow()
	}
	return b.Finish()
}

func TestNexmarkExpressions(t *testing.T) {
	pool := column.NewDebugPool()
	b := someBids(pool, 5000)
	re := regexp.MustCompile(`(&|^)channel_id=([^&]*)`)
	want := map[string]func(i int) any{
		q14Where: func(i int) any {
			p := column.Values[int64](b.Column("price"))[i] * 908
			return p >= 1000000000 && p <= 50000000000
		},
		q14Period: func(i int) any {
			switch h := time.UnixMilli(column.Values[int64](b.Column("ts"))[i]).UTC().Hour(); {
			case h >= 8 && h <= 18:
				return "dayTime"
			case h <= 6 || h >= 20:
				return "nightTime"
			}
			return "otherTime"
		},
		q14Count: func(i int) any { return strconv.Itoa(strings.Count(b.Column("extra").String(i), "c")) },
		q21: func(i int) any {
			id, ok := map[string]string{"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}[strings.ToLower(b.Column("channel").String(i))]
			if m := re.FindStringSubmatch(b.Column("url").String(i)); !ok && m != nil {
				return m[2]
			} else if !ok {
				return nil
			}
			return id
		},
		q22: func(i int) any { return strings.Split(b.Column("url").String(i), "/")[3] },
	}
	for text, model := range want {
		p, err := T(text).Bind(b.Schema)
		require.NoError(t, err)
		var errs Errors
		var c column.Column
		out := b.Derive()
		require.NoError(t, p.New().Eval(out, &c, b, &errs))
		require.Zero(t, errs.Len())
		for i := range b.Rows {
			got := modelValue(&c, i)
			if n, ok := got.(fmt.Stringer); ok {
				got = n.String()
			}
			require.Equal(t, model(i), got, "%s, row %d: %s", text, i, b.Column("url").String(i))
		}
		out.Release()
	}
	b.Release()
	require.NoError(t, pool.Check())
}

// BenchmarkNexmark computes the columns of the queries.
func BenchmarkNexmark(b *testing.B) {
	pool := column.NewPool()
	batch := someBids(pool, benchRows)
	defer batch.Release()
	for _, q := range []struct{ name, text string }{{"q14_where", q14Where}, {"q14_period", q14Period}, {"q14_count", q14Count}, {"q21", q21}, {"q22", q22},
		{"lower", "lower(channel)"}, {"regexp", "regexp_extract(url, '(&|^)channel_id=([^&]*)', 2)"}, {"regexp_any", "regexp_match(url, '[0-9]+$')"},
		{"like", "url like '%channel_id=%'"}, {"substr", "substr(url, 9, 11)"}, {"concat", "concat(channel, '-', extra)"}, {"trunc_day", "date_trunc('day', ts)"},
		{"trunc_zone", "date_trunc('day', ts, 'Europe/Berlin')"}, {"hour", "extract(hour from ts)"}, {"to_text", "cast(price as utf8)"}, {"ts_text", "cast(ts as utf8)"},
		{"hash", "hash(channel, price)"}, {"case_int", "case when price > 5000000 then 1 else 0 end"}} {
		p, err := T(q.text).Bind(batch.Schema)
		require.NoError(b, err)
		b.Run(q.name, func(b *testing.B) {
			ev := p.New()
			var errs Errors
			s := arrow.NewSchema([]arrow.Field{{Name: "out", Type: p.Type(), Nullable: true}}, nil)
			b.ReportAllocs()
			for b.Loop() {
				out := column.NewBatch(pool, s, batch.Len())
				if err := ev.Eval(out, &out.Cols[0], batch, &errs); err != nil || errs.Len() > 0 {
					b.Fatal(err, errs.First())
				}
				out.Release()
			}
			perRow(b)
		})
	}
}
