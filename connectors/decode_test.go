package connectors

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type inner struct {
	Name string `json:"name"`
}

type base struct {
	Shared string `json:"shared"`
}

type config struct {
	base
	URL     string            `json:"url"`
	On      bool              `json:"on"`
	Small   int8              `json:"small"`
	Big     uint64            `json:"big"`
	Ratio   float64           `json:"ratio"`
	Wait    time.Duration     `json:"wait"`
	Pause   time.Duration     `json:"wait_ms"`
	List    []string          `json:"list"`
	Map     map[string]int    `json:"map"`
	Inner   inner             `json:"inner"`
	Maybe   *inner            `json:"maybe"`
	Any     any               `json:"any"`
	Own     upper             `json:"own"`
	Writer  interface{ M() }  `json:"writer"`
	Channel chan int          `json:"channel"`
	Hidden  string            `json:"-"`
	Labels  map[string]string `json:"labels"`
}

// upper decodes itself.
type upper string

func (u *upper) DecodeSpec(x any) error {
	s, ok := x.(string)
	if !ok {
		return errors.New("want letters")
	}
	*u = upper("own " + s)
	return nil
}

func problems(t *testing.T, err error) (out []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	var many *multierror.Error
	require.ErrorAs(t, err, &many)
	for _, e := range many.Errors {
		out = append(out, e.Error())
	}
	return out
}

func TestDecode_takesEveryType(t *testing.T) {
	c := config{Ratio: 7, List: []string{"default"}}
	err := Decode(Params{Config: map[string]any{
		"url": "u", "on": true, "small": int64(-5), "big": uint64(math.MaxUint64), "wait": "1.5s", "wait_ms": int64(1500),
		"map": map[string]any{"a": 1}, "inner": map[string]any{"name": "n"}, "maybe": map[string]any{"name": "m"}, "any": []any{int64(1)},
		"own": "x", "shared": "s", "list": nil, "labels": map[string]any{},
	}}, &c)
	require.NoError(t, err)
	assert.Equal(t, config{base: base{"s"}, URL: "u", On: true, Small: -5, Big: math.MaxUint64, Ratio: 7, Wait: 1500 * time.Millisecond,
		Pause: 1500 * time.Millisecond, List: []string{"default"}, Map: map[string]int{"a": 1}, Inner: inner{"n"}, Maybe: &inner{"m"},
		Any: []any{int64(1)}, Own: "own x", Labels: map[string]string{}}, c)
	require.NoError(t, Decode(Params{Config: map[string]any{"ratio": int64(2), "wait_ms": "2m", "small": 4.0}}, &c))
	assert.InDelta(t, 2, c.Ratio, 0)
	assert.Equal(t, 2*time.Minute, c.Pause)
	assert.Equal(t, int8(4), c.Small)
}

func TestDecode_tellsAllFaultsByTheirPath(t *testing.T) {
	var c config
	err := Decode(Params{Path: "jobs[0].sources[1]", Config: map[string]any{
		"url": 5, "on": "yes", "small": int64(300), "big": int64(-1), "ratio": "x", "wait": int64(5), "wait_ms": "soon", "list": "a",
		"map": []any{}, "inner": "n", "maybe": map[string]any{"nam": "m"}, "own": 1, "writer": 1, "channel": 1, "ulr": "typo", "labels": map[string]any{"a": 1},
	}}, &c)
	assert.Equal(t, []string{
		`jobs[0].sources[1].config.big: want an integer >= 0, not -1`,
		`jobs[0].sources[1].config.channel: cannot be given in a spec (its Go type is chan int)`,
		`jobs[0].sources[1].config.inner: want a mapping, not "n"`,
		`jobs[0].sources[1].config.labels.a: want a string, not 1`,
		`jobs[0].sources[1].config.list: want a list, not "a"`,
		`jobs[0].sources[1].config.map: want a mapping, not a list`,
		`jobs[0].sources[1].config.maybe.nam: unknown field "nam"; did you mean "name"?`,
		`jobs[0].sources[1].config.on: want true or false, not "yes"`,
		`jobs[0].sources[1].config.own: want letters`,
		`jobs[0].sources[1].config.ratio: want a number, not "x"`,
		`jobs[0].sources[1].config.small: 300 does not fit in int8`,
		`jobs[0].sources[1].config.ulr: unknown field "ulr"; did you mean "url"?`,
		`jobs[0].sources[1].config.url: want a string, not 5`,
		`jobs[0].sources[1].config.wait: 5 has no unit; write a duration such as 5ms`,
		`jobs[0].sources[1].config.wait_ms: want a duration such as 500ms or 2m, not "soon"`,
		`jobs[0].sources[1].config.writer: cannot be given in a spec`,
	}, problems(t, err))
}

func TestDecode_refusesWhatIsOutOfRange(t *testing.T) {
	var c config
	require.ErrorContains(t, Decode(Params{Config: map[string]any{"wait_ms": int64(math.MaxInt64)}}, &c), "config.wait_ms: 9223372036854775807 ms is out of range")
	require.ErrorContains(t, Decode(Params{Config: map[string]any{"small": uint64(math.MaxUint64)}}, &c), "want an integer")
	require.ErrorContains(t, Decode(Params{Config: map[string]any{"small": 1.5}}, &c), "want an integer, not 1.5")
}

func TestDecode_needsAPointerToAStruct(t *testing.T) {
	for _, into := range []any{nil, config{}, (*config)(nil), new(int)} {
		require.ErrorContains(t, DecodeMap("p", nil, into), "need a pointer to a struct")
	}
}

func TestDecodeCodec_readsTheCodecSection(t *testing.T) {
	var c struct {
		Type string `json:"type"`
	}
	require.NoError(t, DecodeCodec(Params{Codec: map[string]any{"type": "json"}}, &c))
	assert.Equal(t, "json", c.Type)
	err := DecodeCodec(Params{Path: "sinks[0]", Codec: map[string]any{"typ": "json"}}, &c)
	require.ErrorContains(t, err, `sinks[0].codec.typ: unknown field "typ"; did you mean "type"?`)
}

// Whatever a document holds, decoding gives a value or faults, and never panics.
func TestDecode_ofAnything(t *testing.T) {
	value := rapid.OneOf(rapid.Just[any](nil), rapid.Int64().AsAny(), rapid.Uint64().AsAny(), rapid.Float64().AsAny(), rapid.String().AsAny(), rapid.Bool().AsAny(),
		rapid.SliceOf(rapid.Int64().AsAny()).AsAny(), rapid.MapOf(rapid.String(), rapid.Int64().AsAny()).AsAny())
	names := []string{"url", "on", "small", "big", "ratio", "wait", "wait_ms", "list", "map", "inner", "maybe", "any", "own", "writer", "channel", "odd"}
	rapid.Check(t, func(rt *rapid.T) {
		var c config
		m := rapid.MapOf(rapid.SampledFrom(names), value).Draw(rt, "config")
		if err := Decode(Params{Config: m}, &c); err != nil {
			require.NotEmpty(rt, err.Error())
		}
	})
}
