package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// B8: whatever a user tunes says what holds where it is not set: functions that give an option, and the fields of structs that have
// WithDefaults. A field may be required, or belong to those of which the type's comment says so.
func TestB8EveryOptionSaysItsDefault(t *testing.T) {
	files := map[string]*ast.File{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch d.Name() {
		case "internal", "bench", "examples", "tools", "testdata", ".git", "bin", "docs", "arkflowtest": // options of arkflowtest are steps of a test
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil {
			files[path], err = parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
		}
		return err
	})
	require.NoError(t, err)
	checked := 0
	check := func(path, name, comment string) {
		checked++
		if c := strings.ToLower(comment); !strings.Contains(c, "default") && !strings.Contains(c, "required") {
			t.Errorf("B8: %s: the comment of %s does not say what holds where it is not set", path, name)
		}
	}
	defaulted := map[string]bool{} // by directory and type
	for path, file := range files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			switch {
			case !ok || !f.Name.IsExported():
			case f.Recv != nil && f.Name.Name == "WithDefaults":
				defaulted[filepath.Dir(path)+typeName(f.Recv.List[0].Type)] = true
			case f.Recv == nil && f.Type.Results != nil && strings.HasSuffix(typeName(f.Type.Results.List[0].Type), "Option") && !internals[f.Name.Name]:
				check(path, f.Name.Name, f.Doc.Text())
			}
		}
	}
	for path, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !defaulted[filepath.Dir(path)+spec.Name.Name] {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					if name.IsExported() {
						check(path, spec.Name.Name+"."+name.Name, f.Doc.Text()+f.Comment.Text())
					}
				}
			}
			return true
		})
	}
	require.Greater(t, checked, 30)
}

// internals are options that no user can give.
var internals = map[string]bool{"Harness": true}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	}
	return ""
}
