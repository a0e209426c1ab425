// Package plain answers: how do times and decimals look as plain text?
//
// It reads and appends dates, times of day, instants and decimal numbers as bytes, without detours through strings:
//
//	days, ok := plain.ParseDate([]byte("2026-02-28"))
//	text := plain.AppendDecimal(nil, 12345, 0, 2) // 123.45
//
// The package never touches a column.
package plain
