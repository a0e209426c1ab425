package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// checkVariables is L5 for package-level variables: none is written after it was declared, and none is of a type that
// exists to be changed. Other packages are not looked into, so a change by a method of a type that is not in mutable is not seen.
func (t *Tree) checkVariables(p *Package) (out []Finding) {
	var files []*ast.File
	byFile := map[*ast.File]*File{}
	for _, f := range p.Files {
		if !f.Test {
			files = append(files, f.AST)
			byFile[f.AST] = f
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(p.Dir, t.fset, files, info) // faults are those of imports that were not read
	if pkg == nil {
		return nil
	}
	global := func(e ast.Expr) *types.Var {
		id := root(e)
		if id == nil || id.Name == "_" {
			return nil
		}
		v, ok := info.Uses[id].(*types.Var)
		if !ok || v.Parent() != pkg.Scope() {
			return nil
		}
		return v
	}
	for _, file := range files {
		f := byFile[file]
		report := func(e ast.Expr, how string) {
			if v := global(e); v != nil {
				out = append(out, Finding{"L5", f.Path, t.line(e.Pos()), fmt.Sprintf("package variable %q is %s: keep state in a value", v.Name(), how)})
			}
		}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				out = append(out, t.checkTypes(f, g)...)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool { inspectWrite(n, report); return true })
	}
	return out
}

// inspectWrite reports what a node writes to.
func inspectWrite(n ast.Node, report func(e ast.Expr, how string)) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, l := range n.Lhs {
				report(l, "assigned")
			}
		}
	case *ast.IncDecStmt:
		report(n.X, "changed")
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			report(n.Key, "assigned")
			report(n.Value, "assigned")
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			if _, whole := n.X.(*ast.Ident); whole {
				report(n.X, "handed out by address")
			}
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
			report(n.Args[0], "changed")
		}
	}
}

// mutable are types whose values exist to be changed.
var mutable = map[string]bool{
	"sync.Mutex": true, "sync.RWMutex": true, "sync.Once": true, "sync.Map": true, "sync.Pool": true, "sync.WaitGroup": true,
	"atomic.Bool": true, "atomic.Int32": true, "atomic.Int64": true, "atomic.Uint32": true, "atomic.Uint64": true, "atomic.Value": true, "atomic.Pointer": true,
	"strings.Builder": true, "bytes.Buffer": true,
}

// checkTypes looks at the declared types of package-level variables.
func (t *Tree) checkTypes(f *File, g *ast.GenDecl) (out []Finding) {
	for _, s := range g.Specs {
		v := s.(*ast.ValueSpec)
		types := []ast.Expr{v.Type}
		for _, e := range v.Values {
			if lit, ok := e.(*ast.CompositeLit); ok {
				types = append(types, lit.Type)
			}
		}
		for _, e := range types {
			if name := typeName(e); mutable[name] {
				out = append(out, Finding{"L5", f.Path, t.line(v.Pos()), fmt.Sprintf("package variable %q is a %s: keep state in a value", v.Names[0].Name, name)})
			}
		}
	}
	return out
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IndexExpr: // atomic.Pointer[T]
		return typeName(e.X)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// root is the variable that an expression reaches into: v of v.f[i], *v, v[i:j].
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// noImports makes the type checker go on without other packages.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not read") }
