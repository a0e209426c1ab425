package baseline

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrdersOfBothFormatsAreTheSame(t *testing.T) {
	const n = 1000
	var lines, table bytes.Buffer
	enc, w := json.NewEncoder(&lines), csv.NewWriter(&table)
	require.NoError(t, w.Write([]string{"id", "time", "customer", "status", "amount", "paid"}))
	want := Result{Rows: n}
	for i := range int64(n) {
		o := OrderOf(i)
		want.Checksum += o.term()
		require.NoError(t, enc.Encode(o))
		require.NoError(t, w.Write([]string{fmt.Sprint(o.ID), fmt.Sprint(o.Time), o.Customer, o.Status, fmt.Sprint(o.Amount), fmt.Sprint(o.Paid)}))
	}
	w.Flush()
	text := lines.String()
	got, err := JSONOrders(&lines)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = JSONOrdersBest(strings.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	got, err = CSVOrders(&table)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestOrdersThatAreNone(t *testing.T) {
	_, err := JSONOrders(strings.NewReader("{"))
	require.ErrorContains(t, err, `parse line "{"`)
	for in, want := range map[string]string{"": "read header", "a\nx": "1 fields", "a,b,c,d,e,f\nx,2,c,s,1.5,true": "invalid syntax", "a\n\"": "read record"} {
		_, err := CSVOrders(strings.NewReader(in))
		require.ErrorContains(t, err, want)
	}
}
