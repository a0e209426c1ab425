package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/internal/lint"
)

const (
	goMod = "module example.org/m\n\ngo 1.26\n\nrequire example.org/x v1.2.0 // indirect\n\nrequire (\n\tgithub.com/Up/per v0.1.0\n)\n"
	doc   = "// Package %s answers: what for?\n//\n//\texample()\n//\n// It never breaks.\npackage %s\n"
)

func docOf(name string) string { return strings.ReplaceAll(doc, "%s", name) }

// tree makes a module of files; each directory of a library gets a good doc.go unless it brings its own.
func tree(t *testing.T, files map[string]string) *lint.Tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte(goMod)}}
	for p, src := range files {
		fsys[p] = &fstest.MapFile{Data: []byte(src)}
		dir := p[:strings.LastIndex(p, "/")+1]
		name, _, _ := strings.Cut(src[strings.Index(src, "package ")+len("package "):], "\n")
		if _, has := files[dir+"doc.go"]; !has && name != "main" && !strings.HasSuffix(name, "_test") {
			fsys[dir+"doc.go"] = &fstest.MapFile{Data: []byte(docOf(name))}
		}
	}
	tr, err := lint.Load(fsys)
	require.NoError(t, err)
	return tr
}

func found(t *testing.T, files map[string]string) []string {
	t.Helper()
	var out []string
	for _, f := range tree(t, files).Check(nil) {
		out = append(out, f.String())
	}
	return out
}

func TestL1ImportsGoDown(t *testing.T) {
	imp := func(pkg, path string) string {
		return fmt.Sprintf("package %s\n\nimport _ %q\n", pkg, path)
	}
	for name, c := range map[string]struct{ file, src, want string }{
		"operator imports the root":        {"operator/a.go", imp("operator", "example.org/m"), `L1: operator/a.go:3: "operator" may not import "."`},
		"expr imports window":              {"expr/a.go", imp("expr", "example.org/m/window"), `L1: expr/a.go:3: "expr" may not import "window"`},
		"plan imports anything of ours":    {"internal/plan/a.go", imp("plan", "example.org/m/column"), `"internal/plan" may not import "column"`},
		"a connector imports the engine":   {"connectors/file/a.go", imp("file", "example.org/m/internal/engine"), `"connectors/file" may not import "internal/engine"`},
		"root imports the test kit":        {"a.go", imp("m", "example.org/m/arkflowtest"), `"." may not import "arkflowtest"`},
		"an example imports internals":     {"examples/x/main.go", "// Command x.\n" + imp("main", "example.org/m/internal/plan"), `an example imports "internal/plan"`},
		"a package without a place":        {"helpers/a.go", "package helpers\n", "L1: helpers: is not in the table of layers"},
		"column imports state":             {"column/a.go", imp("column", "example.org/m/state"), `"column" may not import "state"`},
		"the plan's test may do otherwise": {"internal/plan/a_test.go", imp("plan", "example.org/m/column"), ""},
		"state imports column":             {"state/a.go", imp("state", "example.org/m/column"), ""},
		"root imports a connector":         {"a.go", imp("m", "example.org/m/connectors/file"), ""},
		"a program imports internals":      {"bench/main.go", "// Command bench.\n" + imp("main", "example.org/m/internal/plan"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, found(t, map[string]string{c.file: c.src}), c.want) })
	}
}

// expect asks for exactly one finding that contains want, or none where want is empty.
func expect(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" {
		assert.Empty(t, got)
		return
	}
	if assert.Len(t, got, 1) {
		assert.Contains(t, got[0], want)
	}
}

func TestL2UserPaysOnlyForWhatIsImported(t *testing.T) {
	files := map[string]string{
		"a.go":            "package m\n\nimport _ \"example.org/m/operator\"\n",
		"operator/a.go":   "package operator\n\nimport _ \"example.org/x/y\"\n",
		"codec/a.go":      "package codec\n\nimport _ \"net/http\"\n",
		"a_test.go":       "package m\n\nimport _ \"net/http\"\n",
		"operator/b.go":   "package operator\n",
		"checkpoint/a.go": "package checkpoint\n\nimport _ \"github.com/dgraph-io/badger/v4\"\n",
	}
	none := func(string) ([]string, bool) { return nil, true }
	assert.Empty(t, tree(t, files).Check(none), "what the root package does not reach may be heavy")

	files["operator/b.go"] = "package operator\n\nimport _ \"net/http\"\n"
	got := tree(t, files).Check(none)
	require.Len(t, got, 1)
	assert.Equal(t, "L2: operator/b.go:3: is under the root package and imports net/http", got[0].String())

	files["operator/b.go"] = "package operator\n"
	heavy := func(p string) ([]string, bool) {
		if p == "example.org/x/y" {
			return []string{"fmt", "github.com/apache/arrow-go/v18/arrow/compute/exec"}, true
		}
		return nil, true
	}
	got = tree(t, files).Check(heavy)
	require.Len(t, got, 1)
	assert.Contains(t, got[0].String(), "example.org/m → example.org/m/operator → example.org/x/y → github.com/apache/arrow-go/v18/arrow/compute/exec")

	got = tree(t, files).Check(func(string) ([]string, bool) { return nil, false })
	require.Len(t, got, 1)
	assert.Contains(t, got[0].String(), `cannot find the source of "example.org/x/y"`)
}

func TestL2ResolverReadsTheModuleCache(t *testing.T) {
	tr := tree(t, map[string]string{"a.go": "package m\n"})
	assert.Equal(t, map[string]string{"example.org/x": "v1.2.0", "github.com/Up/per": "v0.1.0"}, tr.Requires)
	imports, ok := tr.ModuleCache("testdata/cache")("github.com/Up/per/sub")
	require.True(t, ok)
	assert.Equal(t, []string{"fmt", "strings"}, imports)
	_, ok = tr.ModuleCache("testdata/cache")("github.com/Up/per/none")
	assert.False(t, ok)
	_, ok = tr.ModuleCache("testdata/cache")("example.org/unknown")
	assert.False(t, ok)
}

func TestL3EachPackageSaysWhatItIsFor(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no doc.go":       {map[string]string{"state/a.go": "package state\n", "state/doc.go": "package state\n"}, "does not begin"},
		"no question":     {map[string]string{"state/doc.go": "// Package state keeps.\n//\n//\tx()\n//\n// It never ends.\npackage state\n"}, "does not begin with"},
		"no example":      {map[string]string{"state/doc.go": "// Package state answers: what?\n//\n// It never ends.\npackage state\n"}, "shows no example"},
		"no never":        {map[string]string{"state/doc.go": "// Package state answers: what is never lost?\n//\n//\tx()\n//\n// It is good.\npackage state\n"}, "never does"},
		"a second":        {map[string]string{"state/a.go": "// Package state again.\npackage state\n"}, "belongs into doc.go alone"},
		"a silent binary": {map[string]string{"bench/main.go": "package main\n"}, "no file of the program"},
		"good":            {map[string]string{"state/a.go": "package state\n"}, ""},
		"tests only":      {map[string]string{"golden/a_test.go": "package golden_test\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := found(t, c.files)
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			require.NotEmpty(t, got)
			assert.Contains(t, got[0], c.want)
			assert.Contains(t, got[0], "L3: ")
		})
	}
}

func TestL4Lengths(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	fn := func(n int) string { return "func f() {" + lines(n-1) + "}\n" }
	for name, c := range map[string]struct{ src, want string }{
		"600 lines":         {"package state\n" + lines(599), ""},
		"601 lines":         {"package state\n" + lines(600), "has 601 lines, at most 600"},
		"function of 100":   {"package state\n" + fn(100), ""},
		"function of 101":   {"package state\n" + fn(101), "function f has 101 lines, at most 100"},
		"generated is free": {"// Code generated by x. DO NOT EDIT.\n\npackage state\n" + lines(900), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, found(t, map[string]string{"state/a.go": c.src}), c.want) })
	}
	many := map[string]string{}
	for i := range 8 {
		many[fmt.Sprintf("state/f%d.go", i)] = "package state\n" + lines(520)
	}
	expect(t, found(t, many), "the package has 4174 lines outside tests, at most 4000")
	assert.Empty(t, found(t, map[string]string{"state/a_test.go": "package state\n" + lines(900) + fn(200)}), "tests may be long")
}

func TestL5LibraryLeavesTheProcessAlone(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"init":                {"func init() {}", "func init"},
		"a method named init": {"type x int\nfunc (x) init() {}", ""},
		"flag":                {"import _ \"flag\"", `imports "flag"`},
		"log":                 {"import _ \"log\"", `imports "log"`},
		"signals":             {"import _ \"os/signal\"", `imports "os/signal"`},
		"slog is fine":        {"import \"log/slog\"\nvar _ = slog.LevelInfo\nfunc f(l *slog.Logger) { l.Info(\"\") }", ""},
		"slog's default":      {"import \"log/slog\"\nfunc f() { slog.Info(\"x\") }", "slog.Info touches the process"},
		"exit":                {"import \"os\"\nfunc f() { os.Exit(1) }", "os.Exit touches the process: return an error"},
		"exit by alias":       {"import x \"os\"\nfunc f() { x.Exit(1) }", "x.Exit touches the process"},
		"default mux":         {"import \"net/http\"\nfunc f() { http.HandleFunc(\"\", nil) }", "http.HandleFunc touches"},
		"print":               {"import \"fmt\"\nfunc f() { fmt.Println() }", "fmt.Println touches"},
		"fprint is fine":      {"import \"fmt\"\nfunc f() string { return fmt.Sprint() }", ""},
		"builtin print":       {"func f() { println() }", "println writes to the process's stderr"},
		"background":          {"import \"context\"\nfunc f() any { return context.Background() }", "context.Background touches the process"},
		"stdout":              {"import \"os\"\nfunc f() any { return os.Stdout }", "os.Stdout touches the process"},
		"a field named Exit":  {"type o struct{ Exit int }\nfunc f(os o) int { return os.Exit }", ""},
		"assigned":            {"var n int\nfunc f() { n = 1 }", `package variable "n" is assigned`},
		"counted":             {"var n int\nfunc f() { n++ }", `"n" is changed`},
		"element written":     {"var n [2]int\nfunc f() { n[1] = 2 }", `"n" is assigned`},
		"field written":       {"var n struct{ a struct{ b int } }\nfunc f() { n.a.b = 2 }", `"n" is assigned`},
		"deleted from":        {"var n map[int]int\nfunc f() { delete(n, 1) }", `"n" is changed`},
		"by address":          {"var n int\nfunc f() *int { return &n }", `"n" is handed out by address`},
		"shadowed is fine":    {"var n int\nfunc f() { n := 1; n = 2; _ = n }", ""},
		"read is fine":        {"var n = map[int]int{1: 2}\nfunc f() int { return n[1] }", ""},
		"mutex":               {"import \"sync\"\nvar mu sync.Mutex", `"mu" is a sync.Mutex`},
		"atomic":              {"import \"sync/atomic\"\nvar p atomic.Pointer[int]", `"p" is a atomic.Pointer`},
		"in another file":     {"func f() { other = 1 }", `"other" is assigned`},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, found(t, map[string]string{"state/a.go": "package state\n\n" + c.src + "\n", "state/b.go": "package state\n\nvar other int\n"}), c.want)
		})
	}
	assert.Empty(t, found(t, map[string]string{"bench/main.go": "// Command bench.\npackage main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n"}), "a program owns its process")
	assert.Empty(t, found(t, map[string]string{"connectors/stdout/a.go": "package stdout\n\nimport \"os\"\n\nvar _ = os.Stdout\n"}), "an exception")
}

func TestTestsNeitherSleepNorSkip(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"sleep":              {"import \"time\"\nfunc f() { time.Sleep(1) }", "time.Sleep in a test"},
		"sleep in a bubble":  {"import (\n\"testing/synctest\"\n\"time\"\n)\nfunc f() { synctest.Test(nil, func() { time.Sleep(1) }) }", ""},
		"sleep beside one":   {"import (\n\"testing/synctest\"\n\"time\"\n)\nfunc f() { synctest.Test(nil, nil); time.Sleep(1) }", "time.Sleep in a test"},
		"skip":               {"import \"testing\"\nfunc TestX(t *testing.T) { t.Skip() }", "may be skipped"},
		"skip in a subtest":  {"import \"testing\"\nfunc TestX(a *testing.T) { a.Run(\"\", func(b *testing.T) { b.SkipNow() }) }", "may be skipped"},
		"skip of a property": {"import \"pgregory.net/rapid\"\nfunc f(r *rapid.T) { r.Skip() }", "may be skipped"},
		"skip policy":        {"import \"example.org/m/operator\"\nvar _ = operator.Skip()", ""},
		"a reader's Skip":    {"func f(d interface{ Skip() }) { d.Skip() }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, found(t, map[string]string{"state/a.go": "package state\n", "state/a_test.go": "package state\n\n" + c.src + "\n"}), c.want)
		})
	}
}

func TestMarksOfOpenWork(t *testing.T) {
	for _, word := range []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"} {
		expect(t, found(t, map[string]string{"state/a.go": "package state\n\n// " + word + ": later\nvar x int\n"}), "a comment says "+word)
	}
	assert.Empty(t, found(t, map[string]string{"state/a.go": "package state\n\n// Todoist is a name.\nvar x = \"XX" + "X\"\n"}))
}

func TestLoadTellsWhatItCannotRead(t *testing.T) {
	_, err := lint.Load(fstest.MapFS{})
	require.ErrorContains(t, err, "go.mod")
	_, err = lint.Load(fstest.MapFS{"go.mod": {Data: []byte("go 1.26\n")}})
	require.ErrorContains(t, err, "names no module")
	_, err = lint.Load(fstest.MapFS{"go.mod": {Data: []byte(goMod)}, "a.go": {Data: []byte("package")}})
	require.ErrorContains(t, err, "a.go")
	tr, err := lint.Load(fstest.MapFS{
		"go.mod": {Data: []byte(goMod)}, "testdata/a.go": {Data: []byte("no Go")}, ".x/a.go": {Data: []byte("no Go")},
		"tools/go.mod": {Data: []byte("module t\n")}, "tools/a.go": {Data: []byte("no Go")},
	})
	require.NoError(t, err)
	assert.Empty(t, tr.Packages)
}
