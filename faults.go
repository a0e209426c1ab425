package arkflow

import (
	"errors"
	"strings"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/hashicorp/go-multierror"
)

type faultList = fault.List

// faultsOf gives the members of a list of errors, or the one error.
func faultsOf(err error) []error {
	var many *multierror.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &many):
		return many.Errors
	}
	return []error{err}
}

// under puts a path before that of each fault, unless it begins with it already, and names the operator.
func under(err error, path, operator string) error {
	var all faultList
	for _, e := range faultsOf(err) {
		var f *Fault
		if !errors.As(e, &f) {
			f = &Fault{Problem: e.Error()}
		}
		c := *f
		if c.Operator == "" {
			c.Operator = operator
		}
		switch {
		case c.Path == "":
			c.Path = path
		case !strings.HasPrefix(c.Path, path):
			c.Path = path + "." + c.Path
		}
		all.Add(&c)
	}
	return all.Err()
}

// asFault gives an error as one fault with a path; nil for none.
func asFault(err error, path string) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) && f.Path != "" {
		return f
	}
	return &Fault{Path: path, Problem: err.Error()}
}
