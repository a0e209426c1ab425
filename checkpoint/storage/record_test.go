package storage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes of a record are a format (FORMAT.md).
func TestRecordBytes(t *testing.T) {
	require.Equal(t, "arkflow claim 1\n{\"run\":7}\nsha256 669596a1cf9a757349438c6810b56651a9ae6403441266809acdcd21a641efcb\n", string(EncodeRecord("claim", 1, []byte(`{"run":7}`))))
}

func TestRecordsAreRefused(t *testing.T) {
	good := EncodeRecord("claim", 1, []byte(`{"run":7}`))
	body, err := DecodeRecord("claim", 1, good)
	require.NoError(t, err)
	require.Equal(t, `{"run":7}`, string(body))
	var damaged *DamagedError
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 1
		_, err := DecodeRecord("claim", 1, bad)
		require.ErrorAs(t, err, &damaged, "flipped at %d", i)
		_, err = DecodeRecord("claim", 1, good[:i])
		require.ErrorAs(t, err, &damaged, "cut to %d", i)
	}
	_, err = DecodeRecord("lease", 1, good)
	require.ErrorAs(t, err, &damaged)
	_, err = DecodeRecord("claim", 2, good)
	require.EqualError(t, err, "claim of format version 1: this release knows version 2: use the release that wrote it")
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add("claim", 1, EncodeRecord("claim", 1, []byte("{}")), []byte("\n"))
	f.Add("a", -1, []byte("arkflow a -1\n\nsha256 "), []byte(nil))
	f.Add("", 0, []byte(strings.Repeat("\n", 80)), []byte("x"))
	f.Fuzz(func(t *testing.T, kind string, version int, data, body []byte) {
		if got, err := DecodeRecord(kind, version, data); err == nil {
			require.Equal(t, data, EncodeRecord(kind, version, got))
		}
		if !strings.ContainsAny(kind, " \n") {
			got, err := DecodeRecord(kind, version, EncodeRecord(kind, version, body))
			require.NoError(t, err)
			require.Equal(t, string(body), string(got))
		}
	})
}

// So are the names of objects.
func TestNamesOfAJob(t *testing.T) {
	n := NamesOf("orders-rollup")
	require.Len(t, n.Root(), 32)
	require.Equal(t, "x/claim/0000000000000000007", strings.Replace(n.Claim(7), n.Root(), "x", 1))
	require.Equal(t, "x/lease/0000000000000000007", strings.Replace(n.Lease(7), n.Root(), "x", 1))
	require.Equal(t, "x/piece/0000000000000000007/9223372036854775807", strings.Replace(n.Data(7, 1<<63-1), n.Root(), "x", 1))
	require.Equal(t, "x/epoch/0000000000000000012/0000000000000000007", strings.Replace(n.Manifest(12, 7), n.Root(), "x", 1))
	for _, name := range []string{n.Claim(7), n.Lease(7), n.Data(7, 1), n.Manifest(12, 7), n.Root()} {
		require.NoError(t, checkName(name))
	}
	require.NotEqual(t, n, NamesOf("Orders-rollup"))
	run, ok := n.claimRun(n.Claim(7))
	require.True(t, ok)
	require.EqualValues(t, 7, run)
	for _, foreign := range []string{n.Lease(7), n.Claim(0), n.Root() + "/claim/7", n.Claim(7) + "0", NamesOf("x").Claim(7)} {
		_, ok := n.claimRun(foreign)
		require.False(t, ok, foreign)
	}
}
