//go:build !race

package arkflowtest

// oneIn is how many of the ways of Verify there are for each that is taken.
const oneIn = 1
