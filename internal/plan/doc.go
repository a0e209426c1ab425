// Package plan answers: which tasks run, and how are they linked?
//
// A [Plan] is data only: chains of operators that are fused into one task each, their parallelism, and the edges between
// them. It is immutable once the planner has made it:
//
//	for _, c := range p.Chains { fmt.Println(c.ID, c.Parallelism, c.Operators) }
//
// The package imports nothing of ArkFlow and holds no function and no Arrow value.
package plan
