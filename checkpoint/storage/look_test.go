package storage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
)

func TestTemporaryFilesAreToldByTheirNames(t *testing.T) {
	token := strings.Repeat("0123456789abcdef", 2)
	for name, want := range map[string]bool{
		"a/b." + token + ".tmp":               true,
		"a/b." + token:                        false,
		"a/b." + token[1:] + ".tmp":           false,
		"a/b." + token + "0.tmp":              false,
		"a/b." + token[1:] + "g.tmp":          false,
		"a/." + token + ".tmp":                false,
		"." + token + ".tmp":                  false,
		token + ".tmp":                        false,
		"a/B." + token + ".tmp":               false,
		"../b." + token + ".tmp":              false,
		"a/b." + token + ".tmp.attrs":         false,
		"a/b." + token + "." + token + ".tmp": false,
	} {
		require.Equal(t, want, isTemp(name), name)
	}
}

func TestFoldersGroupsObjectsByJob(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	b, err := Open(t.Context(), bucket, Options{})
	require.NoError(t, err)
	n, m := NamesOf("orders"), NamesOf("other")
	for _, name := range []string{n.Claim(1), n.Data(1, 1), m.Seal(3), n.Root() + "/x/1", "a", "savepoint/manifest", "FOREIGN"} {
		require.NoError(t, bucket.WriteAll(t.Context(), name, []byte("1"), nil))
	}
	jobs, others, err := b.Folders(t.Context())
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	for _, f := range jobs {
		want := map[string]int{n.Root(): 2, m.Root(): 1}[f.Root]
		require.Len(t, f.Objects, want)
	}
	require.Len(t, others, 3, "names that no release writes are left out")
	temps, err := b.Temps(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, temps)
	require.ErrorContains(t, b.RemoveTemp(t.Context(), "a"), "it is no temporary file")
}

func TestJobOfReadsTheNameInARecord(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	b, err := Open(t.Context(), bucket, Options{})
	require.NoError(t, err)
	c := NewClaims(b, "orders")
	_, err = c.Claim(t.Context(), "me", 0)
	require.NoError(t, err)
	n := NamesOf("orders")
	job, err := b.JobOf(t.Context(), n.Root(), n.Claim(1))
	require.NoError(t, err)
	require.Equal(t, "orders", job)
	claim, err := c.Load(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, "me", claim.Owner)
	data, err := bucket.ReadAll(t.Context(), n.Claim(1))
	require.NoError(t, err)
	moved := NamesOf("other").Claim(1)
	require.NoError(t, bucket.WriteAll(t.Context(), moved, data, nil))
	_, err = b.JobOf(t.Context(), NamesOf("other").Root(), moved)
	require.ErrorContains(t, err, `it is of job "orders", whose folder is another`)
	_, err = c.Load(t.Context(), 2)
	require.ErrorIs(t, err, ErrNotFound)
}
