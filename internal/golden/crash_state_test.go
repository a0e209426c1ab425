package golden

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

const (
	noteBytes = 4 << 10 // of a row that is kept in state; it cannot be packed
	noteBatch = 256     // rows between two epochs: 1 MiB
	noteKeys  = 10 * noteBatch
)

var noteSchema = schemaOf(field("ts", arrow.PrimitiveTypes.Int64), field("key", arrow.PrimitiveTypes.Int64), field("note", arrow.BinaryTypes.String))

// notes are 12 batches, of one window: ten of new keys, and two in which keys get another note.
var notes = sync.OnceValue(func() []byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
	note := make([]byte, noteBytes)
	var text bytes.Buffer
	text.WriteString("ts,key,note\n")
	r := rand.NewChaCha8([32]byte{1})
	for i := range 12 * noteBatch {
		_, _ = r.Read(note) // never fails
		for k, c := range note {
			note[k] = letters[c%64]
		}
		fmt.Fprintf(&text, "%d,%d,%s\n", i, i%noteKeys, note)
	}
	return text.Bytes()
})

func writeNotes(dir string) error {
	return os.WriteFile(filepath.Join(dir, "notes.csv"), notes(), 0o666)
}

// notesJob keeps the greatest note of each key until the end.
func notesJob(dir string) *arkflow.Job {
	job := arkflow.NewJob("notes")
	job.Source("notes", file.Source{URL: filepath.Join(dir, "notes.csv"), Format: codec.CSV(noteSchema), BatchRows: noteBatch}, arkflow.EventTime("ts")).
		KeyBy("key").Window("w", window.Tumbling(time.Hour), window.Count().As("n"), window.Max("note").As("note")).
		Sink("out", file.Sink{URL: filepath.Join(dir, "out.jsonl"), Rotate: &file.Rotation{}, ExactlyOnce: true})
	return job
}

// S6: state that takes several segments, changes on top of it and bases that are written anew: after kills at any moment nothing is missing of it, and
// what is in the bucket is whole.
func TestS6GoldenCrashMatrixOfLargeState(t *testing.T) {
	largest, segments := int64(0), 0
	r := Crash(t, CrashJob{
		Input: writeNotes,
		Job:   notesJob,
		Output: allOf(linesOf("out*.jsonl"), verified("notes", func(e *checkpoint.SavedEpoch) {
			for _, o := range e.Manifest.Operators {
				for _, task := range o.Tasks {
					segments = max(segments, len(task.Segments))
					for _, s := range task.Segments {
						largest = max(largest, s.Size)
					}
				}
			}
		})),
		Tasks: []int{1, 2},
		Kills: kills(t, 8),
	})
	t.Logf("up to %d segments of up to %d bytes", segments, largest)
	require.Greater(t, largest, int64(8<<20), "no base was written of more than one segment")
	require.Greater(t, segments, 3, "no changes were written on top of it")
	require.Positive(t, r.Rounds)
}
