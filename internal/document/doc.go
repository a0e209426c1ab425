// Package document answers: what does a YAML or JSON text say, and on which line?
//
// [Parse] gives the values of a document together with the line of each, by path; [YAML] and [JSON] write a struct so that
// Parse gives the same values again:
//
//	d, err := document.Parse(data)
//	jobs := d.Value.(map[string]any)["jobs"]
//	line := d.Lines["jobs[0].version"]
//
// The package knows nothing of jobs and never guesses: what is no plain YAML 1.2 data (merge keys, custom tags, NaN) is refused.
package document
