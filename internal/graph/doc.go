// Package graph answers: what did the user describe?
//
// A [Graph] is the logical form of a job: nodes with stable IDs and edges between their ports. It is data; the builder and the
// JobSpec make it, the planner reads it:
//
//	g := &graph.Graph{Job: "orders", Nodes: []*graph.Node{{ID: "in", Source: src}, {ID: "out", Sink: snk}},
//		Edges: []graph.Edge{{From: "in", To: "out"}}}
//
// The package never checks a graph and never runs it.
package graph
