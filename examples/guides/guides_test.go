package guides_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// What stands in the guides is what runs here: Go code is found again in a file that is compiled and run by a test, and jobs in YAML load.

const root = "../.."

// guides gives the pages that are checked, by name.
func guides(t *testing.T) map[string]string {
	out := map[string]string{}
	paths, err := filepath.Glob(root + "/docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, p := range append(paths, root+"/README.md") {
		text, err := os.ReadFile(p)
		require.NoError(t, err)
		out[filepath.Base(p)] = strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	return out
}

// blocks gives the blocks of a language in a page.
func blocks(page, language string) (out []string) {
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	return out
}

// source is a Go file that tests compile: its text, and its lines without indentation.
type source struct{ path, text, lines string }

// sources gives the examples of the project: programs, and tests that show one.
func sources(t *testing.T) (out []source) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(p, filepath.Clean(root)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return filepath.SkipDir
		case d.IsDir() || path.Ext(rel) != ".go" || strings.HasSuffix(rel, "guides_test.go"):
		case strings.HasPrefix(rel, "/examples/") || strings.HasSuffix(rel, "example_test.go") || strings.HasSuffix(rel, "docs_test.go"):
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			whole := strings.ReplaceAll(string(text), "\r\n", "\n")
			out = append(out, source{rel, whole, "\n" + dense(whole) + "\n"})
		}
		return nil
	})
	require.NoError(t, err)
	return out
}

// dense is code without indentation, empty lines, and the spaces that align comments.
func dense(code string) string {
	var out []string
	for _, l := range strings.Split(code, "\n") {
		if l = regexp.MustCompile(`\s+//`).ReplaceAllString(strings.TrimSpace(l), " //"); l != "" {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

func TestGoCodeOfTheGuidesRuns(t *testing.T) {
	known := sources(t)
	for name, page := range guides(t) {
		if name == "README.md" {
			continue // its job is checked in examples/testing
		}
		for i, block := range blocks(page, "go") {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				switch {
				case strings.HasPrefix(block, "package main\n") && strings.Contains(block, "func main() {\n"):
					checkProgram(t, known, block)
				case strings.HasPrefix(block, "package ") || strings.HasPrefix(block, "// Command"):
					checkFile(t, known, block)
				default:
					checkPart(t, known, block)
				}
			})
		}
	}
}

// checkFile: a whole file of an example.
func checkFile(t *testing.T, known []source, block string) {
	for _, s := range known {
		if s.text == block {
			return
		}
	}
	t.Errorf("no file of the examples is this one:\n%s", block)
}

// checkPart: lines that stand together in an example.
func checkPart(t *testing.T, known []source, block string) {
	for _, s := range known {
		if strings.Contains(s.lines, "\n"+dense(block)+"\n") {
			return
		}
	}
	t.Errorf("these lines stand in no example:\n%s", block)
}

// checkProgram: a program whose main is the body of an example that is run, and whose imports are those that it needs.
func checkProgram(t *testing.T, known []source, block string) {
	for _, s := range known {
		if s.text == block {
			return
		}
	}
	formatted, err := format.Source([]byte(block))
	require.NoError(t, err)
	assert.Equal(t, string(formatted), block, "in gofmt's form")
	main := bodies(t, block)["main"]
	found := false
	for _, s := range known {
		for name, body := range bodies(t, s.text) {
			if strings.HasPrefix(name, "Example") && body == main {
				found = true
				imports := importsOf(t, s.text)
				for _, i := range importsOf(t, block) {
					assert.Contains(t, imports, i)
				}
			}
		}
	}
	assert.True(t, found, "no example has this main:\n%s", main)
	assert.ElementsMatch(t, used(t, block), importNames(importsOf(t, block)), "imports")
}

// bodies gives the text of the bodies of a file's functions.
func bodies(t *testing.T, text string) map[string]string {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, "x.go", text, parser.ParseComments)
	require.NoError(t, err)
	out := map[string]string{}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Recv == nil {
			out[f.Name.Name] = text[set.Position(f.Body.Lbrace).Offset : set.Position(f.Body.Rbrace).Offset+1]
		}
	}
	return out
}

func importsOf(t *testing.T, text string) (out []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", text, parser.ImportsOnly)
	require.NoError(t, err)
	for _, i := range parsed.Imports {
		out = append(out, strings.Trim(i.Path.Value, `"`))
	}
	return out
}

func importNames(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, strings.TrimPrefix(path.Base(p), "go-"))
	}
	return out
}

// used gives the names of the packages that a program speaks of: what the parser leaves unresolved on the left of a selector.
func used(t *testing.T, text string) (out []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "x.go", text, 0)
	require.NoError(t, err)
	free, seen := map[*ast.Ident]bool{}, map[string]bool{}
	for _, i := range parsed.Unresolved {
		free[i] = true
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && free[x] && !seen[x.Name] {
				seen[x.Name] = true
				out = append(out, x.Name)
			}
		}
		return true
	})
	return out
}

func TestJobsOfTheGuidesLoad(t *testing.T) {
	type row struct {
		Customer *string    `arkflow:"customer"`
		Amount   *float64   `arkflow:"amount"`
		ParsedAt *time.Time `arkflow:"parsed_at"`
	}
	registry := arkflow.NewRegistry()
	require.NoError(t, parquet.Register(registry))
	require.NoError(t, registry.RegisterFunction("items/v1", operator.FlatMap(func(r row, emit func(row)) { emit(r) })))
	require.NoError(t, registry.RegisterFunction("fetch/v2", operator.Async(func(_ context.Context, r row) (row, error) { return r, nil }, operator.AsyncConfig{})))
	seen := 0
	for name, page := range guides(t) {
		for i, block := range blocks(page, "yaml") {
			t.Run(fmt.Sprintf("%s/%d", name, i), func(t *testing.T) {
				seen++
				if strings.HasPrefix(block, "type: ") { // the config of a window
					var config map[string]any
					require.NoError(t, yaml.Unmarshal([]byte(block), &config))
					_, err := window.FromConfig(config)
					require.NoError(t, err)
					return
				}
				_, err := arkflow.LoadJobs(registry, []byte(block))
				require.NoError(t, err)
			})
		}
	}
	require.Positive(t, seen)
}

// TestTheGuideNamesWhatStatusTells: go doc does not show the fields of these types, so that docs/jobs.md must.
func TestTheGuideNamesWhatStatusTells(t *testing.T) {
	page := guides(t)["jobs.md"]
	for _, v := range []any{arkflow.Status{}, arkflow.OperatorStatus{}, arkflow.CheckpointStatus{}, arkflow.HeldBack{}, arkflow.Event{}, arkflow.Peeked{}, arkflow.Fault{}} {
		typ := reflect.TypeOf(v)
		for f := range typ.NumField() {
			assert.True(t, strings.Contains(page, "`"+typ.Field(f).Name+"`"), "field %s of %s", typ.Field(f).Name, typ)
		}
	}
}

// TestLinksOfTheGuidesLead: to files that are there, and to headings.
func TestLinksOfTheGuidesLead(t *testing.T) {
	pages := guides(t)
	for name, page := range pages {
		dir := root + "/docs"
		if name == "README.md" {
			dir = root
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`).FindAllStringSubmatch(prose(page), -1) {
			to, anchor := m[1], strings.TrimPrefix(m[2], "#")
			if strings.Contains(to, "://") {
				continue
			}
			text := page
			if to != "" {
				b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(to)))
				if err != nil {
					_, err = os.Stat(filepath.Join(dir, filepath.FromSlash(to)))
				}
				require.NoError(t, err, name)
				text = string(b)
			}
			if anchor != "" {
				assert.Contains(t, anchors(text), anchor, "%s: %s", name, m[0])
			}
		}
	}
}

// prose is a page without its code.
func prose(page string) string {
	return regexp.MustCompile("`[^`\n]+`").ReplaceAllString(regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, ""), "x")
}

// anchors gives the headings of a page as links name them.
func anchors(page string) (out []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(prose(page), -1) {
		plain := regexp.MustCompile("[^a-z0-9 _-]").ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(plain, " ", "-"))
	}
	return out
}
