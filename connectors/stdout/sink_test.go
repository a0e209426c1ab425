package stdout

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var schema = arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)

func batch(n int) *column.Batch {
	b := column.NewBuilder(nil, schema)
	for i := range n {
		b.Int64(0, int64(i))
		b.EndRow()
	}
	return b.Finish()
}

func TestSink_writesALinePerRow(t *testing.T) {
	var out bytes.Buffer
	w, err := Sink{Writer: &out}.Open(&operator.Context{Parallelism: 1}, operator.Stream{Schema: schema})
	require.NoError(t, err)
	require.NoError(t, w.Write(batch(2)))
	require.NoError(t, w.Write(batch(1)))
	require.NoError(t, w.Flush())
	require.NoError(t, w.Close())
	assert.Equal(t, "{\"v\":0}\n{\"v\":1}\n{\"v\":0}\n", out.String())
}

func TestSink_tasksNeverMixWithinALine(t *testing.T) {
	var out bytes.Buffer
	s := Sink{Writer: Locked(&out)}
	var done sync.WaitGroup
	for range 4 {
		w, err := s.Open(&operator.Context{Parallelism: 4}, operator.Stream{Schema: schema})
		require.NoError(t, err)
		done.Go(func() {
			for range 50 {
				assert.NoError(t, w.Write(batch(3)))
			}
		})
	}
	done.Wait()
	assert.Equal(t, strings.Repeat("{\"v\":0}\n{\"v\":1}\n{\"v\":2}\n", 200), out.String())

	_, err := Sink{Writer: &out}.Open(&operator.Context{Parallelism: 4}, operator.Stream{Schema: schema})
	assert.EqualError(t, err, "stdout: 4 tasks would write to one *bytes.Buffer at the same time; give stdout.Locked(w), or parallelism 1")
	for _, w := range []Sink{{}, {Writer: os.Stderr}} {
		_, err = w.Open(&operator.Context{Parallelism: 4}, operator.Stream{Schema: schema})
		assert.NoError(t, err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("pipe is gone") }

func TestSink_failures(t *testing.T) {
	w, err := Sink{Writer: broken{}}.Open(&operator.Context{Parallelism: 1}, operator.Stream{Schema: schema})
	require.NoError(t, err)
	assert.EqualError(t, w.Write(batch(1)), "stdout: write: pipe is gone")
	other := column.NewBuilder(nil, arrow.NewSchema(nil, nil)).Finish()
	assert.ErrorContains(t, w.Write(other), "stdout: encode: the batch has schema")
	assert.ErrorContains(t, Sink{Format: codec.JSONOf[int]()}.Check(operator.Stream{Schema: schema}), "is not a struct")
	list := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)}}, nil)
	assert.ErrorContains(t, Sink{}.Check(operator.Stream{Schema: list}), "is not supported")
	_, err = Sink{}.Open(&operator.Context{Parallelism: 1}, operator.Stream{Schema: list})
	assert.ErrorContains(t, err, "is not supported")
	assert.NoError(t, Sink{}.Check(operator.Stream{Schema: schema}))
}

func TestConfig_readsBack(t *testing.T) {
	for _, s := range []Sink{{}, {Format: codec.JSON(schema)}} {
		config, section, err := s.Config()
		require.NoError(t, err)
		back, err := FromParams(connectors.Params{Config: config, Codec: section})
		require.NoError(t, err)
		_, again, err := back.(Sink).Config()
		require.NoError(t, err)
		assert.Equal(t, section, again)
	}
	_, _, err := Sink{Writer: os.Stderr}.Config()
	assert.EqualError(t, err, "stdout: a Writer cannot be written in a spec")
	_, err = FromParams(connectors.Params{Path: "sinks[0]", Config: map[string]any{"path": "x"}})
	assert.ErrorContains(t, err, `sinks[0].config.path: unknown field "path"`)
	_, err = FromParams(connectors.Params{Path: "sinks[0]", Codec: map[string]any{"type": "x"}})
	assert.ErrorContains(t, err, `sinks[0].codec.type: codec "x" is not registered`)
}
