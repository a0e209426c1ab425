package plan

// Plan is the physical form of a job.
type Plan struct {
	Job            string
	MaxParallelism int // number of key groups
	Operators      []Operator
	Chains         []Chain
	Edges          []Edge
	Warnings       []string // what the user should know, though it is no fault
}

// Operator is one logical operator of the plan, sources and sinks included.
type Operator struct {
	ID          string
	Kind        string
	Role        Role
	Detail      string // one line for EXPLAIN; may be empty
	Parallelism int
	Chain       string // ID of the chain it runs in
	Columns     string // of its main output, "name type, …"; empty while a schema is open
}

// Role is what an operator is to the graph.
type Role string

// The roles.
const (
	Source    Role = "source"
	Transform Role = "operator"
	Sink      Role = "sink"
)

// Chain is operators that are fused: each of its tasks drives one instance of each of them.
type Chain struct {
	ID          string   // the ID of its first operator
	Parallelism int      // number of tasks
	Operators   []string // in an order in which every operator stands after those it reads from
}

// Edge leads from an output port of an operator to an input of another.
type Edge struct {
	From string
	Port int
	Tag  string // name of the port; empty for the main and the late one of an operator that names none
	To   string
	In   int
	Ship Ship
	Key  []string // Hash: the key columns
	// Rehash: batches may carry the hash of another key (Batch.Hash), which an exchange upstream needed; compute it anew.
	Rehash bool
	// PreAggregate: senders may gather rows by key and send entries in their place, where that pays.
	PreAggregate bool
}

// Ship says how rows travel along an edge.
type Ship string

// The ways of shipping.
const (
	Fused     Ship = "fused"     // a direct call within the task
	Forward   Ship = "forward"   // a link from subtask i to subtask i
	Hash      Ship = "hash"      // to the task that owns the key group
	Rebalance Ship = "rebalance" // batches in turn to every task
)

// Chain gives the chain of that ID, or nil.
func (p *Plan) Chain(id string) *Chain {
	for i := range p.Chains {
		if p.Chains[i].ID == id {
			return &p.Chains[i]
		}
	}
	return nil
}

// Operator gives the operator of that ID, or nil.
func (p *Plan) Operator(id string) *Operator {
	for i := range p.Operators {
		if p.Operators[i].ID == id {
			return &p.Operators[i]
		}
	}
	return nil
}
