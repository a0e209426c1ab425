// Package fields answers: how does an operator read its config in a spec?
//
// A config is a map of plain values, as a document has them. Each function takes one value, gives what it means, and adds a fault with
// the path where it means nothing:
//
//	var faults fault.List
//	fields.Known(&faults, config, "config", "column", "timeout_ms")
//	column := fields.Text(&faults, config["column"], "config.column")
//	timeout := fields.Millis(&faults, config["timeout_ms"], "config.timeout_ms")
//
// The package never fills in a default: a value that is not given is the zero value.
package fields
