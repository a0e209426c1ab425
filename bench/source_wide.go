package main

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
)

// Columns of a wide row after key, price and ts.
const (
	wideNumbers = 27
	wideTexts   = 10
)

// wideColumns is what no job reads: numbers that follow the price, and the key as text.
type wideColumns struct {
	numbers [wideNumbers][]int64
	texts   [wideTexts][]byte
	offsets []int32
}

func wideFields() (fields []arrow.Field) {
	for i := range wideNumbers {
		fields = append(fields, arrow.Field{Name: "n" + strconv.Itoa(i), Type: arrow.PrimitiveTypes.Int64})
	}
	for i := range wideTexts {
		fields = append(fields, arrow.Field{Name: "s" + strconv.Itoa(i), Type: arrow.BinaryTypes.String})
	}
	return fields
}

func newWideColumns() *wideColumns {
	w := &wideColumns{offsets: textOffsets()}
	for i := range w.numbers {
		w.numbers[i] = make([]int64, events.Rows)
	}
	for i := range w.texts {
		w.texts[i] = make([]byte, 0, events.Rows*events.TextBytes)
	}
	return w
}

// fill makes the columns of the rows of a batch.
func (w *wideColumns) fill(e *events.Batch) {
	for i := range w.numbers {
		column := w.numbers[i][:len(e.Price)]
		for k, price := range e.Price {
			column[k] = price + int64(i)
		}
	}
	text := w.texts[0][:0]
	for _, key := range e.Key {
		text = events.AppendText(text, key)
	}
	w.texts[0] = text
	for i := range w.texts[1:] {
		w.texts[1+i] = append(w.texts[1+i][:0], text...)
	}
}

// attach gives them to a batch of some of the rows.
func (w *wideColumns) attach(b *column.Batch, from, to int) {
	cols := b.Cols[3:]
	for i := range w.numbers {
		cols[i].Data = column.BytesOf(w.numbers[i][from:to])
	}
	for i := range w.texts {
		c := &cols[wideNumbers+i]
		c.Data, c.Offsets = w.texts[i], w.offsets[from:to+1]
	}
}
