package segment

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/flatwalk"
)

// The Arrow streams of a segment have types of one layout only, that of the columns in memory: a dictionary is written as its values, a large
// string or a string view as a string, a large list as a list. A schema that has other types stands in the metadata of the stream's,
// and tables that are read have its types again.

const (
	// metaSchema is the key of the metadata that holds the table's schema: an IPC message in base64.
	metaSchema = "ARKFLOW:schema"
	groupName  = "#group"
	groupWidth = 2
	// maxSchema bounds the message of a schema.
	maxSchema = 1 << 20
)

// storedSchema gives the schema of the Arrow stream for tables of a schema: the key group first, and plain types.
func storedSchema(s *arrow.Schema) (*arrow.Schema, error) {
	name := groupName
	for s.HasField(name) {
		name = "#" + name
	}
	fields := []arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Uint16}}
	_, keep := s.Metadata().GetValue(metaSchema) // of a schema that was read from an unpacked segment
	for _, f := range s.Fields() {
		plain := plainType(f.Type)
		keep = keep || plain != f.Type
		f.Type = plain
		fields = append(fields, f)
	}
	meta := s.Metadata()
	stored := arrow.NewSchema(fields, &meta)
	if keep {
		return keepSchema(s, stored)
	}
	_, err := schemaMessage(stored)
	return stored, err
}

// keepSchema gives the schema of a stream with that of its tables in the metadata.
func keepSchema(table, stored *arrow.Schema) (*arrow.Schema, error) {
	b, err := schemaMessage(table)
	if err != nil {
		return nil, err
	}
	meta := arrow.NewMetadata([]string{metaSchema}, []string{base64.StdEncoding.EncodeToString(b)})
	out := arrow.NewSchema(stored.Fields(), &meta)
	_, err = schemaMessage(out)
	return out, err
}

// schemaMessage gives a schema as the stream of no batch.
func schemaMessage(s *arrow.Schema) ([]byte, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	if b.Len() > maxSchema {
		return nil, fmt.Errorf("a schema of %d bytes, at most %d can be saved", b.Len(), maxSchema)
	}
	return b.Bytes(), nil
}

// plainType gives the type by which values of a type are written: t itself where it is plain.
func plainType(t arrow.DataType) arrow.DataType {
	switch x := t.(type) {
	case *arrow.LargeStringType, *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.LargeBinaryType, *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case *arrow.DictionaryType:
		return plainType(x.ValueType)
	case *arrow.LargeListType:
		f := x.ElemField()
		f.Type = plainType(f.Type)
		return arrow.ListOfField(f)
	case *arrow.ListType:
		f := x.ElemField()
		if plain := plainType(f.Type); plain != f.Type {
			f.Type = plain
			return arrow.ListOfField(f)
		}
	case *arrow.MapType:
		key, item := x.KeyField(), x.ItemField()
		if k, i := plainType(key.Type), plainType(item.Type); k != key.Type || i != item.Type {
			m := arrow.MapOf(k, i)
			m.SetItemNullable(item.Nullable)
			return m
		}
	case *arrow.StructType:
		fields, changed := x.Fields(), false
		for i, f := range fields {
			fields[i].Type = plainType(f.Type)
			changed = changed || fields[i].Type != f.Type
		}
		if changed {
			return arrow.StructOf(fields...)
		}
	}
	return t
}

// tableSchema gives the schema of the tables in a stream that begins with this message of a schema, and the types by which the stream has
// their columns.
func tableSchema(message []byte) (*arrow.Schema, []arrow.DataType, error) {
	stored, err := parseSchema(message)
	if err != nil {
		return nil, nil, err
	}
	fields := stored.Fields()
	if len(fields) == 0 || fields[0].Type.ID() != arrow.UINT16 || !strings.HasSuffix(fields[0].Name, groupName) {
		return nil, nil, damaged("the first column is not the key group")
	}
	meta := stored.Metadata()
	table := arrow.NewSchema(fields[1:], &meta)
	text, kept := meta.GetValue(metaSchema)
	if kept {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, nil, damaged("metadata %s: %w", metaSchema, err)
		}
		message, _, ok := cutMessage(b)
		if !ok {
			return nil, nil, damaged("metadata %s is not whole", metaSchema)
		}
		if table, err = parseSchema(b[:len(message)+messageHead]); err != nil {
			return nil, nil, err
		}
	}
	if err := column.CheckSchema(table); err != nil {
		return nil, nil, damaged("%w", err)
	}
	want, err := storedSchema(table)
	if err != nil {
		return nil, nil, damaged("%w", err)
	}
	types := make([]arrow.DataType, table.NumFields())
	for i := range types {
		types[i] = fields[1+i].Type
		if want := table.Field(i).Type; kept && mayStand(types[i], want) {
			fields[1+i].Type = want
		} else {
			types[i] = want
		}
	}
	meta = stored.Metadata()
	if kept { // the message itself may be that of an equal schema
		meta = want.Metadata()
		if _, ok := meta.GetValue(metaSchema); !ok {
			if want, err = keepSchema(table, want); err != nil {
				return nil, nil, damaged("%w", err)
			}
			meta = want.Metadata()
		}
		if !stored.Metadata().Equal(meta) {
			return nil, nil, damaged("the stream has other metadata than its schema asks for")
		}
	}
	if got := arrow.NewSchema(fields, &meta); !sameSchema(want, got) {
		return nil, nil, damaged("the stream has the columns %v, want %v", stored, want)
	}
	return table, types, nil
}

// The types of fields that columns can have: Int, FloatingPoint, Binary, Utf8, Bool, Decimal, Date, Time, Timestamp, List, Struct, Map, Duration,
// LargeBinary, LargeUtf8, LargeList, BinaryView, Utf8View.
const knownTypes flatwalk.Types = 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<17 | 1<<18 | 1<<19 | 1<<20 | 1<<21 | 1<<23 | 1<<24

// parseSchema reads a message of a schema, its head included.
func parseSchema(message []byte) (*arrow.Schema, error) {
	if len(message) > maxSchema {
		return nil, damaged("a schema of %d bytes, at most %d are written", len(message), maxSchema)
	}
	m, err := flatwalk.Read(message[messageHead:])
	if err != nil || m.Kind != ipc.MessageSchema || m.Body != 0 || m.Types&^knownTypes != 0 {
		return nil, damaged("the message of the schema")
	}
	r, err := ipc.NewReader(bytes.NewReader(message), ipc.WithEnsureNativeEndian(false))
	if err != nil {
		return nil, damaged("%w", err)
	}
	defer r.Release()
	s := r.Schema()
	if s.Endianness() != endian.NativeEndian {
		return nil, errors.New("written on a machine with another order of bytes than this one")
	}
	return s, nil
}

// sameSchema reports whether tables of both may share a stream: nothing that a schema says is different.
func sameSchema(a, b *arrow.Schema) bool {
	if a == b {
		return true
	}
	return a.Metadata().Equal(b.Metadata()) && sameFields(a.Fields(), b.Fields())
}

func sameFields(a, b []arrow.Field) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Nullable != b[i].Nullable || !a[i].Metadata.Equal(b[i].Metadata) || !sameType(a[i].Type, b[i].Type) {
			return false
		}
	}
	return true
}

// sameType is arrow.TypeEqual that sees the names and metadata of fields within all nested types. (TypeEqual compares large lists with all that
// lies in their memory, so that no two are equal if one was read.)
func sameType(a, b arrow.DataType) bool {
	x, ok := a.(arrow.NestedType)
	if !ok || a == b {
		return arrow.TypeEqual(a, b)
	}
	if m, ok := a.(*arrow.MapType); ok {
		if n, ok := b.(*arrow.MapType); !ok || m.KeysSorted != n.KeysSorted {
			return false
		}
	}
	return a.ID() == b.ID() && sameFields(x.Fields(), b.(arrow.NestedType).Fields())
}
