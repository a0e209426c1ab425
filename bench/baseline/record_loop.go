package baseline

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/arkflow-go/arkflow/bench/events"
	gojson "github.com/goccy/go-json"
)

// Order is a record of the suite codec.
type Order struct {
	ID       int64   `json:"id"`
	Time     int64   `json:"time"`
	Customer string  `json:"customer"`
	Status   string  `json:"status"`
	Amount   float64 `json:"amount"`
	Paid     bool    `json:"paid"`
}

// OrderOf is order i: a function of its number.
func OrderOf(i int64) Order {
	m := events.Mix(uint64(i))
	return Order{ID: i * 7919, Time: 1_517_365_101_235 + i, Customer: fmt.Sprintf("customer-%04d", m>>33%1000),
		Status: [3]string{"paid", "shipped", "open"}[m%3], Amount: float64(m&0xFFFF) / 100, Paid: m>>20&1 == 0}
}

// OrderTerm is what a record adds to the checksum; the texts are not empty.
func OrderTerm(id, time int64, customer, status []byte, amount float64, paid bool) uint64 {
	x := uint64(id*31+time*1000003) + math.Float64bits(amount)*7919
	x += uint64(len(customer))<<32 + uint64(customer[len(customer)-1])<<40 + uint64(len(status))<<48
	if paid {
		x++
	}
	return events.Mix(x)
}

func (o *Order) term() uint64 {
	return OrderTerm(o.ID, o.Time, []byte(o.Customer), []byte(o.Status), o.Amount, o.Paid)
}

// JSONOrders reads lines with encoding/json into structs.
func JSONOrders(in io.Reader) (Result, error) { return jsonOrders(in, json.Unmarshal) }

// JSONOrdersBest reads lines into structs with goccy/go-json, the fastest of the libraries in Go alone that were tried.
func JSONOrdersBest(in io.Reader) (Result, error) {
	return jsonOrders(in, func(line []byte, o any) error { return gojson.Unmarshal(line, o) })
}

func jsonOrders(in io.Reader, unmarshal func([]byte, any) error) (r Result, err error) {
	lines := bufio.NewScanner(bufio.NewReaderSize(in, 1<<16))
	for lines.Scan() {
		var o Order
		if err := unmarshal(lines.Bytes(), &o); err != nil {
			return r, fmt.Errorf("parse line %q: %w", lines.Bytes(), err)
		}
		r.Rows++
		r.Checksum += o.term()
	}
	return r, lines.Err()
}

// CSVOrders reads records, behind a header that is passed over, with encoding/csv and strconv into structs.
func CSVOrders(in io.Reader) (r Result, err error) {
	records := csv.NewReader(bufio.NewReaderSize(in, 1<<16))
	records.ReuseRecord = true
	if _, err := records.Read(); err != nil {
		return r, fmt.Errorf("read header: %w", err)
	}
	for {
		rec, err := records.Read()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("read record: %w", err)
		}
		o, err := orderOf(rec)
		if err != nil {
			return r, err
		}
		r.Rows++
		r.Checksum += o.term()
	}
}

func orderOf(rec []string) (o Order, err error) {
	if len(rec) != 6 {
		return o, fmt.Errorf("parse record: %d fields, want 6", len(rec))
	}
	var errs [4]error
	o.Customer, o.Status = rec[2], rec[3]
	o.ID, errs[0] = strconv.ParseInt(rec[0], 10, 64)
	o.Time, errs[1] = strconv.ParseInt(rec[1], 10, 64)
	o.Amount, errs[2] = strconv.ParseFloat(rec[4], 64)
	o.Paid, errs[3] = strconv.ParseBool(rec[5])
	return o, errors.Join(errs[:]...)
}
