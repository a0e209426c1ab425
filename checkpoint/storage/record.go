package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// EncodeRecord puts a body, usually JSON, into the envelope of records that carry their own checksum: a line "arkflow KIND VERSION",
// the body, and a line with the SHA-256 of all before it. Kind is of [a-z].
func EncodeRecord(kind string, version int, body []byte) []byte {
	out := fmt.Appendf(nil, "arkflow %s %d\n", kind, version)
	out = append(append(out, body...), '\n')
	sum := sha256.Sum256(out)
	return append(hex.AppendEncode(append(out, "sha256 "...), sum[:]), '\n')
}

// DecodeRecord verifies an envelope and gives its body, a part of data. Another kind or version, or a wrong checksum, is a
// *DamagedError or *VersionError; no byte of the body is given out then.
func DecodeRecord(kind string, version int, data []byte) ([]byte, error) {
	const trailer = len("\nsha256 ") + 2*sha256.Size + len("\n")
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(rest) < trailer {
		return nil, &DamagedError{"it is no record, or cut off"}
	}
	sum := sha256.Sum256(data[:len(data)-trailer+1])
	if want := "\nsha256 " + hex.EncodeToString(sum[:]) + "\n"; string(data[len(data)-trailer:]) != want {
		return nil, &DamagedError{"its checksum is wrong"}
	}
	words := strings.Split(string(head), " ")
	if len(words) != 3 || words[0] != "arkflow" || words[1] != kind {
		return nil, &DamagedError{fmt.Sprintf("it begins with %q, want a record of kind %q", head, kind)}
	}
	if words[2] != strconv.Itoa(version) {
		return nil, &VersionError{Kind: kind, Version: words[2], Known: version}
	}
	return rest[:len(rest)-trailer], nil
}

// VersionError says that a record is of a version that this release does not know.
type VersionError struct {
	Kind    string
	Version string
	Known   int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s of format version %s: this release knows version %d: use the release that wrote it", e.Kind, e.Version, e.Known)
}
