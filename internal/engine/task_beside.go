package engine

import "github.com/arkflow-go/arkflow/operator"

// side is what an operator does that most do not: work beside its task's goroutine, a watermark of its own, ports by name.
type side struct {
	settler operator.Settler
	waker   operator.WakeHandler
	keeper  operator.Timekeeper
	tagged  bool // rows of every port count as rows out
}

// take notes what the instance of an operator does.
func (n *node) take(inst operator.Instance, op operator.Operator) {
	n.side.settler, _ = inst.(operator.Settler)
	n.side.waker, _ = inst.(operator.WakeHandler)
	n.side.keeper, _ = inst.(operator.Timekeeper)
	if t, ok := op.(operator.Tagged); ok {
		n.side.tagged = len(t.Tags()) > 0
	}
	if n.side.settler != nil || n.side.waker != nil {
		n.task.beside = append(n.task.beside, n)
	}
}

// keepTime tells those behind of the watermark that the operator gives its stream.
func (n *node) keepTime() error {
	w := n.side.keeper.Watermark()
	if w < n.w || w == n.w && !n.resumed {
		return nil
	}
	n.resumed = false
	n.w = w
	n.wNow.Store(w)
	return n.forward(w)
}

// settle makes operators that work beside the task's goroutine finish what they were given.
func (t *task) settle() error {
	for _, n := range t.beside {
		if s := n.side.settler; s != nil {
			if err := n.beside(s.Settle); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerWake calls the operators where one was woken.
func (t *task) answerWake() error {
	if len(t.beside) == 0 || !t.in.Woken() {
		return nil
	}
	for _, n := range t.beside {
		if w := n.side.waker; w != nil {
			if err := n.beside(w.OnWake); err != nil {
				return err
			}
		}
	}
	return nil
}

// beside runs code of the operator and forwards the watermark that it gives.
func (n *node) beside(f func(operator.Output) (int64, error)) error {
	prev := n.enter()
	w, err := f(n)
	n.leave(prev)
	if err != nil {
		return n.wrap(err)
	}
	return n.forward(min(w, n.w))
}
