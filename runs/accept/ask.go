package accept

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// approvalKey makes a model's call the same call when it is sent again: after its approval it is found, and runs once. Other
// arguments, another tool, another trace or another API key make another key. Empty where the request names no trace. before is the id of
// an earlier run by the same words that nobody approved in time.
func approvalKey(r runs.Request, before string) (string, error) {
	if r.Context.TraceID == "" {
		return "", nil
	}
	given := make(map[runs.Source]map[string]any)
	for source, values := range r.Values {
		if !lasting(source) {
			given[source] = values
		}
	}
	call := []any{r.ToolID, given, r.Context, before}
	if r.Budget.Name != "" {
		call = append(call, r.Budget.Name)
	}
	canonical, err := registry.CanonicalJSON(call)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "approval:" + hex.EncodeToString(sum[:]), nil
}
