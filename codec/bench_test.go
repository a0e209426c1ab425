package codec

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

// order is a row of six columns, as the benchmarks decode and encode it.
type order struct {
	ID       int64   `json:"id"`
	Time     int64   `json:"time"`
	Customer string  `json:"customer"`
	Status   string  `json:"status"`
	Amount   float64 `json:"amount"`
	Paid     bool    `json:"paid"`
}

var orderSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "time", Type: arrow.PrimitiveTypes.Int64},
	{Name: "customer", Type: arrow.BinaryTypes.String},
	{Name: "status", Type: arrow.BinaryTypes.String},
	{Name: "amount", Type: arrow.PrimitiveTypes.Float64},
	{Name: "paid", Type: arrow.FixedWidthTypes.Boolean},
}, nil)

const benchRows = 8192

func orderLines(tb testing.TB) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	for i := range benchRows {
		o := order{int64(i) * 7919, 1_517_365_101_235 + int64(i), fmt.Sprintf("customer-%04d", i%1000), []string{"paid", "shipped", "open"}[i%3],
			float64(i*37%100_000) / 100, i%2 == 0}
		require.NoError(tb, enc.Encode(&o))
	}
	return buf.Bytes()
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkDecode6Cols(b *testing.B) {
	lines := orderLines(b)
	b.Run("columns", func(b *testing.B) {
		d, err := JSON(orderSchema).NewDecoder(column.NewPool())
		require.NoError(b, err)
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.DecodeLines(lines, true, Limits{Rows: benchRows}); err != nil {
				b.Fatal(err)
			}
			d.Finish().Release()
		}
		perRow(b)
	})
	b.Run("encoding_json", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			dec := json.NewDecoder(bytes.NewReader(lines))
			for range benchRows {
				var o order
				if err := dec.Decode(&o); err != nil {
					b.Fatal(err)
				}
			}
		}
		perRow(b)
	})
}

func BenchmarkEncode6Cols(b *testing.B) {
	lines := orderLines(b)
	d, err := JSON(orderSchema).NewDecoder(column.NewPool())
	require.NoError(b, err)
	_, err = d.DecodeLines(lines, true, Limits{Rows: benchRows})
	require.NoError(b, err)
	batch := d.Finish()
	defer batch.Release()
	b.Run("columns", func(b *testing.B) {
		e, err := JSON(nil).NewEncoder(orderSchema)
		require.NoError(b, err)
		out, _ := e.Encode(nil, batch)
		require.Equal(b, string(lines), string(out))
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			out, _ = e.Encode(out[:0], batch)
		}
		perRow(b)
	})
	b.Run("encoding_json", func(b *testing.B) {
		rows := make([]order, benchRows)
		for i := range rows {
			rows[i] = order{intAt(batch.Column("id"), i), intAt(batch.Column("time"), i), batch.Column("customer").String(i),
				batch.Column("status").String(i), column.Values[float64](batch.Column("amount"))[i], batch.Column("paid").Bool(i)}
		}
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			enc := json.NewEncoder(io.Discard)
			for i := range rows {
				if err := enc.Encode(&rows[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
		perRow(b)
	})
}

func orderCSV(tb testing.TB) []byte {
	d, err := JSON(orderSchema).NewDecoder(nil)
	require.NoError(tb, err)
	_, err = d.DecodeLines(orderLines(tb), true, Limits{Rows: benchRows})
	require.NoError(tb, err)
	e, err := CSV(orderSchema).NewEncoder(orderSchema)
	require.NoError(tb, err)
	text, err := e.Encode(nil, d.Finish())
	require.NoError(tb, err)
	return text
}

func BenchmarkDecodeCSV6Cols(b *testing.B) {
	lines := orderCSV(b)
	b.Run("columns", func(b *testing.B) {
		d, err := CSV(orderSchema).NewDecoder(column.NewPool())
		require.NoError(b, err)
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.DecodeLines(lines, true, Limits{Rows: benchRows}); err != nil {
				b.Fatal(err)
			}
			d.Finish().Release()
		}
		perRow(b)
	})
	b.Run("encoding_csv", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			dec := csv.NewReader(bytes.NewReader(lines))
			dec.ReuseRecord = true
			for range benchRows {
				rec, err := dec.Read()
				if err != nil {
					b.Fatal(err)
				}
				var o order
				o.ID, _ = strconv.ParseInt(rec[0], 10, 64)
				o.Time, _ = strconv.ParseInt(rec[1], 10, 64)
				o.Customer, o.Status = rec[2], rec[3]
				o.Amount, _ = strconv.ParseFloat(rec[4], 64)
				o.Paid, _ = strconv.ParseBool(rec[5])
				_ = o
			}
		}
		perRow(b)
	})
}

func BenchmarkEncodeCSV6Cols(b *testing.B) {
	lines := orderCSV(b)
	d, err := CSV(orderSchema).NewDecoder(column.NewPool())
	require.NoError(b, err)
	_, err = d.DecodeLines(lines, true, Limits{Rows: benchRows})
	require.NoError(b, err)
	batch := d.Finish()
	defer batch.Release()
	b.Run("columns", func(b *testing.B) {
		e, err := CSV(nil).NewEncoder(orderSchema)
		require.NoError(b, err)
		out, _ := e.Encode(nil, batch)
		require.Equal(b, string(lines), string(out))
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		for b.Loop() {
			out, _ = e.Encode(out[:0], batch)
		}
		perRow(b)
	})
	b.Run("encoding_csv", func(b *testing.B) {
		b.SetBytes(int64(len(lines)))
		b.ReportAllocs()
		rec := make([]string, 6)
		for b.Loop() {
			w := csv.NewWriter(io.Discard)
			for i := range benchRows {
				rec[0], rec[1] = strconv.FormatInt(intAt(&batch.Cols[0], i), 10), strconv.FormatInt(intAt(&batch.Cols[1], i), 10)
				rec[2], rec[3] = batch.Cols[2].String(i), batch.Cols[3].String(i)
				rec[4] = strconv.FormatFloat(column.Values[float64](&batch.Cols[4])[i], 'f', -1, 64)
				rec[5] = strconv.FormatBool(batch.Cols[5].Bool(i))
				if err := w.Write(rec); err != nil {
					b.Fatal(err)
				}
			}
			w.Flush()
		}
		perRow(b)
	})
}
