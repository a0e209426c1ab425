package connectors

import (
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestN2_addMetaHoldsWhatWasAskedFor(t *testing.T) {
	data := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	want := []string{MetaOffset, MetaSource, MetaPartition, MetaKey, MetaRecordTimestamp, MetaIngestTime}
	s, err := WithMeta(data, want)
	require.NoError(t, err)
	assert.True(t, data.Equal(WithoutMeta(s, want)))
	pool := column.NewDebugPool()
	build := column.NewBuilder(pool, data)
	for v := range 3 {
		build.Int64(0, int64(v))
		build.EndRow()
	}
	b := AddMeta(build.Finish(), s, want, Meta{Source: "topic", Partition: "7", Offsets: []int64{5, 6, 9}, Keys: [][]byte{[]byte("k"), nil, {}},
		RecordTimes: []int64{1, 2, 3}, IngestTime: time.UnixMilli(1234)})
	rec := b.Record()
	assert.Equal(t, `[{"__meta_ingest_time":"1970-01-01T00:00:01.234Z","__meta_key":"aw==","__meta_offset":5,"__meta_partition":"7","__meta_record_timestamp":"1970-01-01T00:00:00.001Z","__meta_source":"topic","v":0}
,{"__meta_ingest_time":"1970-01-01T00:00:01.234Z","__meta_key":null,"__meta_offset":6,"__meta_partition":"7","__meta_record_timestamp":"1970-01-01T00:00:00.002Z","__meta_source":"topic","v":1}
,{"__meta_ingest_time":"1970-01-01T00:00:01.234Z","__meta_key":"","__meta_offset":9,"__meta_partition":"7","__meta_record_timestamp":"1970-01-01T00:00:00.003Z","__meta_source":"topic","v":2}
]`, jsonOf(t, rec))
	rec.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

func jsonOf(t *testing.T, rec arrow.RecordBatch) string {
	text, err := rec.MarshalJSON()
	require.NoError(t, err)
	return string(text)
}

func TestN2_metaFaults(t *testing.T) {
	err := CheckMeta([]string{MetaOffset, "__meta_ofset", MetaOffset, MetaKey}, MetaOffset, MetaSource)
	assert.ErrorContains(t, err, `metadata[1]: no metadata column "__meta_ofset"; did you mean "__meta_offset"?`)
	assert.ErrorContains(t, err, `metadata[2]: "__meta_offset" stands there twice`)
	assert.ErrorContains(t, err, `metadata[3]: no metadata column "__meta_key"`)
	_, err = WithMeta(arrow.NewSchema([]arrow.Field{{Name: MetaKey, Type: arrow.BinaryTypes.String}}, nil), []string{MetaKey})
	assert.EqualError(t, err, `metadata: the rows have a column "__meta_key" already`)
	s, err := WithMeta(nil, []string{MetaKey})
	assert.NoError(t, err)
	assert.Nil(t, s)
}
