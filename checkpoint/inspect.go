package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"gocloud.dev/blob"
)

// Inventory is what a bucket holds, as far as records and a listing tell. A listing may leave out what was written a moment ago.
type Inventory struct {
	Jobs   []JobInventory // sorted by name
	Others Pile           // objects that belong to no job, as those of savepoints in the same bucket
}

// JobInventory is what a bucket holds of one job.
type JobInventory struct {
	Job    string // "" where no record is left that names it
	Folder string // of all its objects

	Claims  []storage.Claim // all that could be read, oldest first
	Newest  storage.Claim   // of Run 0 where there is none
	Lease   storage.Lease   // of the newest claim; Beat 0 where there is none
	Renewed time.Time       // when that lease was written, by the bucket's clock
	Seal    storage.Seal    // the newest; of Number 0 where there is none
	Epochs  []SavedEpoch    // that the seal keeps, newest first: what the job can begin with

	Stored       Pile      // all its objects
	Unreferenced []Pile    // by run: manifests and segments that no kept epoch needs, those that a living run is writing among them
	Temporary    Pile      // files that are being written, or were when their process died; in buckets of files only
	Problems     []Problem // records that could not be read
}

// Pile is a number of objects.
type Pile struct {
	Run            int64 // that wrote them; 0 where they are of several
	Objects        int
	Bytes          int64
	Oldest, Newest time.Time // when they were written, by the bucket's clock
}

func (p *Pile) add(o storage.Info) {
	if p.Objects == 0 || o.ModTime.Before(p.Oldest) {
		p.Oldest = o.ModTime
	}
	if o.ModTime.After(p.Newest) {
		p.Newest = o.ModTime
	}
	p.Objects++
	p.Bytes += o.Size
}

// SavedEpoch is an epoch in a bucket, or a savepoint.
type SavedEpoch struct {
	Kept     storage.Kept // name, size and SHA-256 of its manifest
	Manifest *Manifest    // nil where it could not be read
	Err      error        // why

	bucket *storage.Bucket
}

// Problem is something in a bucket that is not as it was written.
type Problem struct {
	Object string // its name
	// Epoch, Operator and Subtask say to what it belongs, as far as it does.
	Epoch    int64
	Operator string
	Subtask  int
	Missing  bool // there is no such object
	Err      error
}

func (p Problem) String() string {
	var b strings.Builder
	if p.Epoch > 0 {
		fmt.Fprintf(&b, "epoch %d: ", p.Epoch)
	}
	if p.Operator != "" {
		fmt.Fprintf(&b, "operator %q subtask %d: ", p.Operator, p.Subtask)
	}
	fmt.Fprintf(&b, "object %q: %v", p.Object, p.Err)
	return b.String()
}

// problem makes a Problem of an error that says so; any other error is given back.
func problem(object string, err error) (Problem, error) {
	var version *storage.VersionError
	if Damaged(err) || errors.As(err, &version) {
		return Problem{Object: object, Missing: errors.Is(err, storage.ErrNotFound), Err: err}, nil
	}
	return Problem{}, err
}

// Inspect looks into a bucket without claiming anything, so beside running jobs too: it writes nothing. Of the options Name is for errors. Damaged
// records are told in Problems; an error is one of the bucket. The bucket stays open while the epochs of the result are used.
func Inspect(ctx context.Context, bucket *blob.Bucket, opts storage.Options) (*Inventory, error) {
	b, err := storage.Open(ctx, bucket, opts)
	if err != nil {
		return nil, err
	}
	folders, others, err := b.Folders(ctx)
	if err != nil {
		return nil, err
	}
	inv := &Inventory{}
	for _, o := range others {
		inv.Others.add(o)
	}
	for _, f := range folders {
		j, err := inspectJob(ctx, b, f)
		if err != nil {
			return nil, err
		}
		inv.Jobs = append(inv.Jobs, *j)
	}
	slices.SortFunc(inv.Jobs, func(x, y JobInventory) int {
		return cmp.Or(cmp.Compare(x.Job, y.Job), cmp.Compare(x.Folder, y.Folder))
	})
	return inv, nil
}

// Job gives the inventory of a job, or nil.
func (i *Inventory) Job(name string) *JobInventory {
	for k := range i.Jobs {
		if i.Jobs[k].Job == name {
			return &i.Jobs[k]
		}
	}
	return nil
}

// Epoch gives a kept epoch by its number, the newest for 0; nil where there is none.
func (j *JobInventory) Epoch(number int64) *SavedEpoch {
	for k := range j.Epochs {
		if number == 0 || j.Epochs[k].Kept.Epoch == number {
			return &j.Epochs[k]
		}
	}
	return nil
}

func inspectJob(ctx context.Context, b *storage.Bucket, f storage.Folder) (*JobInventory, error) {
	j := &JobInventory{Folder: f.Root}
	for _, o := range f.Objects {
		j.Stored.add(o)
	}
	temps, err := b.Temps(ctx, f.Root)
	if err != nil {
		return nil, err
	}
	for _, o := range temps {
		j.Temporary.add(o)
	}
	if err := j.name(ctx, b, f); err != nil || j.Job == "" {
		return j, err
	}
	if err := j.records(ctx, b, f); err != nil {
		return nil, err
	}
	for _, k := range j.Seal.Kept {
		e, err := openKept(ctx, b, j.Job, k)
		if err != nil {
			return nil, err
		}
		j.Epochs = append(j.Epochs, e)
	}
	j.Unreferenced = unreferenced(storage.NamesOf(j.Job), f.Objects, j.Epochs)
	return j, nil
}

// note keeps a problem; an error of another kind is given back.
func (j *JobInventory) note(object string, err error) error {
	if err == nil {
		return nil
	}
	p, err := problem(object, err)
	if err == nil && !slices.ContainsFunc(j.Problems, func(q Problem) bool { return q.Object == object }) {
		j.Problems = append(j.Problems, p)
	}
	return err
}

// name finds the name of the job in the first record that can be read.
func (j *JobInventory) name(ctx context.Context, b *storage.Bucket, f storage.Folder) error {
	for _, kind := range []string{"claim", "seal", "lease"} {
		for _, o := range f.Objects {
			if !strings.HasPrefix(o.Name, f.Root+"/"+kind+"/") {
				continue
			}
			job, err := b.JobOf(ctx, f.Root, o.Name)
			if err == nil {
				j.Job, j.Problems = job, nil // those before are met again
				return nil
			}
			if err := j.note(o.Name, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// records reads claims, lease and seal.
func (j *JobInventory) records(ctx context.Context, b *storage.Bucket, f storage.Folder) error {
	claims, names := storage.NewClaims(b, j.Job), storage.NamesOf(j.Job)
	for _, o := range f.Objects {
		numbers := names.Numbers(o.Name)
		if !strings.HasPrefix(o.Name, f.Root+"/claim/") || len(numbers) != 1 {
			continue
		}
		claim, err := claims.Load(ctx, numbers[0])
		if err == nil {
			j.Claims = append(j.Claims, claim)
		}
		if err := j.note(o.Name, err); err != nil {
			return err
		}
	}
	newest, held, err := claims.Latest(ctx)
	if err := j.note(objectOf(err, f.Root+"/claim"), err); err != nil {
		return err
	}
	if held {
		j.Newest = newest
		if j.Lease, err = claims.Lease(ctx, newest.Run); err != nil {
			if err := j.note(names.Lease(newest.Run), err); err != nil {
				return err
			}
		}
		for _, o := range f.Objects {
			if o.Name == names.Lease(newest.Run) {
				j.Renewed = o.ModTime
			}
		}
	}
	j.Seal, err = storage.NewSeals(b, j.Job).Latest(ctx, newest.Run+1)
	return j.note(objectOf(err, f.Root+"/seal"), err)
}

// objectOf is the object that an error of storage names.
func objectOf(err error, otherwise string) string {
	var at *storage.Error
	if errors.As(err, &at) {
		return at.Object
	}
	return otherwise
}

// openKept reads the manifest of an epoch. A damaged one is no error.
func openKept(ctx context.Context, b *storage.Bucket, job string, k storage.Kept) (SavedEpoch, error) {
	m, err := loadKept(ctx, b, job, k)
	e := SavedEpoch{Kept: k, Manifest: m, Err: err, bucket: b}
	if err == nil {
		return e, nil
	}
	_, err = problem(k.Name, err)
	return e, err
}

// InspectSavepoint reads the savepoint in a bucket, as storage.OpenURL opens it. The bucket stays open while the result is used.
func InspectSavepoint(ctx context.Context, bucket *blob.Bucket, opts storage.Options) (*SavedEpoch, error) {
	b, err := storage.Open(ctx, bucket, opts)
	if err != nil {
		return nil, err
	}
	m, size, err := readSavepoint(ctx, b)
	if err != nil {
		return nil, savepointError(b.Name(), err)
	}
	return &SavedEpoch{Kept: storage.Kept{Epoch: m.Epoch, Run: m.Run, Name: savepointManifest, Size: size}, Manifest: m, bucket: b}, nil
}

// unreferenced counts, by run, the manifests and segments that no epoch needs.
func unreferenced(names storage.Names, objects []storage.Info, epochs []SavedEpoch) (out []Pile) {
	live := map[string]bool{}
	for _, e := range epochs {
		live[e.Kept.Name] = true
		if e.Manifest != nil {
			for _, s := range e.Manifest.segments() {
				live[s.Name] = true
			}
		}
	}
	by := map[int64]*Pile{}
	for _, o := range objects {
		run, ok := writer(names, o.Name)
		if !ok || live[o.Name] {
			continue
		}
		if by[run] == nil {
			by[run] = &Pile{Run: run}
		}
		by[run].add(o)
	}
	for _, p := range by {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(x, y Pile) int { return cmp.Compare(x.Run, y.Run) })
	return out
}

// writer gives the run that wrote a manifest or segment.
func writer(names storage.Names, object string) (run int64, ok bool) {
	n := names.Numbers(object)
	switch {
	case len(n) != 2:
		return 0, false
	case object == names.Data(n[0], n[1]):
		return n[0], true
	case object == names.Manifest(n[0], n[1]):
		return n[1], true
	}
	return 0, false
}

// Entries is the number of rows of state in the segments of the operator, those that later ones replace included.
func (o *OperatorRecord) Entries() (n int64) {
	for _, t := range o.Tasks {
		for _, s := range t.Segments {
			n += s.Entries
		}
	}
	return n
}

// Bytes is the size of the segments of the operator.
func (o *OperatorRecord) Bytes() (n int64) {
	for _, t := range o.Tasks {
		for _, s := range t.Segments {
			n += s.Size
		}
	}
	return n
}

// Segments is the number of segments of the operator.
func (o *OperatorRecord) Segments() (n int) {
	for _, t := range o.Tasks {
		n += len(t.Segments)
	}
	return n
}
