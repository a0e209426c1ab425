// Command runspec runs the jobs of a JobSpec document, in YAML or JSON.
//
//	go run ./examples/runspec -f jobs.yaml [-job ID] [-validate|-explain|-dot]
//	go run ./examples/runspec -f jobs.yaml -bucket file:///var/lib/checkpoints [-rescale] [-fresh|-fallback] [-standby]
//	go run ./examples/runspec -f jobs.yaml -job ID -savepoint URL [-bucket URL] [-rescale]
//	go run ./examples/runspec -schema > jobspec.schema.json
//
// Once a second it says on stderr how each job is doing. An interrupt stops the jobs: rows in flight reach the sinks, open windows are
// not fired. A second one cancels them, a third one waits for nothing. With -bucket, jobs that are started again go on where they were, with their open
// windows. The program ends with 0 when all went well, with 1 when a job failed or was cancelled, and with 2, before anything is started, when the document
// or the command line is wrong. file:// is linked; for s3://, gs:// and azblob:// add a blank import of gocloud.dev/blob/s3blob, gcsblob or azureblob.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/hashicorp/go-multierror"
)

// The codes that the program ends with.
const (
	exitOK      = 0
	exitFailed  = 1 // a job failed or was cancelled
	exitInvalid = 2 // nothing was started
)

// env is what the program has of the world.
type env struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	signals <-chan os.Signal
	clock   operator.Clock
}

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], env{os.Stdin, os.Stdout, os.Stderr, signals, operator.SystemClock{}}))
}

// options are the command line.
type options struct {
	file, job                      string
	validate, explain, dot, schema bool

	bucket, savepoint                 string
	rescale, fresh, fallback, standby bool
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("runspec", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.file, "f", "", "the `document` with the jobs, in YAML or JSON; - is the standard input")
	flags.StringVar(&o.job, "job", "", "the `ID` of the only job to take; defaults to all")
	flags.BoolVar(&o.validate, "validate", false, "check the jobs and start nothing")
	flags.BoolVar(&o.explain, "explain", false, "print the plan of the jobs and start nothing")
	flags.BoolVar(&o.dot, "dot", false, "print the plan in the language of Graphviz and start nothing")
	flags.BoolVar(&o.schema, "schema", false, "print the JSON Schema of documents and do nothing else")
	flags.StringVar(&o.bucket, "bucket", "", "the `URL` where checkpoints are kept, such as file:///var/lib/checkpoints; defaults to none: a job begins afresh")
	flags.StringVar(&o.savepoint, "savepoint", "", "the `URL` of a savepoint to begin with, at this start; of one job")
	flags.BoolVar(&o.rescale, "rescale", false, "go on at another parallelism than the checkpoint has")
	flags.BoolVar(&o.fresh, "fresh", false, "begin afresh although the bucket has checkpoints")
	flags.BoolVar(&o.fallback, "fallback", false, "begin with an earlier checkpoint where the last one is damaged: rows since then are written again")
	flags.BoolVar(&o.standby, "standby", false, "wait while another process runs the jobs; by default they are taken over from it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	} else {
		err = o.check()
	}
	if err != nil {
		fmt.Fprintln(stderr, "runspec:", err)
		flags.Usage()
	}
	return o, err
}

// check says what does not go together.
func (o options) check() error {
	modes := 0
	for _, on := range []bool{o.validate, o.explain, o.dot, o.schema} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return errors.New("give one of -validate, -explain, -dot and -schema")
	case o.file == "" && !o.schema:
		return errors.New("give the document with -f")
	case o.bucket == "" && (o.fresh || o.fallback || o.standby):
		return errors.New("-fresh, -fallback and -standby need -bucket")
	case o.bucket == "" && o.savepoint == "" && o.rescale:
		return errors.New("-rescale needs -bucket or -savepoint")
	case o.savepoint != "" && (o.fresh || o.fallback):
		return errors.New("-savepoint says what to begin with: give no -fresh and no -fallback")
	case o.fresh && o.rescale:
		return errors.New("-fresh begins without state, and -rescale redistributes it: give one of them")
	case o.fresh && o.fallback:
		return errors.New("give one of -fresh and -fallback")
	}
	return nil
}

// run is the program; it gives the code to end with.
func run(args []string, e env) int {
	e.stderr = stdout.Locked(e.stderr) // jobs log while progress is told
	o, err := parse(args, e.stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitInvalid
	case o.schema:
		return e.printSchema()
	}
	jobs, err := load(o, e.stdin)
	if err != nil {
		for _, f := range list(err) {
			fmt.Fprintln(e.stderr, f)
		}
		return exitInvalid
	}
	if o.validate || o.explain || o.dot {
		return e.show(o, jobs)
	}
	if o.savepoint != "" && len(jobs) != 1 {
		fmt.Fprintln(e.stderr, "runspec: a savepoint is of one job: give it with -job")
		return exitInvalid
	}
	return e.execute(o, jobs)
}

func (e env) printSchema() int {
	schema, err := arkflow.SpecSchema()
	if err == nil {
		_, err = e.stdout.Write(schema)
	}
	if err != nil {
		fmt.Fprintln(e.stderr, "runspec:", err)
		return exitFailed
	}
	return exitOK
}

// load reads the document and makes its jobs.
func load(o options, stdin io.Reader) ([]*arkflow.Job, error) {
	var data []byte
	var err error
	if o.file == "-" {
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(o.file)
	}
	if err != nil {
		return nil, err
	}
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	if o.job != "" {
		return arkflow.LoadJobs(reg, data, o.job)
	}
	return arkflow.LoadJobs(reg, data)
}

// registry holds every component that there is.
func registry() (*arkflow.Registry, error) {
	reg := arkflow.NewRegistry()
	return reg, parquet.Register(reg)
}

// list gives the members of a list of errors, or the one error.
func list(err error) []error {
	var many *multierror.Error
	if errors.As(err, &many) {
		return many.Errors
	}
	return []error{err}
}

// show tells of the jobs what was asked, without starting them.
func (e env) show(o options, jobs []*arkflow.Job) int {
	for i, j := range jobs {
		plan, err := j.Compile()
		if err != nil {
			for _, f := range list(err) {
				fmt.Fprintln(e.stderr, f)
			}
			return exitInvalid
		}
		text := fmt.Sprintf("job %s is valid\n", j.Name())
		switch {
		case o.explain:
			text = plan.Explain()
		case o.dot:
			text = plan.DOT()
		}
		if i > 0 && o.explain {
			text = "\n" + text
		}
		if _, err := io.WriteString(e.stdout, text); err != nil {
			fmt.Fprintln(e.stderr, "runspec:", err)
			return exitFailed
		}
		if !o.explain { // which tells them itself
			for _, w := range plan.Warnings() {
				fmt.Fprintf(e.stderr, "job %s: warning: %s\n", j.Name(), w)
			}
		}
	}
	return exitOK
}
