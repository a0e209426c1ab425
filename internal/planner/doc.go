// Package planner answers: is this graph a job that can run, and which tasks run it?
//
// [Compile] checks a graph, binds its operators to the schemas they read, fuses them into chains and decides how rows travel
// between the chains; [Bind] repeats the middle part when a source's schema becomes known after the start:
//
//	c, err := planner.Compile(g) // err: all faults at once
//	fmt.Print(planner.Explain(c.Plan))
//
// [Explain], [DOT] and [Mermaid] print a plan. The package has no side effects: it opens nothing, starts nothing, keeps nothing and
// never changes the graph that it is given.
package planner
