package arkflow

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

const packagePath = "github.com/arkflow-go/arkflow."

// place gives file:line of the call into this package: the first frame outside it.
func place() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, packagePath) {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
