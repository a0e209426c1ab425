package connectors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/connectors/connectortest"
	"github.com/arkflow-go/arkflow/connectors/file"
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

const formatsSpec = `
jobs:
  - id: convert
    version: 1
    operators: [{ id: in, kind: source }, { id: out, kind: sink }]
    edges: [{ from: in, to: out }]
    sources:
      - operator_id: in
        input_type: file
        config: { path: "DIR/*.csv", metadata: [__meta_offset] }
        codec: { type: csv, header: true, delimiter: ";", schema: [{ name: n, type: int64 }, { name: s, type: string }] }
        time: { mode: processing_time }
    sinks:
      - operator_id: out
        output_type: file
        config: { path: "DIR/out.arrow", rotate: { rows: 1 } }
        codec: { type: FORMAT, block_rows: 10 }
`

func TestSpec_formatsBothWays(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.csv"), []byte("s;n\nx;1\n\"y;z\";2\n"), 0o600))
	text := strings.ReplaceAll(formatsSpec, "DIR", dir)
	jobs, err := arkflow.LoadJobs(arkflow.NewRegistry(), []byte(strings.ReplaceAll(text, "FORMAT", "arrow_ipc")))
	require.NoError(t, err)
	require.NoError(t, jobs[0].Run(t.Context()))
	got := connectortest.ReadAll(t, file.Source{URL: dir + "/*.arrow", Format: arrowipc.New(nil)})
	assert.Equal(t, []string{`n=0100000000000000 s="x" __meta_offset=0200000000000000 `, `n=0200000000000000 s="y;z" __meta_offset=0300000000000000 `}, got)

	spec, err := jobs[0].Spec()
	require.NoError(t, err)
	again, err := arkflow.FromSpec(arkflow.NewRegistry(), spec)
	require.NoError(t, err)
	back, err := again.Spec()
	require.NoError(t, err)
	assert.Equal(t, spec, back)

	_, err = arkflow.LoadJobs(arkflow.NewRegistry(), []byte(strings.ReplaceAll(text, "FORMAT", "parquet")))
	assert.ErrorContains(t, err, `codec "parquet" is not registered; import "github.com/arkflow-go/arkflow/codec/parquet" and call its Register with the registry`)
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
