package baseline

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/arkflow-go/arkflow/bench/events"
)

// Line is a JSON line of the benchmark json_e2e.
type Line struct {
	Key   int64 `json:"key"`
	Price int64 `json:"price"`
	Time  int64 `json:"ts"`
}

// Total is a JSON line of its result.
type Total struct {
	Key   int64 `json:"key"`
	Start int64 `json:"window_start"`
	End   int64 `json:"window_end"`
	Count int64 `json:"count"`
	Sum   int64 `json:"sum"`
}

// JSON is the whole job as one writes it with the standard library: encoding/json into a struct, a Go map,
// encoding/json out. The rows are in order.
func JSON(in io.Reader, out io.Writer) (Result, error) {
	w := bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(w)
	groups := map[int64]*tally{}
	end := int64(WindowMilli)
	var result Result
	fire := func() error {
		for k, t := range groups {
			if err := enc.Encode(Total{k, end - WindowMilli, end, t.count, t.sum}); err != nil {
				return fmt.Errorf("write result: %w", err)
			}
			result.Rows++
			result.Checksum += events.WindowTerm(k, end, t.count, t.sum)
		}
		clear(groups)
		return nil
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return result, fmt.Errorf("read line: %w", err)
		}
		var l Line
		if err := json.Unmarshal(text, &l); err != nil {
			return result, fmt.Errorf("parse line %q: %w", text, err)
		}
		for l.Time >= end {
			if err := fire(); err != nil {
				return result, err
			}
			end += WindowMilli
		}
		t := groups[l.Key]
		if t == nil {
			t = &tally{}
			groups[l.Key] = t
		}
		t.count++
		t.sum += l.Price
	}
	if err := fire(); err != nil {
		return result, err
	}
	return result, w.Flush()
}
