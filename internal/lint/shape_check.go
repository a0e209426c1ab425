package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// Bounds of L4, in lines.
const (
	MaxFileLines     = 600
	MaxFunctionLines = 100
	MaxPackageLines  = 4000 // outside tests
)

var (
	example = regexp.MustCompile(`(?m)^\t\S`)
	never   = regexp.MustCompile(`\b(never|nothing|none|no)\b`)
)

// checkDescription is L3: one doc.go that says which question the package answers, shows an example and says what the
// package never does. A program has its package comment wherever it likes.
func (t *Tree) checkDescription(p *Package) (out []Finding) {
	if !p.hasCode() {
		return nil
	}
	var doc *File
	for _, f := range p.Files {
		switch {
		case f.Test:
		case p.program():
			if f.AST.Doc != nil {
				return nil
			}
		case f.Base == "doc.go":
			doc = f
		case f.AST.Doc != nil:
			out = append(out, Finding{"L3", f.Path, t.line(f.AST.Package), "has a package comment: it belongs into doc.go alone"})
		}
	}
	if p.program() {
		return append(out, Finding{"L3", p.Dir, 0, "no file of the program has a package comment"})
	}
	if doc == nil {
		return append(out, Finding{"L3", p.Dir, 0, "has no doc.go"})
	}
	text := doc.AST.Doc.Text()
	missing := func(what string) {
		out = append(out, Finding{"L3", doc.Path, 0, "the package comment " + what})
	}
	if !strings.HasPrefix(text, "Package "+p.Name+" answers: ") || !strings.Contains(text, "?") {
		missing(fmt.Sprintf("does not begin with \"Package %s answers: …?\"", p.Name))
	}
	if !example.MatchString(text) {
		missing("shows no example (an indented block)")
	}
	if after := example.FindAllStringIndex(text, -1); len(after) > 0 && !never.MatchString(text[after[len(after)-1][1]:]) {
		missing("does not say what the package never does")
	}
	return out
}

// checkLengths is L4.
func (t *Tree) checkLengths(p *Package) (out []Finding) {
	total := 0
	for _, f := range p.Files {
		if f.Test || f.Generated {
			continue
		}
		total += f.Lines
		if f.Lines > MaxFileLines {
			out = append(out, Finding{"L4", f.Path, 0, fmt.Sprintf("has %d lines, at most %d", f.Lines, MaxFileLines)})
		}
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if n := t.line(fn.End()) - t.line(fn.Pos()) + 1; n > MaxFunctionLines {
				out = append(out, Finding{"L4", f.Path, t.line(fn.Pos()), fmt.Sprintf("function %s has %d lines, at most %d", fn.Name.Name, n, MaxFunctionLines)})
			}
		}
	}
	if total > MaxPackageLines {
		out = append(out, Finding{"L4", p.Dir, 0, fmt.Sprintf("the package has %d lines outside tests, at most %d", total, MaxPackageLines)})
	}
	return out
}

// openWork finds the marks by which an author says that something was left for later.
var openWork = regexp.MustCompile(`\b(` + "TO" + "DO" + `|` + "FIX" + "ME" + `|` + "XX" + "X" + `)\b`)

func (t *Tree) checkMarks(p *Package) (out []Finding) {
	for _, f := range p.Files {
		for _, g := range f.AST.Comments {
			for _, c := range g.List {
				if m := openWork.FindString(c.Text); m != "" {
					out = append(out, Finding{"marks", f.Path, t.line(c.Pos()), fmt.Sprintf("a comment says %s: do it, or open an issue", m)})
				}
			}
		}
	}
	return out
}

// checkTests finds tests that wait for the clock of the machine and tests that do not run.
func (t *Tree) checkTests(p *Package) (out []Finding) {
	for _, f := range p.Files {
		if !f.Test {
			continue
		}
		names := f.importNames()
		testers, bubbles := testerNames(f.AST), f.bubbles()
		ast.Inspect(f.AST, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := s.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch s.Sel.Name {
			case "Sleep":
				if names[x.Name] == "time" && !within(bubbles, s) {
					out = append(out, Finding{"tests", f.Path, t.line(s.Pos()), "time.Sleep in a test: use testing/synctest, a fake clock or a channel"})
				}
			case "Skip", "Skipf", "SkipNow":
				if testers[x.Name] {
					out = append(out, Finding{"tests", f.Path, t.line(s.Pos()), "a test that may be skipped does not hold"})
				}
			}
			return true
		})
	}
	return out
}

// bubbles are the calls of synctest.Test: time inside them is not that of the machine.
func (f *File) bubbles() (calls []*ast.CallExpr) {
	names := f.importNames()
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if s, ok := c.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Test" {
				if x, ok := s.X.(*ast.Ident); ok && names[x.Name] == "testing/synctest" {
					calls = append(calls, c)
				}
			}
		}
		return true
	})
	return calls
}

func within(calls []*ast.CallExpr, n ast.Node) bool {
	for _, c := range calls {
		if c.Pos() <= n.Pos() && n.End() <= c.End() {
			return true
		}
	}
	return false
}

// testerNames are the parameters of the file's functions that are a *testing.T, B, F, TB or *rapid.T.
func testerNames(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncType)
		if !ok || fn.Params == nil {
			return true
		}
		for _, p := range fn.Params.List {
			typ := p.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			s, ok := typ.(*ast.SelectorExpr)
			if !ok {
				continue
			}
			if pkg, ok := s.X.(*ast.Ident); ok && (pkg.Name == "testing" || pkg.Name == "rapid") {
				for _, name := range p.Names {
					names[name.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// importNames maps the names by which the file knows packages to their import paths.
func (f *File) importNames() map[string]string {
	m := map[string]string{}
	for _, i := range f.Imports {
		m[i.Name] = i.Path
	}
	return m
}
