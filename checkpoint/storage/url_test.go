package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestURLsOfBuckets(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenURL(t.Context(), "file://"+dir+"/made")
	require.NoError(t, err)
	require.NoError(t, b.WriteAll(t.Context(), "x", []byte("1"), nil))
	require.NoError(t, b.Close())
	require.DirExists(t, dir+"/made")
	for url, want := range map[string]string{
		"file://relative/dir":     "the path of a file URL begins with a slash: file:///relative/dir",
		"htp://x":                 "there is no driver for htp://",
		"s3://bucket?secret=hush": `open bucket "s3://bucket": there is no driver for s3://`,
		"/var/lib":                "it is not a URL such as file:///var/lib/checkpoints",
		"%zz":                     "it is not a URL",
		"file:///dev/null":        `open bucket "file:///dev/null": `,
	} {
		_, err := OpenURL(t.Context(), url)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hush")
	}
	require.Equal(t, "s3://bucket/a", HideSecrets("s3://key:secret@bucket/a?token=1#x"))
}
