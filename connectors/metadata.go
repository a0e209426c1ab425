package connectors

import (
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// Columns that a source adds to its rows on request. Each source says which it has, and what they hold.
const (
	MetaSource          = "__meta_source"           // string: where the row came from, such as a file or topic
	MetaPartition       = "__meta_partition"        // string: the split
	MetaOffset          = "__meta_offset"           // int64: the place in it
	MetaKey             = "__meta_key"              // binary, may be null: the key that the message had
	MetaRecordTimestamp = "__meta_record_timestamp" // timestamp[ms,UTC], may be null: the time that the system gave the message
	MetaIngestTime      = "__meta_ingest_time"      // timestamp[ms,UTC]: when it was read
)

var metaMillis = &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}

func metaField(name string) arrow.Field {
	switch name {
	case MetaOffset:
		return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}
	case MetaKey:
		return arrow.Field{Name: name, Type: arrow.BinaryTypes.Binary, Nullable: true}
	case MetaRecordTimestamp:
		return arrow.Field{Name: name, Type: metaMillis, Nullable: true}
	case MetaIngestTime:
		return arrow.Field{Name: name, Type: metaMillis}
	}
	return arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
}

// CheckMeta reports names among want that are not among those that a source has, or stand there twice.
func CheckMeta(want []string, has ...string) error {
	var faults fault.List
	for i, name := range want {
		path := fmt.Sprintf("metadata[%d]", i)
		switch {
		case slices.Index(want, name) < i:
			faults.Add(&fault.Fault{Path: path, Problem: fmt.Sprintf("%q stands there twice", name)})
		case !slices.Contains(has, name):
			u := fault.Unknown("metadata column", name, has)
			u.Path = path
			faults.Add(u)
		}
	}
	return faults.Err()
}

// WithMeta gives a schema with metadata columns behind its own. A column of the rows that has such a name is a fault.
func WithMeta(s *arrow.Schema, want []string) (*arrow.Schema, error) {
	if s == nil || len(want) == 0 {
		return s, nil
	}
	fields := s.Fields()
	for _, name := range want {
		if s.HasField(name) {
			return nil, &fault.Fault{Path: "metadata", Problem: fmt.Sprintf("the rows have a column %q already", name)}
		}
		fields = append(fields, metaField(name))
	}
	meta := s.Metadata()
	return arrow.NewSchema(fields, &meta), nil
}

// WithoutMeta is the inverse of WithMeta.
func WithoutMeta(s *arrow.Schema, want []string) *arrow.Schema {
	if s == nil || len(want) == 0 {
		return s
	}
	meta := s.Metadata()
	return arrow.NewSchema(slices.DeleteFunc(s.Fields(), func(f arrow.Field) bool { return slices.Contains(want, f.Name) }), &meta)
}

// Meta is what the metadata columns of a batch hold. Slices have an element for each physical row.
type Meta struct {
	Source      string
	Partition   string
	Offsets     []int64
	Keys        [][]byte // nil elements are null
	RecordTimes []int64  // ms
	IngestTime  time.Time
}

// AddMeta gives the batch with metadata columns; s is the schema that WithMeta gave. The caller owns it, and b is released.
func AddMeta(b *column.Batch, s *arrow.Schema, want []string, m Meta) *column.Batch {
	defer b.Release()
	d := b.Derive()
	d.Schema = s
	for _, name := range want {
		f := metaField(name)
		c := column.Column{Type: f.Type, Kind: column.KindOf(f.Type)}
		switch name {
		case MetaSource:
			same(d, &c, m.Source)
		case MetaPartition:
			same(d, &c, m.Partition)
		case MetaOffset:
			c.Data = column.BytesOf(copied(d, m.Offsets))
		case MetaRecordTimestamp:
			c.Data = column.BytesOf(copied(d, m.RecordTimes))
		case MetaIngestTime:
			v := column.Alloc[int64](d, d.Rows)
			for i := range v {
				v[i] = m.IngestTime.UnixMilli()
			}
			c.Data = column.BytesOf(v)
		case MetaKey:
			keys(d, &c, m.Keys)
		}
		d.Cols = append(d.Cols, c)
	}
	return d
}

func copied(b *column.Batch, v []int64) []int64 {
	out := column.Alloc[int64](b, b.Rows)
	copy(out, v)
	return out
}

// same fills a column with one text.
func same(b *column.Batch, c *column.Column, text string) {
	c.Offsets, c.Data = column.Alloc[int32](b, b.Rows+1), column.Alloc[byte](b, b.Rows*len(text))
	for i := range c.Offsets {
		c.Offsets[i] = int32(i * len(text))
	}
	for at := 0; at < len(c.Data); at += len(text) {
		copy(c.Data[at:], text)
	}
}

func keys(b *column.Batch, c *column.Column, keys [][]byte) {
	total := 0
	for _, k := range keys {
		total += len(k)
	}
	c.Offsets, c.Data = column.Alloc[int32](b, b.Rows+1), column.Alloc[byte](b, total)[:0]
	valid := column.AllocZero[byte](b, column.BitmapLen(b.Rows))
	c.Offsets[0] = 0
	for i, k := range keys {
		c.Data = append(c.Data, k...)
		c.Offsets[i+1] = int32(len(c.Data))
		if k == nil {
			c.Nulls++
		} else {
			column.SetBit(valid, i)
		}
	}
	if c.Nulls > 0 {
		c.Valid = valid
	}
}
