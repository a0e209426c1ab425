// Package connectortest answers: does a source or a sink keep what the engine counts on?
//
//	func TestSource_conforms(t *testing.T) {
//		connectortest.Source(t, connectortest.SourceCase{Source: mine.Source{…}})
//	}
//
// It drives connectors as the engine does, from a goroutine of its own, with memory that is checked: rows are the same each time and from
// every position, nothing is lost at close, everything ends within two seconds of its context, a system that is not there is an error,
// borrowed batches are not kept, memory comes back and goroutines end. [TwoPhase] checks sinks that commit in two phases: whenever an execution
// dies, also after each single step, the rows that can be seen are those of sealed epochs, each once, and nothing is left behind. It is for the tests of any connector, also of those of your own.
//
// It knows no system and starts none.
package connectortest
