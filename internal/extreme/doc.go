// Package extreme answers: which of the rows of a group is the least or greatest, and how is what they have kept?
//
// A [Heap] holds a string for each group; a [Rule] says how rows are compared and writes what is kept of them as such strings,
// so that most rows are decided by comparing one word:
//
//	rule.Prefixes(p, scratch, batch, 0, nil)
//	if h.Better(group, p[i], tuple, rule.Least) { h.Replace(group, p[i], tuple) }
//
// The package never knows where the words of a group lie, and never finds a group.
package extreme
