package file

import (
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfig_readsBack(t *testing.T) {
	for _, s := range []Source{
		{URL: "in/*.jsonl"},
		{URL: "a", MaxBlockBytes: 1000, Metadata: []string{"__meta_offset"}, Format: codec.CSV(nil).Delimiter(';')},
		{URL: "a", InOrder: true, Compression: Gzip, MaxLineBytes: 100, BatchRows: 10, Format: codec.JSON(schema).FailUnknown()},
	} {
		config, section, err := s.Config()
		require.NoError(t, err)
		back, err := SourceFromParams(connectors.Params{Config: config, Codec: section})
		require.NoError(t, err)
		again, againSection, err := back.(Source).Config()
		require.NoError(t, err)
		assert.Equal(t, config, again)
		assert.Equal(t, section, againSection)
		assert.Equal(t, s.Compression, back.(Source).Compression)
	}
	for _, s := range []Sink{{URL: "out.jsonl"}, {URL: "a", Overwrite: true, Compression: None, Format: codec.JSON(nil)},
		{URL: "c.jsonl", Rotate: &Rotation{Rows: 1}, ExactlyOnce: true},
		{URL: "b.csv", Format: codec.CSV(nil), Rotate: &Rotation{}}, {URL: "b.csv", Compression: Zstd, Rotate: &Rotation{Rows: 5, Bytes: 7, Age: time.Minute}}} {
		config, section, err := s.Config()
		require.NoError(t, err)
		back, err := SinkFromParams(connectors.Params{Config: config, Codec: section})
		require.NoError(t, err)
		assert.Equal(t, s, back)
	}
	_, _, err := Source{}.Config()
	assert.Error(t, err)
	_, _, err = Sink{}.Config()
	assert.Error(t, err)
}

func TestFromParams_faultsHaveTheirPath(t *testing.T) {
	p := connectors.Params{Path: "jobs[0].sources[1]", Config: map[string]any{"compression": "zip", "batch_rows": -1}}
	_, err := SourceFromParams(p)
	assert.ErrorContains(t, err, "jobs[0].sources[1].config.path: no file is named")
	assert.ErrorContains(t, err, `jobs[0].sources[1].config.compression: "zip" is none of auto, none, gzip, zstd`)
	assert.ErrorContains(t, err, "jobs[0].sources[1].config.batch_rows: -1 is not within 1 and 1048576")
	p.Config = map[string]any{"path": "a", "compression": "auto", "in_ordre": true}
	_, err = SourceFromParams(p)
	assert.ErrorContains(t, err, `unknown field "in_ordre"; did you mean "in_order"?`)
	p.Config = map[string]any{"path": "a"}
	p.Codec = map[string]any{"type": "xml"}
	_, err = SourceFromParams(p)
	assert.ErrorContains(t, err, `jobs[0].sources[1].codec.type: codec "xml" is not registered`)
	_, err = SinkFromParams(p)
	assert.ErrorContains(t, err, `jobs[0].sources[1].codec.type: codec "xml" is not registered`)
	p = connectors.Params{Path: "jobs[0].sinks[0]", Config: map[string]any{"compression": "lz"}}
	_, err = SinkFromParams(p)
	assert.ErrorContains(t, err, "jobs[0].sinks[0].config.path: no file is named")
	assert.ErrorContains(t, err, `jobs[0].sinks[0].config.compression: "lz" is none of auto, none, gzip, zstd`)
	p.Config = map[string]any{"path": 7}
	_, err = SinkFromParams(p)
	assert.ErrorContains(t, err, "jobs[0].sinks[0].config.path: want a string, not 7")
}
