// Package golden answers: does a whole job give the same results however it runs?
//
// Its tests are golden jobs over everything that the engine has: sources with every way of timing rows, stateless operators, keys of every type,
// windows, late rows, fan-out. What each must give is worked out by a plain row-at-a-time model (or by hand), then the job is run by
// arkflowtest.Verify in every regime: batches of any size, several parallelisms, random polling, an epoch and a restore after every row.
// They are run by
//
//	go test -run Golden ./internal/golden
//
// Beside them stand the cases from the field that need a whole job (TestB01…), and the tests of the ends of a job. The package has no code
// outside its tests.
package golden
