package drop

import (
	"testing"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSink_takesAnything(t *testing.T) {
	s, err := FromParams(connectors.Params{})
	require.NoError(t, err)
	require.NoError(t, s.Check(operator.Stream{}))
	w, err := s.Open(nil, operator.Stream{})
	require.NoError(t, err)
	assert.NoError(t, w.Write(nil))
	assert.NoError(t, w.Flush())
	assert.NoError(t, w.Close())
	config, codec, err := s.(Sink).Config()
	require.NoError(t, err)
	assert.Empty(t, config)
	assert.Nil(t, codec)
	_, err = FromParams(connectors.Params{Path: "sinks[0]", Config: map[string]any{"path": "x"}})
	assert.ErrorContains(t, err, `sinks[0].config.path: unknown field "path"`)
}
