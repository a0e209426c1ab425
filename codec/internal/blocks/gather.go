package blocks

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// blockBytes ends a block early where rows are wide.
const blockBytes = 64 << 20

// Gather gathers rows to blocks and has them written. It is a codec.BlockWriter.
type Gather struct {
	name   string
	schema *arrow.Schema
	rows   int
	build  *column.Builder // nil while there are no rows
	take   []uint32        // rows of a batch that join the block
	width  int             // bytes of a row beside its texts
	write  func(arrow.RecordBatch) error
	end    func() error
}

// NewGather gives a writer of blocks of at most rows rows; write takes one, borrowed, and end what comes behind the last. Errors begin
// with name. Memory is that of the garbage collector: it grows with a block and not with batches.
func NewGather(name string, s *arrow.Schema, rows int, write func(arrow.RecordBatch) error, end func() error) *Gather {
	g := &Gather{name: name, schema: s, rows: rows, write: write, end: end}
	for _, f := range s.Fields() {
		g.width += max(1, column.KindOf(f.Type).Width())
	}
	return g
}

// Plain gives a schema with the types of the values in place of dictionaries.
func Plain(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i := range fields {
		fields[i].Type = plain(fields[i].Type)
	}
	return arrow.NewSchema(fields, nil)
}

// Write is part of codec.BlockWriter.
func (g *Gather) Write(b *column.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	b = b.Derive()
	defer b.Release()
	b.Schema, b.Times, b.TimeValid, b.Late, b.Hash = g.schema, nil, nil, nil, nil
	for i := range b.Cols {
		b.Cols[i].Type = g.schema.Field(i).Type
	}
	for at := 0; at < b.Len(); {
		if g.build == nil {
			g.build = column.NewBuilder(nil, g.schema)
		}
		g.take = g.take[:0]
		for n := min(b.Len()-at, g.rows-g.build.Len()); len(g.take) < n; at++ {
			g.take = append(g.take, uint32(b.Row(at)))
		}
		if !g.build.Fits(b, g.take) {
			if err := g.Flush(); err != nil {
				return err
			}
			g.build = column.NewBuilder(nil, g.schema)
		}
		g.build.AppendRows(b, g.take)
		if g.build.Len() == g.rows || g.build.Bytes() >= blockBytes {
			if err := g.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush writes the rows that were gathered as a block.
func (g *Gather) Flush() error {
	if g.build == nil || g.build.Len() == 0 {
		return nil
	}
	b := g.build.Finish()
	g.build = nil
	defer b.Release()
	rec := b.Record()
	defer rec.Release()
	if err := Recover(func() error { return g.write(rec) }); err != nil {
		return fmt.Errorf("%s: %w", g.name, err)
	}
	return nil
}

// Buffered is part of codec.BlockWriter.
func (g *Gather) Buffered() int64 {
	if g.build == nil {
		return 0
	}
	return int64(g.build.Len()*g.width) + int64(g.build.Bytes())
}

// Close is part of codec.BlockWriter.
func (g *Gather) Close() error {
	err := g.Flush()
	if ended := Recover(g.end); err == nil && ended != nil {
		err = fmt.Errorf("%s: %w", g.name, ended)
	}
	return err
}
