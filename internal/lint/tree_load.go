package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Tree is the parsed Go files of a module.
type Tree struct {
	Module   string
	Requires map[string]string // module path to version, from go.mod
	Packages []*Package        // by directory
	fset     *token.FileSet
}

// Package is the files of one directory.
type Package struct {
	Dir   string // slash-separated, "." for the root
	Name  string // of its files outside tests; that of a test file where there are no others
	Files []*File
}

// File is one parsed file.
type File struct {
	Path      string
	Base      string
	Test      bool
	Generated bool
	Lines     int
	Imports   []Import
	AST       *ast.File
}

// Import is one import of a file.
type Import struct {
	Path string
	Name string // by which the file knows it
	Line int
}

// Finding is a place that breaks a rule.
type Finding struct {
	Rule    string // L1 … L5, tests, marks
	Path    string
	Line    int // 0 where the finding is about the file or directory as a whole
	Problem string
}

func (f Finding) String() string {
	at := f.Path
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	return fmt.Sprintf("%s: %s: %s", f.Rule, at, f.Problem)
}

// program reports whether the package is one that is run, not imported.
func (p *Package) program() bool { return p.Name == "main" }

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// Load parses all Go files of a module. Directories named testdata, hidden ones and those with a go.mod of their own
// are left out.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{Requires: map[string]string{}, fset: token.NewFileSet()}
	if err := t.readModFile(fsys); err != nil {
		return nil, err
	}
	byDir := map[string]*Package{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipDir(fsys, p) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := t.parse(fsys, p)
		if err != nil {
			return err
		}
		dir := path.Dir(p)
		pkg := byDir[dir]
		if pkg == nil {
			pkg = &Package{Dir: dir}
			byDir[dir] = pkg
		}
		pkg.Files = append(pkg.Files, f)
		if !f.Test || pkg.Name == "" {
			pkg.Name = f.AST.Name.Name
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load tree: %w", err)
	}
	for _, p := range byDir {
		t.Packages = append(t.Packages, p)
	}
	sort.Slice(t.Packages, func(i, j int) bool { return t.Packages[i].Dir < t.Packages[j].Dir })
	return t, nil
}

func skipDir(fsys fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	base := path.Base(dir)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (t *Tree) parse(fsys fs.FS, p string) (*File, error) {
	src, err := fs.ReadFile(fsys, p)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &File{
		Path: p, Base: path.Base(p), AST: tree,
		Test:      strings.HasSuffix(p, "_test.go"),
		Generated: generated.Match(src),
		Lines:     t.fset.File(tree.FileStart).LineCount(),
	}
	for _, s := range tree.Imports {
		ip, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", p, s.Path.Value, err)
		}
		name := lastElement(ip)
		if s.Name != nil {
			name = s.Name.Name
		}
		f.Imports = append(f.Imports, Import{Path: ip, Name: name, Line: t.line(s.Pos())})
	}
	return f, nil
}

func (t *Tree) line(p token.Pos) int { return t.fset.Position(p).Line }

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// lastElement is the name that an import path most likely has as a package.
func lastElement(p string) string {
	if base := path.Base(p); !majorVersion.MatchString(base) || path.Dir(p) == "." {
		return base
	}
	return path.Base(path.Dir(p))
}

// readModFile takes the module's path and its requirements from go.mod.
func (t *Tree) readModFile(fsys fs.FS) error {
	src, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return fmt.Errorf("load tree: %w", err)
	}
	inRequire := false
	for _, line := range strings.Split(string(src), "\n") {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "module" && len(f) == 2:
			t.Module = f[1]
		case f[0] == "require" && len(f) == 2 && f[1] == "(":
			inRequire = true
		case f[0] == ")":
			inRequire = false
		case f[0] == "require" && len(f) == 3:
			t.Requires[f[1]] = f[2]
		case inRequire && len(f) == 2:
			t.Requires[f[0]] = f[1]
		}
	}
	if t.Module == "" {
		return fmt.Errorf("load tree: go.mod names no module")
	}
	return nil
}

// Package gives the package of a directory, or nil.
func (t *Tree) Package(dir string) *Package {
	for _, p := range t.Packages {
		if p.Dir == dir {
			return p
		}
	}
	return nil
}

// dirOf gives the directory of an import path of this module.
func (t *Tree) dirOf(importPath string) (dir string, ours bool) {
	if importPath == t.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.Module+"/")
}

// Check gives all findings, in the order of their places. resolve may be nil: then the imports of other modules are
// not followed.
func (t *Tree) Check(resolve Resolver) []Finding {
	var out []Finding
	out = append(out, t.checkLayers()...)
	out = append(out, t.checkWeight(resolve)...)
	for _, p := range t.Packages {
		out = append(out, t.checkDescription(p)...)
		out = append(out, t.checkLengths(p)...)
		out = append(out, t.checkTests(p)...)
		out = append(out, t.checkMarks(p)...)
		if !p.program() {
			out = append(out, t.checkProcess(p)...)
			out = append(out, t.checkVariables(p)...)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.Path != b.Path {
			return a.Path < b.Path
		}
		return a.Line < b.Line
	})
	return out
}
