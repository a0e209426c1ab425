package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// clicks gives the URL of a bucket in which the job of clicks.yaml has run for some seconds, and was stopped.
func clicks(t *testing.T) string {
	bucket := "file://" + filepath.ToSlash(t.TempDir()) + "/clicks"
	text, err := os.ReadFile("clicks.yaml")
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		b, err := storage.OpenURL(t.Context(), bucket)
		require.NoError(t, err)
		defer b.Close()
		jobs, err := arkflow.LoadJobs(arkflow.NewRegistry(), text)
		require.NoError(t, err)
		h, err := arkflow.Runtime{Bucket: b, Checkpoints: arkflow.Checkpoints{Owner: "host-1"}}.Start(t.Context(), jobs[0])
		require.NoError(t, err)
		time.Sleep(4500 * time.Millisecond)
		require.NoError(t, h.Stop(t.Context()))
	})
	return bucket
}

// shape is a text in which all numbers are one, and all blanks between two words.
func shape(text string) string {
	text = regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(text, "FOLDER")
	text = regexp.MustCompile(`\d+`).ReplaceAllString(text, "0")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(text, " "), "")
}

// The commands of the README print what it says, but for numbers.
func TestReadmeShowsWhatTheCommandsPrint(t *testing.T) {
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	bucket := clicks(t)
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"), -1) {
		line, want, _ := strings.Cut(block[1], "\n")
		args, ok := strings.CutPrefix(line, "$ go run ./examples/checkpoints ")
		if !ok {
			require.Equal(t, "$ go run ./examples/runspec -f examples/checkpoints/clicks.yaml -bucket file:///tmp/clicks", line)
			continue
		}
		var out bytes.Buffer
		code := run(t.Context(), strings.Fields(strings.Replace(args, "file:///tmp/clicks", bucket, 1)), env{&out, &out, operator.SystemClock{}})
		require.Zero(t, code, out.String())
		require.Equal(t, shape(want), shape(out.String()), line)
		ran++
	}
	require.Equal(t, len(verbs), ran, "one for each verb")
}
