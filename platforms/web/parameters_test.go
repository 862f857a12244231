package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestParameters asks all addresses that only read for what nobody's program or browser would ask for: no answer blames the house.
func TestParameters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	person := h.visitor()
	ann := h.developer("ann")
	person.form("/signin", url.Values{"key": {ann.key}})
	var begun struct{ RunID string }
	ann.call("POST", "/api/run/wallpaper", `{"inputs":{"colors":3}}`, &begun)
	run := ann.finished(begun.RunID)
	gap := regexp.MustCompile(`\{[^}]*\}`)
	for _, row := range mayTable(t) {
		for _, address := range row.addresses {
			method, path, _ := strings.Cut(address, " ")
			if row.mounted || method != http.MethodGet || strings.Contains(path, "/events") || strings.HasPrefix(path, "/readyz") {
				continue
			}
			path = strings.Replace(path, "{$}", "", 1)
			named := strings.Replace(strings.Replace(path, "/run/{id}", "/run/"+run.RunID, 1), "/tool/{id}", "/tool/wallpaper", 1)
			var asked []string
			for _, value := range []string{"%00", "a%00b", "%ff", "%F0%9F%98", "%zz", "9223372036854775807", "99999999999999999999", "-1", "1e400", "[1]", "0000-01-01", "999999-01-01T00:00:00Z", strings.Repeat("x", 5000)} {
				if gap.MatchString(path) && value != "%zz" {
					asked = append(asked, gap.ReplaceAllString(path, value))
				}
				query := ""
				for _, name := range []string{
					"after", "before", "category", "code", "day", "does", "done", "favorite", "follow", "from", "kind", "language", "limit", "next", "offer", "on", "parent", "preset", "q", "rating", "reply", "run", "session", "since", "state", "status", "text", "tool", "type", "until", "use",
				} {
					query += "&" + name + "=" + value + "&" + name + "=1"
					if value == "%00" { // all at once may be refused for the first
						asked = append(asked, gap.ReplaceAllString(named, run.RunID)+"?"+name+"="+value)
					}
				}
				asked = append(asked, gap.ReplaceAllString(named, run.RunID)+"?"+query[1:])
			}
			for _, who := range []*client{person, ann} {
				for _, path := range asked {
					res := who.do(method, path, "", nil)
					body := readAll(t, res.Body)
					if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || strings.Contains(body, "SQLSTATE") {
						t.Errorf("%s %.100s: %d: %.300s", method, path, res.StatusCode, body)
						break
					}
				}
			}
		}
	}
}
