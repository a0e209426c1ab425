package arkflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow/internal/document"
	"github.com/arkflow-go/arkflow/internal/fault"
)

// LoadJobs reads a document as LoadSpecs does and makes its jobs as FromSpec does: those of the given IDs, in that order, or all. Mistakes come back
// together, each with its path in the document and its line.
func LoadJobs(reg *Registry, data []byte, ids ...string) ([]*Job, error) {
	specs, err := LoadSpecs(data)
	if err != nil {
		return nil, err
	}
	d, err := document.Parse(data)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, s := range specs {
		known = append(known, s.ID)
	}
	if len(ids) == 0 {
		ids = known
	}
	var jobs []*Job
	var all faultList
	for _, id := range ids {
		i := slices.Index(known, id)
		if i < 0 {
			all.Add(fault.Unknown("job", id, known))
			continue
		}
		j, err := FromSpec(reg, specs[i])
		all.Add(specs[i].inDocument(err, fmt.Sprintf("jobs[%d]", i), d.Lines))
		jobs = append(jobs, j)
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	return jobs, nil
}

// inDocument gives faults of FromSpec the job's path and their line. The path of a fault that an operator tells stays relative to the operator.
func (s JobSpec) inDocument(err error, job string, lines map[string]int) error {
	var all faultList
	for _, e := range faultsOf(err) {
		var f *Fault
		if !errors.As(e, &f) {
			f = &Fault{Problem: e.Error()}
		}
		c := *f
		own := c.Operator != "" && !strings.HasPrefix(c.Path, "operators[") && !strings.HasPrefix(c.Path, "sources[") && !strings.HasPrefix(c.Path, "sinks[")
		where := s.section(c.Operator)
		switch {
		case !own && c.Path != "":
			c.Path = job + "." + c.Path
			where = c.Path
		case !own:
			c.Path, where = job, job
		case lines[job+"."+where+".config."+c.Path] > 0:
			where = job + "." + where + ".config." + c.Path
		default:
			where = job + "." + where + "." + c.Path
		}
		if line := lineOf(where, lines); line > 0 {
			c.At = fmt.Sprintf("line %d", line)
		}
		all.Add(&c)
	}
	return all.Err()
}

// section is the path of what describes an operator: that under sources or sinks where it has one.
func (s JobSpec) section(id string) string {
	if i := slices.IndexFunc(s.Sources, func(x SourceSpec) bool { return x.OperatorID == id }); i >= 0 {
		return fmt.Sprintf("sources[%d]", i)
	}
	if i := slices.IndexFunc(s.Sinks, func(x SinkSpec) bool { return x.OperatorID == id }); i >= 0 {
		return fmt.Sprintf("sinks[%d]", i)
	}
	return fmt.Sprintf("operators[%d]", slices.IndexFunc(s.Operators, func(x OperatorSpec) bool { return x.ID == id }))
}
