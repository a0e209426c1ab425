// Package lint answers: does the tree still keep the layout rules of the design (L1 to L5)?
//
// It reads the tree's Go files by go/parser and reports each place that breaks a rule: an import that goes up, a heavy
// library under the root package, a package without its description, a file or function that is too long, process-global state,
// a test that sleeps or skips, a mark that something was left open. The package's test runs it over the whole repository:
//
//	tree, err := lint.Load(os.DirFS("../.."))
//	for _, f := range tree.Check(nil) { t.Error(f) }
//
// The package never runs the go command, never changes a file, and never judges style that golangci-lint can judge.
package lint
