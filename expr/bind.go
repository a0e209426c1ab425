package expr

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
)

// Bind checks the expression against a schema. The error holds every fault found, each a *fault.Fault.
func (e Expr) Bind(s *arrow.Schema) (*Program, error) {
	return nil, errors.New("binding is being written")
}

type failure struct{ node *node }

func (f *failure) text(a, b [2]uint64) string { return "" }

func (ev *Evaluator) selectRows(s step, b block, kept *[blockRows]uint32) int { return 0 }
