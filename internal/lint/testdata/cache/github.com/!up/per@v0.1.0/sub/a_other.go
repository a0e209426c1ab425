//go:build never

package sub

import _ "net/http"
