// Package flatwalk answers: what does the description of a message of Arrow IPC say, and can it be given to arrow-go?
//
// Messages of Arrow IPC describe themselves in flatbuffers: tables that refer to each other by offsets. What arrow-go reads of them it trusts: a
// length that is wrong asks for any amount of memory, which ends the process, and no recover helps. (The Go runtime of flatbuffers trusts as
// well; unlike those of C++ and Rust it has no verifier.) So each table and vector that arrow-go would walk through is looked at here first:
//
//	m, err := flatwalk.Read(description)
//	if err == nil && m.Kind == ipc.MessageSchema { … } // now arrow-go may have it
//
// The package never copies what it reads, and asks for no memory that depends on it; it does not look at the body of a message.
package flatwalk
