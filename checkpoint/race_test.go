//go:build race

package checkpoint

// everyByte is the distance of the bytes that are changed: the race detector makes it too slow to change each.
const everyByte = 8
