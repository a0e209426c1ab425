package lint

import (
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// ModuleCache gives a Resolver that reads the sources of the required modules in the module cache.
func (t *Tree) ModuleCache(cache string) Resolver {
	return func(importPath string) ([]string, bool) {
		mod := ""
		for m := range t.Requires {
			if (importPath == m || strings.HasPrefix(importPath, m+"/")) && len(m) > len(mod) {
				mod = m
			}
		}
		if mod == "" {
			return nil, false
		}
		sub := strings.TrimPrefix(strings.TrimPrefix(importPath, mod), "/")
		dir := filepath.Join(cache, filepath.FromSlash(escape(mod)+"@"+escape(t.Requires[mod])), filepath.FromSlash(sub))
		p, err := build.Default.ImportDir(dir, 0)
		if err != nil {
			return nil, false
		}
		return p.Imports, true
	}
}

// CacheDir is where the go command keeps modules, by the environment alone.
func CacheDir() string {
	if d := os.Getenv("GOMODCACHE"); d != "" {
		return d
	}
	return filepath.Join(filepath.SplitList(build.Default.GOPATH)[0], "pkg", "mod")
}

// escape writes upper-case letters as the module cache does: "!a" for "A".
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
