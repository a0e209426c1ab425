package sub

import (
	_ "fmt"
	_ "strings"
)
