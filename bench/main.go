// Command bench measures the engine against hand-written loops over the same rows in the same run.
//
//	go run ./bench -suite NAME [-run REGEX] [-n N] [-p P] [-source replay|live] [-extra] [-times T] [-json]
//
// It prints a line a benchmark: as a table, or with -json as one JSON object a line. docs/benchmarks.md says what each suite is.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// options are those of the command line.
type options struct {
	suite  string
	run    *regexp.Regexp
	n      int64 // 0: the default of each benchmark
	p      int
	live   bool
	extra  bool
	times  int
	json   bool
	stderr io.Writer
}

// benchmark is one entry of a suite.
type benchmark struct {
	name string
	n    int64 // rows where -n gives none
	run  func(ctx context.Context, o options, n int64) (figure, error)
}

// suites is what there is, one a line.
var suites = map[string]func() []benchmark{
	"checkpoint": checkpointSuite,
	"codec":      codecSuite,
	"engine":     engineSuite,
	"kernel":     kernelSuite,
	"latency":    latencySuite,
	"nexmark":    nexmarkSuite,
	"restore":    restoreSuite,
	"ysb":        ysbSuite,
}

func suiteNames() []string { return slices.Sorted(maps.Keys(suites)) }

func main() {
	if err := command(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	var todo []benchmark
	if suites[o.suite] == nil {
		return fmt.Errorf("no suite %q: there are %s", o.suite, strings.Join(suiteNames(), ", "))
	}
	suite := suites[o.suite]()
	for _, b := range suite {
		if o.run.MatchString(b.name) {
			todo = append(todo, b)
		}
	}
	if len(todo) == 0 {
		var names []string
		for _, b := range suite {
			names = append(names, b.name)
		}
		return fmt.Errorf("-run %q matches nothing in suite %q: there are %s", o.run, o.suite, strings.Join(names, ", "))
	}
	out := json.NewEncoder(stdout)
	for i, b := range todo {
		n := b.n
		if o.n > 0 {
			n = o.n
		}
		f, err := b.run(ctx, o, n)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", o.suite, b.name, err)
		}
		f.Suite, f.Name, f.N, f.P, f.Source = o.suite, b.name, n, o.p, "replay"
		if o.live {
			f.Source = "live"
		}
		if o.json {
			err = out.Encode(f)
		} else {
			err = f.print(stdout, i == 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{stderr: stderr}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.suite, "suite", "engine", "the suite to run: "+strings.Join(suiteNames(), ", "))
	run := flags.String("run", "", "run only benchmarks whose name matches this regular expression")
	flags.Int64Var(&o.n, "n", 0, "input rows of a run, which is repeated with twice as many; 0 means the default of each benchmark")
	flags.IntVar(&o.p, "p", 1, "parallelism; above 1 speedup is measured against 1")
	source := flags.String("source", "replay", "replay takes the making of events out of the CPU figures, live leaves it in")
	flags.BoolVar(&o.extra, "extra", false, "add an aggregate of one more kind, chosen at random, to windows; its cost is extra_per_column")
	flags.IntVar(&o.times, "times", 3, "how often each figure is taken, of which the median is printed; fewer where that takes long")
	flags.BoolVar(&o.json, "json", false, "print one JSON object a line")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.n < 0 || o.p < 1 || o.times < 1:
		return o, fmt.Errorf("-n %d, -p %d, -times %d: give n >= 0, p >= 1, times >= 1", o.n, o.p, o.times)
	case *source != "replay" && *source != "live":
		return o, fmt.Errorf("-source %q: give replay or live", *source)
	}
	o.live = *source == "live"
	var err error
	if o.run, err = regexp.Compile(*run); err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	return o, nil
}
