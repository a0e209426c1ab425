package arkflow

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/operator"
)

// ErrorSpec says what happens to rows in error. It is written as one of the words of Then, or as a map.
type ErrorSpec struct {
	Retry      int             `json:"retry,omitempty" yaml:"retry,omitempty"`             // further tries; 0: none
	Backoff    time.Duration   `json:"backoff_ms,omitempty" yaml:"backoff_ms,omitempty"`   // before the first further try; doubles with each
	Then       string          `json:"then,omitempty" yaml:"then,omitempty"`               // fail (default), skip or dead_letter
	DeadLetter *DeadLetterSpec `json:"dead_letter,omitempty" yaml:"dead_letter,omitempty"` // where rows go with then: dead_letter
}

// DeadLetterSpec is the sink that takes rows in error: see operator.DeadLetterSchema for its columns.
type DeadLetterSpec struct {
	OutputType string         `json:"output_type" yaml:"output_type"`
	Config     map[string]any `json:"config,omitempty" yaml:"config,omitempty"` // its "type", where given, is the OutputType
	Codec      map[string]any `json:"codec,omitempty" yaml:"codec,omitempty"`
}

// plainErrorSpec is an ErrorSpec without methods.
type plainErrorSpec ErrorSpec

// DecodeSpec implements connectors.Decoder.
func (e *ErrorSpec) DecodeSpec(x any) error {
	switch v := x.(type) {
	case string:
		*e = ErrorSpec{Then: v}
		return nil
	case map[string]any:
		var p plainErrorSpec
		if err := connectors.DecodeMap("", v, &p); err != nil {
			return err
		}
		*e = ErrorSpec(p)
		return nil
	}
	return fmt.Errorf("want fail, skip or a mapping with retry, backoff_ms, then and dead_letter, not %v", x)
}

// EncodeSpec gives what DecodeSpec reads: a word where that says all.
func (e ErrorSpec) EncodeSpec() any {
	if e.wordOnly() && e.Then != "" {
		return e.Then
	}
	return plainErrorSpec(e)
}

func (e ErrorSpec) wordOnly() bool { return e.Retry == 0 && e.Backoff == 0 && e.DeadLetter == nil }

func (e *ErrorSpec) clone() *ErrorSpec {
	c := clonePointer(e)
	if c != nil && c.DeadLetter != nil {
		c.DeadLetter = &DeadLetterSpec{e.DeadLetter.OutputType, cloneMap(e.DeadLetter.Config), cloneMap(e.DeadLetter.Codec)}
	}
	return c
}

// onError checks an error policy by itself.
func (c *specCheck) onError(path string, e *ErrorSpec) {
	if e == nil {
		return
	}
	then := path + ".then"
	if e.wordOnly() {
		then = path
	}
	c.word(then, "error policy", e.Then, specWords("ErrorSpec.then")...)
	if e.Retry < 0 {
		c.add(path+".retry", fmt.Sprintf("%d is negative", e.Retry), "give 0 (no further try) or more")
	}
	switch {
	case e.Backoff < 0:
		c.add(path+".backoff_ms", fmt.Sprintf("%s is negative", e.Backoff), "give 0 or more")
	case e.Backoff > 0 && e.Retry == 0:
		c.add(path+".backoff_ms", "means nothing without retry", "give retry: 1 or more, or remove it")
	}
	switch {
	case e.DeadLetter == nil:
		if e.Then == "dead_letter" {
			c.add(path+".dead_letter", "is missing", "describe the sink that takes the rows: dead_letter: {output_type: …, config: {…}}")
		}
		return
	case e.Then != "dead_letter":
		c.add(path+".dead_letter", "means nothing without then: dead_letter", "add that, or remove the sink")
	}
	c.typed(path+".dead_letter", "output_type", e.DeadLetter.OutputType, e.DeadLetter.Config)
}

// onError makes the error policy of an operator. What check tells is not told again.
func (b *specBuilder) onError(n *node, path string, e *ErrorSpec) {
	if e == nil || e.Retry < 0 || e.Backoff < 0 {
		return
	}
	var last operator.ErrorPolicy
	switch {
	case e.Then == "skip":
		last = operator.Skip()
	case e.Then == "dead_letter" && e.DeadLetter != nil && e.DeadLetter.OutputType != "":
		sink, err := b.deadLetter(path+".dead_letter", *e.DeadLetter)
		if err != nil {
			b.faults.Add(under(err, path+".dead_letter", n.ID))
			return
		}
		last = operator.DeadLetter(sink)
	}
	n.OnError = last
	if e.Retry > 0 {
		n.OnError = operator.Retry(e.Retry, e.Backoff).Then(last)
	}
}

func (b *specBuilder) deadLetter(path string, s DeadLetterSpec) (operator.Sink, error) {
	sink, err := b.reg.Sink(s.OutputType, connectors.Params{Path: path, Config: withoutType(s.Config), Codec: s.Codec})
	if err != nil {
		return nil, err
	}
	if planner.IsNil(sink) {
		return nil, nothingMade(s.OutputType)
	}
	return sink, checkPolicy(operator.DeadLetter(sink))
}

// onError writes the error policy of an operator; nil for that which is the default.
func (w *specWriter) onError(n *node) *ErrorSpec {
	var e ErrorSpec
	if e.Retry, e.Backoff = n.OnError.Retries(); e.Retry == 0 {
		e.Backoff = 0
	}
	switch sink := n.OnError.DeadLetterSink(); {
	case sink != nil:
		e.Then, e.DeadLetter = "dead_letter", &DeadLetterSpec{OutputType: sink.Kind()}
		e.DeadLetter.Config, e.DeadLetter.Codec = w.component(n, "on_error.dead_letter", sink, sink.Kind())
	case n.OnError.Skips():
		e.Then = "skip"
	}
	if e == (ErrorSpec{}) {
		return nil
	}
	return &e
}
