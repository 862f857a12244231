package door

import (
	"net/http"
	"strings"
)

// HasTag reports whether If-None-Match names a tag, by RFC 9110's weak comparison: the client has the answer already.
func HasTag(r *http.Request, etag string) bool {
	for given := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		given = strings.TrimPrefix(strings.TrimSpace(given), "W/")
		if given == etag || given == "*" {
			return true
		}
	}
	return false
}
