package arkflow

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/operator"
)

// Job is the description of a job: what it reads, does and writes. Build it from one goroutine; once built it is only read, and may
// be started many times, also at once.
type Job struct {
	name            string
	parallelism     int           // 0: default
	maxParallelism  int           // 0: default
	checkpointEvery time.Duration // 0: default

	nodes    []*node
	edges    []edge
	ids      map[string]*node
	faults   fault.List
	warnings []string // of a JobSpec, for the plan
	spec     *JobSpec // the job was made of; nil: built in Go

}

// node is an operator of a job under construction.
type node struct {
	graph.Node
	key    string // its ID, or a name that no operator can have where the ID cannot be used
	broken bool   // it has a fault already; the planner is not asked
}

type edge struct {
	from        *node
	port        int
	to          *node
	in          int
	key         []string
	partitioned bool
}

// NewJob begins a job. The name is 1 to 128 of A-Z a-z 0-9 _ -; saved state is found by it.
func NewJob(name string, opts ...JobOption) *Job {
	j := &Job{name: name, ids: map[string]*node{}}
	if f := planner.CheckID("job name", name); f != nil {
		f.At = place()
		j.faults.Add(f)
	}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if f := o.applyJob(j); f != nil {
			f.At = place()
			j.faults.Add(f)
		}
	}
	return j
}

// Name is the job's name.
func (j *Job) Name() string {
	if j == nil {
		return ""
	}
	return j.name
}

// Source adds a source. When its rows happened is a required decision: EventTime, IngestionTime or ProcessingTime. Options are
// OnError (for records that cannot be decoded), Tasks, MaxRate and MaxDrift.
func (j *Job) Source(id string, src operator.Source, policy TimePolicy, opts ...SourceOption) Stream {
	if j == nil {
		return Stream{}
	}
	n := j.add(id, graph.Node{Source: src, Time: policy.policy})
	if planner.IsNil(src) {
		j.fault(n, "", "the source is nil", "give one, such as memory.Source")
	}
	for _, o := range opts {
		if o != nil {
			j.option(n, o.applySource(&n.Node))
		}
	}
	return Stream{job: j, node: n}
}

// add takes a node into the job and checks its ID.
func (j *Job) add(id string, g graph.Node) *node {
	n := &node{Node: g, key: id}
	n.ID, n.At = id, place()
	j.nodes = append(j.nodes, n)
	first, taken := j.ids[id]
	f := planner.CheckID("operator ID", id)
	if taken {
		f = &fault.Fault{Operator: id, Problem: "the ID is used twice", Hint: "IDs are unique in a job; choose another"}
		if first.At != "" {
			f.Hint = fmt.Sprintf("the first is at %s; choose another ID", first.At)
		}
	}
	if f != nil {
		f.At = n.At
		j.faults.Add(f)
		n.broken, n.key = true, fmt.Sprintf("\x00%d", len(j.nodes))
		return n
	}
	if j.ids == nil { // a zero Job, which has no name: that is its fault
		j.ids = map[string]*node{}
	}
	j.ids[id] = n
	return n
}

// fault records a mistake at a node, at the call that is being made.
func (j *Job) fault(n *node, path, problem, hint string) {
	n.broken = true
	j.faults.Add(&fault.Fault{Operator: n.ID, Path: path, At: place(), Problem: problem, Hint: hint})
}

func (j *Job) option(n *node, f *fault.Fault) {
	if f != nil {
		j.fault(n, f.Path, f.Problem, f.Hint)
	}
}

// graph gives what was built as data. It is meaningful only where Err is nil.
func (j *Job) graph() *graph.Graph {
	g, _ := j.partialGraph()
	return g
}

// partialGraph gives what was built as data, and the nodes that have faults already.
func (j *Job) partialGraph() (g *graph.Graph, broken map[string]bool) {
	g = &graph.Graph{Job: j.name, Parallelism: j.parallelism, MaxParallelism: j.maxParallelism}
	broken = map[string]bool{}
	for _, n := range j.nodes {
		c := n.Node
		c.ID = n.key
		g.Nodes = append(g.Nodes, &c)
		if n.broken {
			broken[n.key] = true
		}
	}
	for _, e := range j.edges {
		g.Edges = append(g.Edges, graph.Edge{From: e.from.key, Port: e.port, To: e.to.key, In: e.in, Key: e.key, Partitioned: e.partitioned})
	}
	return g, broken
}

// Err gives the mistakes that can be seen without looking at schemas: nil components, IDs, options, streams that nobody reads.
// Compile finds all. It is nil where there are none.
func (j *Job) Err() error { return j.check(false) }

func (j *Job) check(deep bool) error {
	if j == nil {
		return &fault.Fault{Problem: "the job is nil", Hint: "begin one with arkflow.NewJob"}
	}
	var all fault.List
	all.Add(j.faults.Err())
	g, broken := j.partialGraph()
	// What the builder told of the job itself is not told again by the planner.
	if planner.CheckID("", g.Job) != nil {
		g.Job = "job"
	}
	if f := Parallelism(g.Parallelism).applyJob(&Job{}); f != nil {
		g.Parallelism = 0
	}
	if f := MaxParallelism(g.MaxParallelism).applyJob(&Job{}); f != nil {
		g.MaxParallelism = 0
	}
	all.Add(planner.Faults(g, broken, deep))
	return all.Err()
}

// compile checks and plans the job.
func (j *Job) compile() (*planner.Compiled, error) {
	if j == nil || j.faults.Len() > 0 {
		return nil, j.check(true)
	}
	c, err := planner.Compile(j.graph())
	if err != nil {
		return nil, err
	}
	c.Plan.Warnings = append(append([]string(nil), j.warnings...), c.Plan.Warnings...)
	return c, nil
}

// Compile checks the job as deeply as a start does (columns, types, keys, parallelism, every component) and plans it. It has no
// side effects: nothing is opened, connected or written. All mistakes come back together, each a *Fault. Over a source whose
// schema is found only at the start, what depends on that schema is checked then.
func (j *Job) Compile() (*Plan, error) {
	c, err := j.compile()
	if err != nil {
		return nil, err
	}
	return &Plan{plan: c.Plan}, nil
}
