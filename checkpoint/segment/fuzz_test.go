package segment

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// Whole objects: what opens holds tables that can be written again.
func FuzzOpen(f *testing.F) {
	data, _ := small(f)
	f.Add(data)
	f.Add(forge(nil, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		was := bytes.Clone(data)
		all, err := unpackAll(data)
		require.Equal(t, was, data)
		if err != nil {
			return
		}
		for _, s := range all {
			require.NoError(t, check(s.Block, s.Table))
		}
	})
}

// What checksums keep from FuzzOpen: the directory.
func FuzzDirectory(f *testing.F) {
	data, _ := small(f)
	r, err := Open(data)
	require.NoError(f, err)
	f.Add(appendDirectory(nil, r.units, r.blocks))
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		units, blocks, err := readDirectory(b)
		if err != nil {
			return
		}
		again, same, err := readDirectory(appendDirectory(nil, units, blocks))
		require.NoError(t, err)
		require.Equal(t, units, again)
		require.Equal(t, blocks, same)
	})
}

// What checksums keep from FuzzOpen: an Arrow stream of which some words were altered.
func FuzzArrow(f *testing.F) {
	var streams [][]byte
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.StringView, arrow.ListOf(arrow.FixedWidthTypes.Boolean)} {
		r, err := Open(pack(f, 0, 0, saved{Block{}, tableOf(schemaOf(typ), 0, 0, 9)})[0].Data)
		require.NoError(f, err)
		raw, err := r.unpack(0)
		require.NoError(f, err)
		streams = append(streams, raw)
		f.Add(byte(len(streams)-1), byte(9), uint16(0), uint32(0xFFFFFFFF), uint16(0), uint32(0xFFFFFFFF), uint16(0), uint32(0xFFFFFFFF))
	}
	f.Fuzz(func(t *testing.T, stream, rows byte, at1 uint16, to1 uint32, at2 uint16, to2 uint32, at3 uint16, to3 uint32) {
		raw := bytes.Clone(streams[int(stream)%len(streams)])
		put := func(at uint16, to uint32) { binary.LittleEndian.PutUint32(raw[int(at)%(len(raw)-3):], to) }
		put(at1, to1)
		put(at2, to2)
		put(at3, to3)
		was := bytes.Clone(raw)
		_ = decodeAll(raw, int(rows))
		require.Equal(t, was, raw)
	})
}
