package arkflowtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/harness"
	steps "github.com/arkflow-go/arkflow/internal/step"
)

// crashEnv is the environment variable that holds the plan of a process that Crash has started.
const crashEnv = "ARKFLOW_CRASH"

// crashPlan is what a process does, and when it kills itself.
type crashPlan struct {
	Test  string // that starts Crash
	Line  string // where
	Dir   string
	Tasks int // 0: what the job says
	Every time.Duration
	Step  string // at which it is killed; any where it is empty
	Count int    // when it comes to the step for the Count-th time; 0: never
	Delay time.Duration
	Known []string // steps; it is killed at any other one, whatever stands above

	log func(format string, args ...any)
}

// crashResult is what became of it.
type crashResult struct {
	Killed string         // step at which it killed itself; empty: it came to an end
	Exact  bool           // right at it
	How    string         // in words
	Err    string         // of the job
	Steps  map[string]int // how often it came to each
}

func (r crashResult) String() string {
	switch {
	case r.Killed != "":
		return "killed " + r.How
	case r.Err != "":
		return "failed: " + r.Err
	}
	return "done"
}

func (p crashPlan) resultFile() string { return filepath.Join(p.Dir, "result") }

// crashPlanOf gives the plan of this process for a test; nil where it is none that Crash has started.
func crashPlanOf(test, line string) (*crashPlan, error) {
	text := os.Getenv(crashEnv)
	if text == "" {
		return nil, nil
	}
	p := &crashPlan{}
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, fmt.Errorf("environment variable %s: %w", crashEnv, err)
	}
	if p.Test != test || p.Line != line {
		return nil, fmt.Errorf("it was called in test %q, %s, before it could come to test %q, %s: call it once in a test or subtest", test, line, p.Test, p.Line)
	}
	return p, nil
}

// execute starts a process and waits for its end.
func (c *crashes) execute(p crashPlan) (r crashResult, err error) {
	p.Test, p.Line, p.Dir, p.Every = c.t.Name(), c.line, c.dir, c.job.Every
	p.Tasks = c.job.Tasks[c.executions%len(c.job.Tasks)]
	c.executions++
	if err := os.Remove(p.resultFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return r, err
	}
	program, err := os.Executable()
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), c.job.Timeout)
	defer cancel()
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-test.run="+onlyTest(p.Test), "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), crashEnv+"="+string(plan))
	cmd.Stdout, cmd.Stderr = &said, &said
	ended := cmd.Run()
	if ctx.Err() != nil {
		return r, fmt.Errorf("an execution was not done after %s; it said:\n%s", c.job.Timeout, said.String())
	}
	text, err := os.ReadFile(p.resultFile())
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("an execution ended by itself (%w); it said:\n%s", errors.Join(ended, err), said.String())
	case r.Err != "":
		return r, fmt.Errorf("the job failed: %s", r.Err)
	}
	return r, nil
}

// onlyTest is the pattern of a test, subtest or example alone.
func onlyTest(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// execute runs the job in this process, which ends with it.
func (p *crashPlan) execute(t TB, job CrashJob) {
	p.log = t.Logf
	k := &killer{plan: p, steps: map[string]int{}}
	err := job.check()
	if err == nil {
		err = p.runJob(steps.With(t.Context(), k.at), job)
	}
	r := crashResult{Steps: k.take()}
	if err != nil {
		r.Err = err.Error()
	}
	k.end(r)
}

func (p *crashPlan) runJob(ctx context.Context, job CrashJob) error {
	place := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(p.Dir, "bucket"))}
	bucket, err := storage.OpenURL(ctx, place.String())
	if err != nil {
		return err
	}
	every := p.Every
	if every == 0 {
		every = -1
	}
	rt := arkflow.Runtime{Bucket: bucket, Checkpoints: arkflow.Checkpoints{Keep: 2, Grace: time.Millisecond, Owner: p.Test}}
	h, err := rt.Start(ctx, job.Job(filepath.Join(p.Dir, "files")), arkflow.Rescale(),
		arkflow.Harness(&harness.Config{Parallelism: p.Tasks, CheckpointEvery: every, Hooks: engine.Hooks{BarrierEveryPoll: true}}))
	if err == nil {
		err = h.Wait(ctx)
	}
	return errors.Join(err, bucket.Close())
}

// end writes what became of the process and kills it: nothing of what the test does after Crash is done here.
func (k *killer) end(r crashResult) {
	k.ending.Lock() // for good
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(k.plan.resultFile(), text, 0o666)
	}
	self, ferr := os.FindProcess(os.Getpid())
	if ferr == nil {
		ferr = self.Kill()
	}
	if err = errors.Join(err, ferr); err != nil {
		k.plan.log("the process could not end itself as it should: %v", err)
	}
	select {} // the signal is on its way; else who waits for the process ends it
}

// killer counts steps and ends the process at one.
type killer struct {
	plan   *crashPlan
	ending sync.Mutex // held from when it ends the process
	mu     sync.Mutex // guards what follows
	steps  map[string]int
	total  int
	over   bool
}

func (k *killer) at(s steps.Step) error {
	k.mu.Lock()
	defer k.mu.Unlock() // who comes here when the end has begun waits for it
	name := s.String()
	if k.over {
		return nil
	}
	k.steps[name]++
	k.total++
	unknown := len(k.plan.Known) > 0 && !slices.Contains(k.plan.Known, name)
	n := k.total
	if k.plan.Step != "" || unknown {
		n = k.steps[name]
	}
	if !unknown && (n != k.plan.Count || k.plan.Step != "" && k.plan.Step != name) {
		return nil
	}
	if k.plan.Delay > 0 && !unknown {
		k.over = true
		time.AfterFunc(k.plan.Delay, func() {
			k.end(crashResult{Killed: name, How: fmt.Sprintf("%s after step %d, %s", k.plan.Delay, n, name)})
		})
		return nil
	}
	k.end(crashResult{Killed: name, How: fmt.Sprintf("%s, number %d", name, n), Exact: true})
	return nil
}

// take gives the counts; nothing is killed any more.
func (k *killer) take() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	return k.steps
}
