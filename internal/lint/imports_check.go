package lint

import (
	"fmt"
	"slices"
	"strings"
)

// layers is the table of L1: what each package may import of ours outside tests. A pattern that ends in "/..." stands
// for everything below. A package that is not in the table has no place in the design yet: give it one here.
var layers = []layer{
	{"column", nil},
	{"internal/fault", nil},
	{"internal/plan", nil},
	{"internal/lint", nil},
	{"internal/calls", nil},
	{"internal/life", nil},
	{"internal/pace", nil},
	{"internal/step", nil},
	{"internal/flatwalk", nil},
	{"internal/fields", []string{"internal/fault"}},
	{"state", []string{"column"}},
	{"internal/calc", nil},
	{"internal/keys", []string{"column"}},
	{"internal/chunk", nil},
	{"internal/spare", nil},
	{"internal/handover", nil},
	{"internal/partition", []string{"internal/chunk"}},
	{"internal/aggregate", []string{"column", "internal/keys"}},
	{"internal/extreme", []string{"column", "internal/keys"}},
	{"internal/preagg", []string{"column"}},
	{"internal/sheet", []string{"column", "internal/keys"}},
	{"internal/layout", []string{"column", "state", "internal/aggregate", "internal/chunk", "internal/extreme", "internal/keys"}},
	{"internal/kernel", []string{"column", "state", "internal/aggregate", "internal/chunk", "internal/extreme", "internal/handover", "internal/keys", "internal/layout", "internal/partition", "internal/sheet", "internal/spare"}},
	{"internal/structmap", []string{"column", "internal/fault"}},
	{"internal/calc", []string{"column", "internal/fault"}},
	{"operator", []string{"column", "state", "expr", "internal/calls", "internal/fault", "internal/fields", "internal/kernel", "internal/structmap"}},
	{"internal/exprtext", nil},
	{"internal/tree", []string{"column", "internal/calc", "internal/exprtext", "internal/fault"}},
	{"internal/scalar", []string{"column", "internal/calc", "internal/fault", "internal/kernel", "internal/keys", "internal/tree"}},
	{"expr", []string{"column", "internal/calc", "internal/fault", "internal/kernel", "internal/scalar", "internal/structmap", "internal/tree"}},
	{"codec", []string{"codec/internal/plain", "codec/internal/typetext", "column", "operator", "internal/fault", "internal/structmap"}},
	{"codec/...", []string{"codec", "codec/internal/blocks", "column", "internal/fault", "internal/flatwalk", "internal/structmap"}},
	{"window", []string{"column", "state", "operator", "expr", "internal/aggregate", "internal/fault", "internal/kernel", "internal/keys", "internal/layout", "internal/preagg", "internal/structmap"}},
	{"connectors", []string{"column", "operator", "codec", "internal/fault"}},
	{"connectors/...", []string{"column", "connectors", "operator", "codec", "internal/fault", "internal/step", "internal/structmap"}},
	{"internal/graph", []string{"operator"}},
	{"internal/planner", []string{"column", "operator", "state", "internal/fault", "internal/graph", "internal/plan", "internal/preagg"}},
	{"checkpoint", []string{"internal/plan", "column", "operator", "state", "checkpoint/segment", "checkpoint/storage"}},
	{"checkpoint/segment", []string{"column", "state", "internal/flatwalk"}},
	{"checkpoint/storage", []string{"internal/step", "operator"}},
	{"checkpoint/storage/storagetest", []string{"checkpoint/storage"}},
	{"shuffle", []string{"column", "operator", "state", "internal/kernel", "internal/plan"}},
	{"internal/link", []string{"shuffle"}},
	{"internal/align", []string{"operator", "shuffle"}},
	{"internal/engine", []string{"codec", "column", "operator", "state", "checkpoint", "checkpoint/storage", "shuffle", "internal/align", "internal/fault", "internal/graph", "internal/keys", "internal/life", "internal/link", "internal/pace", "internal/plan", "internal/preagg", "internal/report", "internal/spans"}},
	{"internal/spans", []string{"internal/report"}},
	{"internal/report", []string{"checkpoint", "internal/life"}},
	{"internal/supervise", []string{"checkpoint", "checkpoint/storage", "internal/engine", "internal/life", "operator"}},
	{"internal/document", []string{"internal/fault"}},
	{"internal/harness", []string{"checkpoint", "operator", "internal/engine", "internal/graph"}},
	{".", []string{"column", "state", "expr", "operator", "window", "codec", "codec/arrowipc", "checkpoint", "checkpoint/storage", "shuffle", "connectors", "connectors/...", "internal/..."}},
	{"arkflowtest", []string{".", "column", "state", "expr", "operator", "window", "codec", "checkpoint", "checkpoint/storage", "connectors", "connectors/memory", "internal/..."}},
	{"internal/golden", nil},
	{"metrics/...", []string{"."}},
	{"bench/events", nil},
	{"bench/baseline", []string{"bench/events"}},
	{"bench/nexmark", []string{"column"}},
}

type layer struct {
	dir     string
	imports []string
}

func matches(pattern, dir string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(dir, below+"/")
	}
	return pattern == dir
}

// allowedImports gives the row of the table for a directory: the exact one before a pattern.
func allowedImports(dir string) (allowed []string, known bool) {
	for _, l := range layers {
		if l.dir == dir {
			return l.imports, true
		}
	}
	for _, l := range layers {
		if matches(l.dir, dir) {
			return l.imports, true
		}
	}
	return nil, false
}

// checkLayers is L1. A program may import anything of ours, an example only what its reader could import as well.
func (t *Tree) checkLayers() (out []Finding) {
	for _, p := range t.Packages {
		allowed, known := allowedImports(p.Dir)
		if !known && !p.program() && p.hasCode() {
			out = append(out, Finding{"L1", p.Dir, 0, "is not in the table of layers (internal/lint): give the package a place there"})
			continue
		}
		for _, f := range p.Files {
			for _, i := range f.Imports {
				dir, ours := t.dirOf(i.Path)
				if !ours {
					continue
				}
				switch {
				case matches("examples/...", p.Dir):
					if strings.HasPrefix(dir, "internal/") {
						out = append(out, Finding{"L1", f.Path, i.Line, fmt.Sprintf("an example imports %q, which its reader cannot", dir)})
					}
				case f.Test || p.program():
				case !anyMatches(allowed, dir):
					out = append(out, Finding{"L1", f.Path, i.Line, fmt.Sprintf("%q may not import %q: see the table of layers", p.Dir, dir)})
				}
			}
		}
	}
	return out
}

func anyMatches(patterns []string, dir string) bool {
	for _, p := range patterns {
		if matches(p, dir) {
			return true
		}
	}
	return false
}

func (p *Package) hasCode() bool {
	for _, f := range p.Files {
		if !f.Test {
			return true
		}
	}
	return false
}

// heavy is what nobody gets with the root package (L2): import paths and beginnings of import paths.
var heavy = []string{
	"github.com/segmentio/kafka-go", "github.com/IBM/sarama", "github.com/twmb/franz-go", "github.com/confluentinc",
	"github.com/dgraph-io/badger", "modernc.org/sqlite", "github.com/mattn/go-sqlite3", "database/sql",
	"github.com/prometheus/client_golang",
	"github.com/aws", "github.com/Azure", "cloud.google.com", "google.golang.org/api", "google.golang.org/grpc",
	"github.com/apache/arrow-go/v18/arrow/compute", "github.com/apache/arrow-go/v18/arrow/extensions",
	"github.com/apache/arrow-go/v18/arrow/avro", "github.com/apache/arrow-go/v18/parquet",
}

// accepted is in the root package's tree by decision, with all that it imports itself (L2): buckets are part of the API, and those of files
// and memory work in every program.
var accepted = []string{"gocloud.dev/blob", "gocloud.dev/blob/fileblob", "gocloud.dev/blob/memblob", "gocloud.dev/blob/driver", "gocloud.dev/gcerrors"}

// Resolver gives the imports of a package of another module; ok is false where it cannot be found.
type Resolver func(importPath string) (imports []string, ok bool)

// checkWeight is L2: the packages of ours that the root package reaches do not import net/http, and nothing in the
// whole closure is heavy.
func (t *Tree) checkWeight(resolve Resolver) (out []Finding) {
	if t.Package(".") == nil {
		return nil
	}
	from := map[string]string{} // import path to who imported it first
	queue := []string{t.Module}
	from[t.Module] = ""
	add := func(importer, path string) {
		if _, seen := from[path]; !seen {
			from[path] = importer
			queue = append(queue, path)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if dir, ours := t.dirOf(at); ours {
			p := t.Package(dir)
			if p == nil {
				continue
			}
			for _, f := range p.Files {
				if f.Test {
					continue
				}
				for _, i := range f.Imports {
					if i.Path == "net/http" {
						out = append(out, Finding{"L2", f.Path, i.Line, "is under the root package and imports net/http"})
					}
					add(at, i.Path)
				}
			}
			continue
		}
		if slices.Contains(accepted, at) {
			continue
		}
		if h := heavyPrefix(at); h != "" {
			out = append(out, Finding{"L2", ".", 0, fmt.Sprintf("the root package pulls in %s", chain(from, at))})
			continue
		}
		if resolve == nil || !strings.Contains(strings.SplitN(at, "/", 2)[0], ".") {
			continue // the standard library is light
		}
		imports, ok := resolve(at)
		if !ok {
			out = append(out, Finding{"L2", ".", 0, fmt.Sprintf("cannot find the source of %q to follow its imports: run go mod download", at)})
		}
		for _, i := range imports {
			add(at, i)
		}
	}
	return out
}

func heavyPrefix(importPath string) string {
	for _, h := range heavy {
		if importPath == h || strings.HasPrefix(importPath, h+"/") {
			return h
		}
	}
	return ""
}

func chain(from map[string]string, at string) string {
	s := at
	for p := from[at]; p != ""; p = from[p] {
		s = p + " → " + s
	}
	return s
}
