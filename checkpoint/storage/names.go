package storage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxSegment  = 64 // characters
	maxSegments = 8
	digits      = 19 // of every number in a name: those of the greatest int64
)

// checkName refuses names that some kind of bucket treats in its own way: segments are of [a-z0-9], 1 to 64 characters, between
// single slashes, at most 8 of them.
func checkName(name string) error {
	segments := strings.Split(name, "/")
	if len(segments) > maxSegments {
		return permanent("name has %d segments, at most %d are allowed", len(segments), maxSegments)
	}
	for _, s := range segments {
		if len(s) == 0 || len(s) > maxSegment || strings.ContainsFunc(s, foreign) {
			return permanent("segment %q of the name must be 1 to %d characters of [a-z0-9]", s, maxSegment)
		}
	}
	return nil
}

func foreign(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }

// Names are the names of a job's objects (FORMAT.md). Segments of a level are of one width, and none is the beginning of another.
type Names struct{ root string }

// NamesOf gives the names of a job. Job names hold characters that object names do not, so that of the folder is a hash.
func NamesOf(job string) Names {
	sum := sha256.Sum256([]byte(job))
	return Names{hex.EncodeToString(sum[:16])}
}

// Root is the folder of the job, 32 characters.
func (n Names) Root() string { return n.root }

// Claim is the record by which a run was claimed.
func (n Names) Claim(run int64) string { return fmt.Sprintf("%s/claim/%0*d", n.root, digits, run) }

// Lease is the record that the holder of a claim renews.
func (n Names) Lease(run int64) string { return fmt.Sprintf("%s/lease/%0*d", n.root, digits, run) }

// Data is an object that a run wrote; it numbers them itself, each number once.
func (n Names) Data(run, number int64) string {
	return fmt.Sprintf("%s/piece/%0*d/%0*d", n.root, digits, run, digits, number)
}

// Manifest is the manifest of an epoch that a run sealed.
func (n Names) Manifest(epoch, run int64) string {
	return fmt.Sprintf("%s/epoch/%0*d/%0*d", n.root, digits, epoch, digits, run)
}

// Seal is the record of the job's seal of that number.
func (n Names) Seal(number int64) string { return fmt.Sprintf("%s/seal/%0*d", n.root, digits, number) }

// Seals is the folder of all seals.
func (n Names) Seals() string { return n.root + "/seal" }

// Leases is the folder of all leases.
func (n Names) Leases() string { return n.root + "/lease" }

// Pieces is the folder of all objects of Data.
func (n Names) Pieces() string { return n.root + "/piece" }

// Manifests is the folder of all manifests.
func (n Names) Manifests() string { return n.root + "/epoch" }

// Numbers are those in a name that Claim, Lease, Data, Manifest or Seal give, as they follow each other; nil for any other name.
func (n Names) Numbers(name string) (out []int64) {
	rest, ok := strings.CutPrefix(name, n.root+"/")
	if !ok {
		return nil
	}
	for _, s := range strings.Split(rest, "/")[1:] {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || len(s) != digits || v <= 0 {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// claimRun is the run of a name that Claim gives; ok is false for any other name.
func (n Names) claimRun(name string) (run int64, ok bool) {
	text, ok := strings.CutPrefix(name, n.root+"/claim/")
	if !ok || len(text) != digits {
		return 0, false
	}
	run, err := strconv.ParseInt(text, 10, 64)
	return run, err == nil && run > 0
}
