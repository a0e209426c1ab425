package file_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/connectors/connectortest"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

var conformSchema = arrow.NewSchema([]arrow.Field{
	{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
}, nil)

// formats are those of files, by the ending of their names.
var formats = map[string]codec.Format{
	"jsonl": codec.JSON(conformSchema), "jsonl.gz": codec.JSON(conformSchema), "jsonl.zst": codec.JSON(nil),
	"csv": codec.CSV(conformSchema), "csv.gz": codec.CSV(nil), "csv.zst": codec.CSV(conformSchema).NoHeader().Delimiter(';').Null(`\N`),
	"arrow": arrowipc.New(conformSchema).BlockRows(250), "arrows": arrowipc.New(nil).BlockRows(250).Stream().Compress(arrowipc.Zstd),
	"parquet": parquet.New(conformSchema).GroupRows(250),
}

func TestN1_sinkConforms(t *testing.T) {
	for ending, f := range formats {
		for name, rotate := range map[string]*file.Rotation{"append": nil, "parts": {}, "rotated": {Rows: 150}} {
			if _, blocks := f.(codec.BlockFormat); blocks && rotate == nil {
				continue
			}
			t.Run(ending+" "+name, func(t *testing.T) {
				connectortest.Sink(t, connectortest.SinkCase{
					Schema: conformSchema,
					New: func(t *testing.T) (operator.Sink, func() []string) {
						dir := t.TempDir()
						return file.Sink{URL: filepath.Join(dir, "out."+ending), Format: f, Rotate: rotate}, func() []string { return visible(t, dir, ending, f) }
					},
					Broken: []operator.Sink{file.Sink{URL: filepath.Join(t.TempDir(), "none", "out."+ending), Format: f, Rotate: rotate},
						file.Sink{URL: "/proc/none/out." + ending, Format: f, Rotate: rotate}},
				})
			})
		}
	}
}

// visible gives the rows of the files in a directory that are not hidden.
func visible(t *testing.T, dir, ending string, f codec.Format) []string {
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range files {
		info, err := e.Info()
		require.NoError(t, err)
		if !strings.HasPrefix(e.Name(), ".") && info.Size() > 0 {
			return connectortest.ReadAll(t, file.Source{URL: dir + "/*." + ending, Format: f.WithSchema(conformSchema)})
		}
	}
	return nil
}

// quickDir gives a directory in memory, where syncs cost nothing, if the system has such.
func quickDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "arkflow-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func TestC12_sinkCommitsInTwoPhases(t *testing.T) {
	for ending, f := range formats {
		for name, rotate := range map[string]*file.Rotation{"parts": {}, "rotated": {Rows: 4}} {
			if rotate.Rows > 0 && ending != "csv" && ending != "parquet" {
				continue // what ends parts does not ask for their format
			}
			t.Run(ending+" "+name, func(t *testing.T) {
				connectortest.TwoPhase(t, connectortest.TwoPhaseCase{
					Schema: conformSchema,
					New: func(t *testing.T) connectortest.TwoPhaseSystem {
						dir := quickDir(t)
						return connectortest.TwoPhaseSystem{
							Sink: file.Sink{URL: filepath.Join(dir, "out."+ending), Format: f, Rotate: rotate, ExactlyOnce: true},
							Read: func() []string { return visible(t, dir, ending, f) },
							Left: func() (left []string) {
								left, err := filepath.Glob(dir + "/.*")
								require.NoError(t, err)
								return left
							},
						}
					},
				})
			})
		}
	}
}

func TestN1_sourceConforms(t *testing.T) {
	for ending, f := range formats {
		dir := t.TempDir()
		for i, n := range []int{600, 0, 3, 300} {
			fill(t, dir, "in-"+string(rune('a'+i)), ending, f, n)
		}
		for _, inOrder := range []bool{false, true} {
			for _, meta := range [][]string{nil, {connectors.MetaOffset, connectors.MetaSource, connectors.MetaPartition}} {
				name := ending
				if inOrder {
					name += " in order"
				}
				if meta != nil {
					name += " with metadata"
				}
				if meta != nil && !inOrder {
					continue
				}
				t.Run(name, func(t *testing.T) {
					connectortest.Source(t, connectortest.SourceCase{
						Source: file.Source{URL: dir + "/*." + ending, Format: f, InOrder: inOrder, BatchRows: 100, Metadata: meta},
						Broken: []operator.Source{
							file.Source{URL: filepath.Join(dir, "none."+ending), Format: f}, file.Source{URL: dir, Format: f},
							file.Source{URL: damaged(t, ending), Format: f},
						},
					})
				})
			}
		}
	}
}

// fill writes n rows to files in dir by the sink of the same format.
func fill(t *testing.T, dir, name, ending string, f codec.Format, n int) {
	rows := connectortest.Rows(conformSchema, 0, n)
	defer rows.Release()
	ctx := connectortest.Context(t)
	w, err := file.Sink{URL: filepath.Join(dir, name+"."+ending), Format: f}.Open(ctx, operator.Stream{Schema: conformSchema})
	require.NoError(t, err)
	if n > 0 {
		require.NoError(t, w.Write(rows))
	}
	require.NoError(t, w.Close())
}

// damaged makes a file that is none of its kind.
func damaged(t *testing.T, ending string) string {
	text := []byte("\"not closed\n")
	switch filepath.Ext(ending) {
	case ".gz":
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write(bytes.Repeat(text, 1000))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		text = out.Bytes()[:out.Len()/2]
	case ".zst":
		z, err := zstd.NewWriter(nil)
		require.NoError(t, err)
		text = z.EncodeAll(bytes.Repeat(text, 1000), nil)
		require.NoError(t, z.Close())
		text = text[:len(text)/2]
	}
	name := filepath.Join(t.TempDir(), "damaged."+ending)
	require.NoError(t, os.WriteFile(name, text, 0o600))
	return name
}
