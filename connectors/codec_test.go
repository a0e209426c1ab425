package connectors_test

import (
	"testing"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRegistry_codecs(t *testing.T) {
	var r connectors.Registry
	require.NoError(t, r.RegisterCodec("arrow_ipc", arrowipc.FromConfig))
	assert.EqualError(t, r.RegisterCodec("arrow_ipc", arrowipc.FromConfig), `register codec "arrow_ipc": it is registered already`)
	assert.EqualError(t, r.RegisterCodec("json", arrowipc.FromConfig), `register codec "json": it is registered already`)
	assert.EqualError(t, r.RegisterCodec("x", nil), `register codec "x": it is nil`)
	for kind, section := range map[string]map[string]any{
		"json": {}, "csv": {"type": "csv", "delimiter": ";"}, "arrow_ipc": {"type": "arrow_ipc"},
	} {
		f, err := r.Format("codec", section)
		require.NoError(t, err)
		assert.Equal(t, kind, f.Kind())
	}
	_, err := r.Format("sources[0].codec", map[string]any{"type": "parquet"})
	assert.EqualError(t, err, `sources[0].codec.type: codec "parquet" is not registered; import "github.com/arkflow-go/arkflow/codec/parquet" and call its Register with the registry`)
	_, err = r.Format("codec", map[string]any{"type": "arow_ipc"})
	assert.EqualError(t, err, `codec.type: codec "arow_ipc" is not registered; did you mean "arrow_ipc"?`)
	_, err = r.Format("codec", map[string]any{"type": 5})
	assert.ErrorContains(t, err, "codec.type: want a string, not 5")
}

func TestParams_formats(t *testing.T) {
	var r connectors.Registry
	require.NoError(t, r.RegisterCodec("arrow_ipc", arrowipc.FromConfig))
	var got connectors.Params
	require.NoError(t, r.RegisterSink("s", func(p connectors.Params) (operator.Sink, error) {
		got = p
		return nil, nil
	}))
	_, err := r.Sink("s", connectors.Params{Path: "sinks[0]", Codec: map[string]any{"type": "arrow_ipc"}})
	require.NoError(t, err)
	f, err := got.Format()
	require.NoError(t, err)
	assert.Equal(t, "arrow_ipc", f.Kind())
	_, err = got.RecordFormat()
	assert.EqualError(t, err, `sinks[0].codec.type: "arrow_ipc" is a format of whole files; use it with a source or sink of files`)
	f, err = connectors.Params{Codec: map[string]any{"type": "csv"}}.RecordFormat()
	require.NoError(t, err)
	assert.Equal(t, codec.CSV(nil), f)
	f, err = connectors.Params{}.Format()
	assert.NoError(t, err)
	assert.Nil(t, f)
	none, err := connectors.Params{}.RecordFormat()
	assert.NoError(t, err)
	assert.Nil(t, none)
}
