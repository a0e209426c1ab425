//go:build !race

package checkpoint

// everyByte is the distance of the bytes that are changed.
const everyByte = 1
