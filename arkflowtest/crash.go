package arkflowtest

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow"
)

// CrashJob is a job that Crash kills. Job is required, and one of Output and Repeats.
type CrashJob struct {
	// Input writes the files that the job reads into dir, which is empty, always the same. Defaults to nothing.
	Input func(dir string) error
	// Job gives the job as the program builds it; what it reads and writes is below dir.
	Job func(dir string) *arkflow.Job
	// Output gives the rows, as texts in any order, of sinks that deliver exactly once, as a reader sees them now. Defaults to none.
	Output func(dir string) ([]string, error)
	// Repeats gives the rows of sinks that deliver at least once: some may be there several times. Defaults to none.
	Repeats func(dir string) ([]string, error)
	// Kills is how often the job is killed: first at each step once, in random order, then at random moments. A job has some sixty
	// steps in the bucket and ten a sink. Defaults to DefaultKills.
	Kills int
	// Tasks are the numbers of tasks, of every source, operator and sink, of executions that follow each other; from the last it goes on with
	// the first. Defaults to what the job says, always.
	Tasks []int
	// Every is the time between checkpoints, beside those that are taken after each batch of a source. Defaults to never.
	Every time.Duration
	// Seed chooses the moments. Defaults to a fresh one, which is printed.
	Seed uint64
	// Timeout is how long one execution may take. Defaults to DefaultTimeout.
	Timeout time.Duration
}

// DefaultKills is how often Crash kills a job where a test says nothing.
const DefaultKills = 50

// CrashReport is what Crash did.
type CrashReport struct {
	Kills  int      // executions that were killed
	Rounds int      // times that the job came to its end
	Steps  []string // at which it was killed, sorted; those of recovery too, where it came to them
	Missed []string // that are left, sorted: Kills were too few, or it did not come to them again
}

// Crash kills a job at the steps of what it writes, and at random moments, and starts it again until it is done: what its sinks then hold
// must be what an uninterrupted run writes, exactly (Output) or with rows that are there several times (Repeats). It is a whole test by itself,
// as it starts the test that calls it once more, as a process of its own for each execution: what the test does before is done there too.
//
//	func TestOrdersSurviveKills(t *testing.T) {
//		arkflowtest.Crash(t, arkflowtest.CrashJob{Input: writeOrders, Job: OrdersPerMinute, Output: readResults})
//	}
//
// The job gets a bucket of files as its Runtime.Bucket, beside dir. An epoch is taken after every batch of a source, so give a file.Source few
// BatchRows. Steps are those before and after each create, write, sync, link or rename and delete in the bucket, and of files of a file.Sink.
// Kills are those of SIGKILL, so what the process has written the system keeps; what a machine loses that stops is not tried.
func Crash(t TB, job CrashJob) CrashReport {
	t.Helper()
	_, file, at, _ := runtime.Caller(1)
	line := fmt.Sprintf("%s:%d", filepath.Base(file), at)
	plan, err := crashPlanOf(t.Name(), line)
	if err == nil && plan != nil {
		plan.execute(t, job) // never returns
	}
	if err == nil {
		err = job.check()
	}
	if err != nil {
		t.Fatalf("arkflowtest: crash: %v", err)
		return CrashReport{}
	}
	if job.Kills == 0 {
		job.Kills = DefaultKills
	}
	if job.Timeout == 0 {
		job.Timeout = DefaultTimeout
	}
	if len(job.Tasks) == 0 {
		job.Tasks = []int{0}
	}
	if job.Seed == 0 {
		job.Seed = new(maphash.Hash).Sum64() // a seed of its own in each process
	}
	c := &crashes{t: t, line: line, job: job, random: rand.New(rand.NewPCG(job.Seed, 0)), killed: map[string]bool{}, tries: map[string]int{}}
	if c.root, err = os.MkdirTemp("", "arkflow-crash-"); err == nil {
		err = c.run()
	}
	t.Logf("seed %d: %d kills at %d steps and at random, %d rounds, %d steps left", job.Seed, c.report.Kills, len(c.killed), c.report.Rounds, len(c.report.Missed)+len(c.pending))
	if err != nil {
		t.Fatalf("crash: seed %d: %v (files are kept in %s)", job.Seed, err, c.root)
	} else if err := os.RemoveAll(c.root); err != nil {
		t.Errorf("crash: %v", err)
	}
	c.report.Steps = slices.Sorted(maps.Keys(c.killed))
	c.report.Missed = slices.Sorted(slices.Values(append(c.report.Missed, c.pending...)))
	return c.report
}

func (j CrashJob) check() error {
	switch {
	case j.Job == nil:
		return errors.New("CrashJob.Job is nil: give the function that builds the job")
	case j.Output == nil && j.Repeats == nil:
		return errors.New("CrashJob has neither Output nor Repeats: give a function that reads what the job has written")
	case j.Kills < 0 || j.Every < 0 || j.Timeout < 0:
		return fmt.Errorf("kills %d, every %s, timeout %s: give numbers > 0, or 0 for the defaults", j.Kills, j.Every, j.Timeout)
	}
	for _, n := range j.Tasks {
		if n < 1 {
			return fmt.Errorf("%d tasks: give numbers > 0", n)
		}
	}
	return nil
}

// crashes is a call of Crash, in the process that kills the others.
type crashes struct {
	t      TB
	line   string // of the call
	job    CrashJob
	root   string
	random *rand.Rand
	report CrashReport

	executions   int            // started
	dir          string         // of the round
	want, wanted []string       // of Output and Repeats, sorted
	total        int            // steps of the uninterrupted run
	counts       map[string]int // in it, by step
	pending      []string       // steps at which it was not killed yet
	killed       map[string]bool
	tries        map[string]int
}

// maxTries is how many executions are started for one step.
const maxTries = 4

func (c *crashes) run() error {
	if err := c.uninterrupted(); err != nil {
		return fmt.Errorf("uninterrupted run: %w", err)
	}
	for c.report.Kills < c.job.Kills {
		if err := c.round(); err != nil {
			return err
		}
	}
	return nil
}

func (c *crashes) uninterrupted() error {
	if err := c.begin("uninterrupted"); err != nil {
		return err
	}
	r, err := c.execute(crashPlan{})
	if err != nil {
		return err
	}
	c.counts = r.Steps
	for name, n := range r.Steps {
		c.total += n
		c.pending = append(c.pending, name)
	}
	slices.Sort(c.pending)
	c.random.Shuffle(len(c.pending), func(i, k int) { c.pending[i], c.pending[k] = c.pending[k], c.pending[i] })
	if c.want, err = c.read(c.job.Output); err == nil {
		c.wanted, err = c.read(c.job.Repeats)
	}
	if err == nil && len(c.want)+len(c.wanted) == 0 {
		err = errors.New("it wrote no rows: nothing would show whether any are lost")
	}
	return err
}

// begin makes the directories of a round.
func (c *crashes) begin(name string) error {
	c.dir = filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Join(c.dir, "files"), 0o777); err != nil {
		return err
	}
	if c.job.Input == nil {
		return nil
	}
	return c.job.Input(filepath.Join(c.dir, "files"))
}

func (c *crashes) read(f func(string) ([]string, error)) ([]string, error) {
	if f == nil {
		return nil, nil
	}
	rows, err := f(filepath.Join(c.dir, "files"))
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return rows, err
}

// round kills the job again and again, until it comes to its end before it could be killed.
func (c *crashes) round() error {
	if err := c.begin(fmt.Sprintf("round-%d", c.report.Rounds)); err != nil {
		return err
	}
	var trace []string
	for {
		p := c.next()
		r, err := c.execute(p)
		trace = append(trace, fmt.Sprintf("%d tasks: %s", p.Tasks, r))
		if err == nil && r.Killed == "" {
			err = c.compare()
		}
		if err != nil {
			return fmt.Errorf("round %d: %w\nits executions:\n\t%s", c.report.Rounds, err, strings.Join(trace, "\n\t"))
		}
		c.note(p, r)
		if r.Killed == "" {
			break
		}
	}
	c.report.Rounds++
	return os.RemoveAll(c.dir)
}

// next chooses the next moment: a step that is pending, else any. Steps that no uninterrupted run comes to, as those of recovery, are taken
// as they come.
func (c *crashes) next() (p crashPlan) {
	switch {
	case c.report.Kills >= c.job.Kills:
		return p
	case len(c.pending) > 0:
		p = crashPlan{Step: c.pending[0], Count: 1}
		if c.tries[p.Step] == 0 { // later on it is taken where it comes first
			p.Count += c.random.IntN(min(c.counts[p.Step], 3))
		}
	default:
		p = crashPlan{Count: 1 + c.random.IntN(max(c.total/2, 1)), Delay: time.Duration(c.random.IntN(3000)) * time.Microsecond}
	}
	p.Known = slices.AppendSeq(slices.Collect(maps.Keys(c.counts)), maps.Keys(c.killed))
	return p
}

// note takes what an execution came to.
func (c *crashes) note(p crashPlan, r crashResult) {
	if r.Killed != "" {
		c.report.Kills++
	}
	if r.Exact {
		c.killed[r.Killed] = true
		c.pending = slices.DeleteFunc(c.pending, func(s string) bool { return s == r.Killed })
		return
	}
	if p.Step == "" {
		return
	}
	if c.tries[p.Step]++; c.tries[p.Step] == maxTries { // else it is the first of the next round
		c.pending = c.pending[1:]
		c.report.Missed = append(c.report.Missed, p.Step)
	}
}

// compare looks at what a round has written.
func (c *crashes) compare() error {
	rows, err := c.read(c.job.Output)
	if err != nil {
		return err
	}
	if err := sameRows(rows, c.want, false); err != nil {
		return fmt.Errorf("output of exactly once: %w", err)
	}
	if rows, err = c.read(c.job.Repeats); err != nil {
		return err
	}
	if err := sameRows(rows, c.wanted, true); err != nil {
		return fmt.Errorf("output of at least once: %w", err)
	}
	return nil
}

// sameRows compares sorted rows; repeats says that any of them may be there more often than it is wanted.
func sameRows(rows, want []string, repeats bool) error {
	have, need := map[string]int{}, map[string]int{}
	for _, r := range rows {
		have[r]++
	}
	for _, r := range want {
		need[r]++
	}
	var faults []string
	for _, r := range slices.Compact(slices.Clone(want)) {
		if have[r] < need[r] {
			faults = append(faults, fmt.Sprintf("missing: %s (%d of %d)", r, have[r], need[r]))
		}
	}
	for _, r := range slices.Compact(slices.Clone(rows)) {
		switch {
		case need[r] == 0:
			faults = append(faults, "not wanted: "+r)
		case have[r] > need[r] && !repeats:
			faults = append(faults, fmt.Sprintf("too often: %s (%d times in place of %d)", r, have[r], need[r]))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	more := ""
	if n := len(faults); n > maxFaults {
		faults, more = faults[:maxFaults], fmt.Sprintf("\n\tand %d more", n-maxFaults)
	}
	return fmt.Errorf("%d rows, want %d:\n\t%s%s", len(rows), len(want), strings.Join(faults, "\n\t"), more)
}

// maxFaults is how many rows an error names.
const maxFaults = 12
