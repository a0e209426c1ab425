package lint

import (
	"fmt"
	"go/ast"
	"strings"
)

// processImports are packages that serve a process as a whole: a library has no use for them (L5).
var processImports = map[string]string{
	"flag":      "flags belong to programs",
	"log":       "take a *slog.Logger",
	"os/signal": "signals belong to programs",
	"expvar":    "it registers a handler of http.DefaultServeMux",
}

// processNames are the names of packages that touch the state of the process (L5); "Print*" stands for all names that
// begin so.
var processNames = map[string]map[string]string{
	"os": {
		"Exit": "return an error", "Args": "take an argument", "Stdout": "", "Stderr": "", "Stdin": "",
		"Setenv": "", "Unsetenv": "", "Chdir": "",
	},
	"fmt":     {"Print*": "write to an io.Writer, or log by a *slog.Logger"},
	"context": {"Background": "take the caller's context", "TODO": "take the caller's context"},
	"net/http": {
		"DefaultServeMux": "return an http.Handler", "Handle": "return an http.Handler", "HandleFunc": "return an http.Handler",
		"DefaultClient": "take an *http.Client", "DefaultTransport": "take an *http.Client", "ListenAndServe": "return an http.Handler",
	},
	"log/slog": {
		"Default": "take a *slog.Logger", "SetDefault": "take a *slog.Logger", "Debug*": "take a *slog.Logger", "Info*": "take a *slog.Logger",
		"Warn*": "take a *slog.Logger", "Error*": "take a *slog.Logger", "Log": "take a *slog.Logger",
	},
	"runtime/debug": {"SetGCPercent": "", "SetMemoryLimit": "", "SetMaxStack": ""},
	"runtime":       {"GOMAXPROCS": "", "GC": ""},
	"math/rand":     {"Seed": ""},
	"github.com/prometheus/client_golang/prometheus": {"DefaultRegisterer": "take a registry", "MustRegister": "take a registry"},
}

// exceptions are the places where L5 gives way, each with its reason.
var exceptions = map[string]string{
	"connectors/stdout: os.Stdout":                 "the connector's purpose",
	"codec/internal/blocktest: context.Background": "helpers of tests, which have no caller's context to take",
	"arkflowtest: context.Background":              "a run of the kit is the root of its context: Run and Try take none",
}

// levels are names of log/slog that begin like its logging functions and are none.
var levels = map[string]bool{"LevelDebug": true, "LevelInfo": true, "LevelWarn": true, "LevelError": true}

// checkProcess is L5 for what the code calls: no process-global state, no init.
func (t *Tree) checkProcess(p *Package) (out []Finding) {
	for _, f := range p.Files {
		if f.Test {
			continue
		}
		names := f.importNames()
		for _, i := range f.Imports {
			if why, bad := processImports[i.Path]; bad {
				out = append(out, Finding{"L5", f.Path, i.Line, fmt.Sprintf("a library imports %q: %s", i.Path, why)})
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					out = append(out, Finding{"L5", f.Path, t.line(n.Pos()), "func init: build the value where it is used"})
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
					out = append(out, Finding{"L5", f.Path, t.line(n.Pos()), id.Name + " writes to the process's stderr"})
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					if why, bad := processName(names[x.Name], n.Sel.Name); bad && exceptions[p.Dir+": "+x.Name+"."+n.Sel.Name] == "" {
						out = append(out, Finding{"L5", f.Path, t.line(n.Pos()), strings.TrimSuffix(fmt.Sprintf("%s.%s touches the process: %s", x.Name, n.Sel.Name, why), ": ")})
					}
				}
			}
			return true
		})
	}
	return out
}

func processName(importPath, name string) (why string, bad bool) {
	table := processNames[importPath]
	if table == nil || levels[name] {
		return "", false
	}
	if why, bad = table[name]; bad {
		return why, true
	}
	for pattern, why := range table {
		if begin, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(name, begin) {
			return why, true
		}
	}
	return "", false
}
