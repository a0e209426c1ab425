// Command checkpoints looks into a bucket of checkpoints, or a savepoint, beside running jobs.
//
//	go run ./examples/checkpoints -bucket URL list                        what there is of which job
//	go run ./examples/checkpoints -bucket URL [-job NAME] [-epoch N] show     operators, positions and runs
//	go run ./examples/checkpoints -bucket URL [-job NAME] [-epoch N] verify   reads every object that is needed
//	go run ./examples/checkpoints -bucket URL [-job NAME] [-epoch N] dump     positions, values and rows as JSON lines
//	go run ./examples/checkpoints -bucket URL -job NAME [-dry-run] sweep      deletes what crashed executions left
//	go run ./examples/checkpoints -savepoint URL show|verify|dump
//
// Only sweep writes anything. The program ends with 0; with 1 where something is missing, damaged, or cannot be read; with 2 where the command line is
// wrong. file:// is linked; for s3://, gs:// and azblob:// add a blank import of gocloud.dev/blob/s3blob, gcsblob or azureblob.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/operator"
)

// The codes that the program ends with.
const (
	exitOK      = 0
	exitDamaged = 1
	exitInvalid = 2
)

// env is what the program has of the world.
type env struct {
	stdout, stderr io.Writer
	clock          operator.Clock
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], env{os.Stdout, os.Stderr, operator.SystemClock{}}))
}

// options are the command line.
type options struct {
	bucket, savepoint string
	verb              string
	job               string
	epoch             int64
	operator, table   string
	grace             time.Duration
	dryRun            bool
}

var verbs = []string{"list", "show", "verify", "dump", "sweep"}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("checkpoints", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.bucket, "bucket", "", "the `URL` of the bucket, such as file:///var/lib/checkpoints")
	flags.StringVar(&o.savepoint, "savepoint", "", "the `URL` of a savepoint, in place of a bucket")
	flags.StringVar(&o.job, "job", "", "the `name` of the job; defaults to all, for dump to the only one")
	flags.Int64Var(&o.epoch, "epoch", 0, "the `number` of a kept epoch; defaults to all, for dump to the newest")
	flags.StringVar(&o.operator, "operator", "", "dump: the `ID` of the only source or operator; defaults to all")
	flags.StringVar(&o.table, "table", "", "dump: the `name` of the only table, and nothing but rows; defaults to all")
	flags.DurationVar(&o.grace, "grace", checkpoint.DefaultSweepGrace, "sweep: how old an object must be")
	flags.BoolVar(&o.dryRun, "dry-run", false, "sweep: say what would be deleted, and delete nothing")
	flags.Usage = func() {
		fmt.Fprintf(stderr, "checkpoints [options] %s\n", strings.Join(verbs, "|"))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.verb = flags.Arg(0)
	if flags.NArg() > 1 { // options may follow the verb
		if err := flags.Parse(flags.Args()[1:]); err != nil {
			return o, err
		}
		if flags.NArg() > 0 {
			err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		}
	}
	if err == nil {
		err = o.check()
	}
	if err != nil {
		fmt.Fprintln(stderr, "checkpoints:", err)
		flags.Usage()
	}
	return o, err
}

func (o options) check() error {
	switch {
	case !slices.Contains(verbs, o.verb):
		return fmt.Errorf("give one of %s, not %q", strings.Join(verbs, ", "), o.verb)
	case (o.bucket == "") == (o.savepoint == ""):
		return errors.New("give either -bucket or -savepoint")
	case o.savepoint != "" && (o.verb == "list" || o.verb == "sweep"):
		return fmt.Errorf("%s needs -bucket: nothing in a savepoint is ever deleted", o.verb)
	case o.savepoint != "" && (o.job != "" || o.epoch != 0):
		return errors.New("a savepoint is one epoch of one job: give no -job and no -epoch")
	case o.verb == "sweep" && o.job == "":
		return errors.New("sweep needs -job")
	case o.grace <= 0:
		return fmt.Errorf("-grace %s: give a time > 0", o.grace)
	case o.epoch < 0:
		return fmt.Errorf("-epoch %d: give a number > 0", o.epoch)
	}
	return nil
}

// errDamaged says that what is wrong has been told.
var errDamaged = errors.New("damaged")

// run is the program; it gives the code to end with.
func run(ctx context.Context, args []string, e env) int {
	o, err := parse(args, e.stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitInvalid
	}
	if err := e.execute(ctx, o); err != nil {
		if !errors.Is(err, errDamaged) {
			fmt.Fprintln(e.stderr, "checkpoints:", err)
		}
		return exitDamaged
	}
	return exitOK
}

// existing is a URL that does not make the directory that it names.
func existing(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "file" || u.Query().Has("create_dir") {
		return raw
	}
	q := u.Query()
	q.Set("create_dir", "") // any value makes it
	u.RawQuery = q.Encode()
	return u.String()
}

func (e env) execute(ctx context.Context, o options) (err error) {
	at := o.bucket + o.savepoint // one of them is empty
	bucket, err := storage.OpenURL(ctx, existing(at))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bucket.Close()) }()
	use := storage.Options{Name: storage.HideSecrets(at)}
	if o.savepoint != "" {
		saved, err := checkpoint.InspectSavepoint(ctx, bucket, use)
		if err != nil {
			return err
		}
		return e.savepoint(ctx, o, saved)
	}
	if o.verb == "sweep" {
		swept, err := checkpoint.Sweep(ctx, bucket, o.job, checkpoint.SweepOptions{Grace: o.grace, DryRun: o.dryRun, Clock: e.clock, Storage: use})
		e.swept(o, swept)
		return err
	}
	inv, err := checkpoint.Inspect(ctx, bucket, use)
	if err != nil {
		return err
	}
	jobs := inv.Jobs
	if o.job != "" {
		j := inv.Job(o.job)
		if j == nil {
			return fmt.Errorf("no job %q in the bucket; there are %s", o.job, quoted(jobs))
		}
		jobs = []checkpoint.JobInventory{*j}
	}
	switch o.verb {
	case "list":
		return e.list(inv, jobs)
	case "show":
		return e.show(o, jobs)
	case "verify":
		return e.verify(ctx, o, jobs)
	}
	if len(jobs) != 1 {
		return fmt.Errorf("give the job with -job; there are %s", quoted(jobs))
	}
	epoch, err := epochOf(&jobs[0], o.epoch)
	if err != nil {
		return err
	}
	return e.dump(ctx, o, epoch)
}

// savepoint shows, verifies or dumps a savepoint.
func (e env) savepoint(ctx context.Context, o options, saved *checkpoint.SavedEpoch) error {
	switch o.verb {
	case "show":
		fmt.Fprintf(e.stdout, "savepoint of job %s\n", saved.Manifest.Job)
		e.showEpoch(saved)
		return nil
	case "verify":
		v, err := saved.Verify(ctx)
		if err != nil {
			return err
		}
		return e.verified("savepoint of job "+saved.Manifest.Job, v)
	}
	return e.dump(ctx, o, saved)
}

// epochOf gives a kept epoch, the newest for 0.
func epochOf(j *checkpoint.JobInventory, number int64) (*checkpoint.SavedEpoch, error) {
	epoch := j.Epoch(number)
	if epoch != nil {
		return epoch, nil
	}
	var kept []string
	for _, e := range j.Epochs {
		kept = append(kept, fmt.Sprint(e.Kept.Epoch))
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("job %q has no epoch", j.Job)
	}
	return nil, fmt.Errorf("job %q has no epoch %d; there are %s", j.Job, number, strings.Join(kept, ", "))
}

func quoted(jobs []checkpoint.JobInventory) string {
	var names []string
	for _, j := range jobs {
		names = append(names, fmt.Sprintf("%q", j.Job))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
