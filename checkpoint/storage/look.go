package storage

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is what a bucket holds of one job.
type Folder struct {
	Root    string // 32 characters: see Names.Root
	Objects []Info // sorted by name
}

// levels are what may follow the root in the name of a job's object.
var levels = []string{"claim", "lease", "piece", "epoch", "seal"}

// Folders lists the whole bucket: the folders of jobs, sorted, and all other objects whose names ArkFlow could have written, as those of
// savepoints. A bucket may leave out what was written a moment ago.
func (b *Bucket) Folders(ctx context.Context) (jobs []Folder, others []Info, err error) {
	all, err := b.List(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		parts := strings.Split(o.Name, "/")
		if len(parts) < 3 || len(parts[0]) != 32 || !slices.Contains(levels, parts[1]) {
			others = append(others, o)
			continue
		}
		if len(jobs) == 0 || jobs[len(jobs)-1].Root != parts[0] {
			jobs = append(jobs, Folder{Root: parts[0]})
		}
		at := &jobs[len(jobs)-1]
		at.Objects = append(at.Objects, o)
	}
	return jobs, others, nil
}

// JobOf reads the name of a job in a record of its folder, a claim, lease or seal. The error is a *DamagedError where the record says that it
// belongs to another folder.
func (b *Bucket) JobOf(ctx context.Context, folder, record string) (job string, err error) {
	kind := strings.Split(strings.TrimPrefix(record, folder+"/"), "/")[0]
	var r struct {
		Job string `json:"job"`
	}
	err = b.readRecord(ctx, record, kind, &r)
	if err == nil && NamesOf(r.Job).root != folder {
		err = b.fail("read", record, &DamagedError{"it is of job " + quote(r.Job) + ", whose folder is another"})
	}
	return r.Job, err
}

func quote(s string) string {
	b, _ := json.Marshal(s) // of a string: no error
	return string(b)
}

// Load reads the claim of a run.
func (c *Claims) Load(ctx context.Context, run int64) (Claim, error) {
	claim, err := c.load(ctx, run)
	return claim, c.wrap("read a claim", err)
}

// isTemp reports whether a file is one that was being written: NAME.TOKEN.tmp.
func isTemp(name string) bool {
	rest, ok := strings.CutSuffix(name, tempSuffix)
	dot := strings.LastIndexByte(rest, '.')
	return ok && dot > 0 && len(rest)-dot-1 == 32 && strings.Trim(rest[dot+1:], "0123456789abcdef") == "" && checkName(rest[:dot]) == nil
}

// Temps gives the files below a folder ("": all) of a bucket of files that are being written, or were when their process died; their times say when they were
// written last. None in any other bucket.
func (b *Bucket) Temps(ctx context.Context, folder string) (out []Info, err error) {
	if b.files == nil {
		return nil, nil
	}
	prefix := ""
	if folder != "" {
		prefix = folder + "/"
	}
	err = b.do(ctx, "list", folder, func(ctx context.Context) (err error) {
		out, err = b.files.list(ctx, prefix, isTemp)
		return err
	})
	return out, err
}

// RemoveTemp removes a file that Temps gave. One that is not there is no error.
func (b *Bucket) RemoveTemp(ctx context.Context, name string) error {
	if b.files == nil || !isTemp(name) {
		return b.fail("delete", name, permanent("it is no temporary file"))
	}
	return b.do(ctx, "delete", name, func(context.Context) error {
		if err := os.Remove(b.files.base + filepath.FromSlash(name)); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	})
}
