package life

// State is a state of an execution's life (DESIGN E7).
type State string

// The states. Suspended, Finished and Failed are final for an execution.
const (
	Created   State = "Created"
	Starting  State = "Starting"
	Running   State = "Running"
	Draining  State = "Draining"
	Suspended State = "Suspended"
	Finished  State = "Finished"
	Failed    State = "Failed"
)

// legalMoves are the moves between states.
var legalMoves = map[State][]State{
	Created:  {Starting},
	Starting: {Running, Failed},
	Running:  {Draining, Suspended, Finished, Failed},
	Draining: {Finished, Suspended, Failed},
}

// MayMove reports whether a move is legal.
func MayMove(from, to State) bool {
	for _, s := range legalMoves[from] {
		if s == to {
			return true
		}
	}
	return false
}

// Ended reports whether the state is final.
func (s State) Ended() bool { return s == Suspended || s == Finished || s == Failed }
