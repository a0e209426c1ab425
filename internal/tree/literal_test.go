package tree

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var literalTypes = []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
	arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ns,
	&arrow.TimestampType{Unit: arrow.Millisecond}, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Duration_us, arrow.FixedWidthTypes.Duration_ns}

// TestEveryConstantIsReadBack writes constants of every type and value.
func TestEveryConstantIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Literal
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			l.Type = rapid.SampledFrom(literalTypes).Draw(t, "type")
			v := rapid.Int64().Draw(t, "value")
			l.Value = v >> (64 - min(bitsOf(l.Type), 64))
		case 1:
			l = Literal{arrow.PrimitiveTypes.Uint64, rapid.Uint64().Draw(t, "value")}
		case 2:
			l = Literal{arrow.PrimitiveTypes.Float64, rapid.Float64().Draw(t, "value")}
		case 3:
			l = Literal{arrow.PrimitiveTypes.Float32, float64(rapid.Float32().Draw(t, "value"))}
		case 4:
			digits := rapid.Int32Range(1, 38).Draw(t, "digits")
			v, _ := new(big.Int).SetString(rapid.StringMatching(`[0-9]{1,38}`).Draw(t, "value"), 10)
			v.Mod(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
			l = Literal{&arrow.Decimal128Type{Precision: digits, Scale: rapid.Int32Range(-4, 38).Draw(t, "scale")}, v}
			if len(DecimalText(v, l.Type.(*arrow.Decimal128Type).Scale)) > 38 {
				return // the text has more digits than a constant may
			}
		default:
			l = Literal{rapid.SampledFrom([]arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString}).Draw(t, "type"), string(rapid.SliceOf(rapid.Byte()).Draw(t, "value"))}
		}
		n := FromText(l.String())
		require.Empty(t, n.Faults(), l.String())
		require.Equal(t, OpLiteral, n.Op, l.String())
		require.True(t, arrow.TypeEqual(l.Type, n.Lit.Type), "%s: %s instead of %s", l, n.Lit.Type, l.Type)
		if f, ok := l.Value.(float64); ok {
			require.Equal(t, math.Float64bits(f), math.Float64bits(n.Lit.Value.(float64)), l.String())
			return
		}
		if v, ok := l.Value.(*big.Int); ok {
			require.Zero(t, v.Cmp(n.Lit.Value.(*big.Int)), l.String())
			return
		}
		require.Equal(t, l.Value, n.Lit.Value, l.String())
	})
}

func TestTypesAreReadAsTheyAreWritten(t *testing.T) {
	for _, d := range append(literalTypes, arrow.PrimitiveTypes.Uint8, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.StringView, &arrow.Decimal128Type{Precision: 38, Scale: -2}) {
		got, err := ParseType(d.String())
		require.NoError(t, err)
		require.True(t, arrow.TypeEqual(d, got), d.String())
	}
	for text, want := range map[string]string{"BIGINT": "int64", "timestamp(6)": "timestamp[us, tz=UTC]", "numeric(5)": "decimal(5, 0)", "Double": "float64", "timestamp": "timestamp[ms, tz=UTC]"} {
		got, err := ParseType(text)
		require.NoError(t, err)
		require.Equal(t, want, got.String())
	}
	for _, text := range []string{"", "in", "time32[ns]", "time64[s]", "timestamp[ms, tz=Nowhere]", "timestamp[ms, UTC]", "timestamp(4)", "decimal", "decimal(0, 0)", "duration[ms, tz=UTC]", "list<int8>"} {
		_, err := ParseType(text)
		require.Error(t, err, text)
	}
}

func TestZones(t *testing.T) {
	for _, name := range []string{"", "UTC", "utc", "Europe/Berlin", "+02:00", "-09:30"} {
		_, err := LoadZone(name)
		require.NoError(t, err, name)
	}
	for _, name := range []string{"Local", "local", "Mars/Base", "+2", "../etc", "02:00"} {
		_, err := LoadZone(name)
		require.Error(t, err, name)
	}
	zone, _ := LoadZone("-09:30")
	_, offset := time.Unix(0, 0).In(zone).Zone()
	require.Equal(t, -34200, offset)
}
