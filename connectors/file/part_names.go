package file

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	taskMark = "{task}"
	seqMark  = "{seq}"
)

// partNames names the parts of one task.
type partNames struct {
	dir     string
	pattern string // of the last element, with both marks
	task    int
}

// partNamesOf gives the names that a path stands for.
func partNamesOf(path string, task int) partNames {
	dir, pattern := filepath.Split(path)
	if !strings.Contains(pattern, seqMark) {
		pattern = beforeEndings(pattern, "-"+taskMark+"-"+seqMark)
	}
	if dir == "" {
		dir = "."
	}
	return partNames{dir: dir, pattern: pattern, task: task}
}

// name is the path of a part.
func (n partNames) name(seq int64) string {
	return filepath.Join(n.dir, n.base(fmt.Sprintf("%06d", seq)))
}

// base is the last element of the path of a part, with what stands for its number.
func (n partNames) base(seq string) string {
	name := strings.Replace(n.pattern, taskMark, strconv.Itoa(n.task), 1)
	return strings.Replace(name, seqMark, seq, 1)
}

// hidden is the path under which a part is written.
func hidden(name string) string {
	dir, base := filepath.Split(name)
	return filepath.Join(dir, "."+base+".part")
}

// found is a part, or what is left of one, that lies in the directory.
type found struct {
	path   string
	task   int
	seq    int64
	hidden bool
}

// list gives the parts of all tasks that lie in the directory.
func (n partNames) list() ([]found, error) {
	quoted := regexp.QuoteMeta(n.pattern)
	quoted = strings.Replace(quoted, regexp.QuoteMeta(taskMark), `(?P<task>[0-9]+)`, 1)
	quoted = strings.Replace(quoted, regexp.QuoteMeta(seqMark), `(?P<seq>[0-9]{6,18})`, 1)
	whole, err := regexp.Compile(`^(?:` + quoted + `|\.` + strings.NewReplacer("?P<task>", "?P<task2>", "?P<seq>", "?P<seq2>").Replace(quoted) + `\.part)$`)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return nil, err
	}
	var out []found
	for _, e := range entries {
		m := whole.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		f := found{path: filepath.Join(n.dir, e.Name()), hidden: m[whole.SubexpIndex("seq")] == ""}
		task, seq := m[whole.SubexpIndex("task")], m[whole.SubexpIndex("seq")]
		if f.hidden {
			task, seq = m[whole.SubexpIndex("task2")], m[whole.SubexpIndex("seq2")]
		}
		var errTask, errSeq error
		f.task, errTask = strconv.Atoi(task)
		f.seq, errSeq = strconv.ParseInt(seq, 10, 64)
		if errTask == nil && errSeq == nil {
			out = append(out, f)
		}
	}
	return out, nil
}
