package registrytest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Asking is a provider that asks the owner of each run something before it answers with what it heard, a line for each
// question: "accept {...}". It is a registry.Caller.
type Asking struct {
	Questions func(registry.Call) []registry.Question // by the call, so that each tool may ask something else
}

// Call asks, one question after the other.
func (a *Asking) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	var heard []string
	for _, q := range a.Questions(c) {
		reply := c.Ask(ctx, q)
		values, err := json.Marshal(reply.Values)
		if err != nil {
			return registry.Result{}, err
		}
		heard = append(heard, fmt.Sprintf("%s %s", reply.Action, values))
	}
	return registry.Result{Outputs: []registry.Output{{Name: "text", Type: "text", Text: strings.Join(heard, "\n")}}}, ctx.Err()
}
