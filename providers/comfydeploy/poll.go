package comfydeploy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Poll reads a run. What a webhook says is never believed: it only makes us look here.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	var now run
	if err := p.client.Get(ctx, "run/"+url.PathEscape(t.ProviderID), nil, &now); err != nil {
		return registry.Progress{}, err
	}
	progress := stateOf(now.Status)
	switch progress.State {
	case registry.RunQueued:
		progress.QueuePosition = max(now.QueuePosition, 0)
	case registry.RunRunning:
		progress.Fraction, progress.HasFraction, progress.Stage = now.fraction(), now.Progress > 0, fmt.Sprintf("%.80s", now.LiveStatus)
	case registry.RunFailed:
		progress.Err = registry.Say(registry.CodeProvider, said.WorkflowFailedAt)
		if now.Status == "timeout" {
			progress.Err = registry.Say(registry.CodeTimeout, said.WorkflowLong)
		}
	case registry.RunSucceeded:
		progress.Result = &registry.Result{Outputs: p.outputs(now, t), Usage: registry.Usage{RunTime: now.took(), Machine: now.GPU}}
	}
	return progress, nil
}

// stateOf knows the nine statuses of the service and the two others that its documentation has.
func stateOf(word string) registry.Progress {
	switch word {
	case "not-started", "queued":
		return registry.Progress{State: registry.RunQueued}
	case "started", "running", "uploading", "processing":
		return registry.Progress{State: registry.RunRunning}
	case "success", "completed":
		return registry.Progress{State: registry.RunSucceeded}
	case "failed", "timeout":
		return registry.Progress{State: registry.RunFailed}
	case "cancelled", "canceled":
		return registry.Progress{State: registry.RunCanceled}
	}
	return registry.Progress{State: registry.RunRunning, Unknown: word}
}

// took is how long a run worked: as the service counts it, else from its start to its end.
func (r run) took() time.Duration {
	if r.RunDuration != "" {
		return seconds(r.RunDuration)
	}
	return max(timeOf(r.EndedAt).Sub(timeOf(r.StartedAt)), 0)
}

// timeOf reads a time, in UTC where it does not say.
func timeOf(text string) time.Time {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999-07:00"} {
		if at, err := time.Parse(form, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

// seconds is an exact decimal number of seconds, to the nanosecond.
func seconds(n json.Number) time.Duration {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok || r.Sign() < 0 {
		return 0
	}
	nanos := new(big.Int).Quo(new(big.Int).Mul(r.Num(), big.NewInt(int64(time.Second))), r.Denom())
	if !nanos.IsInt64() {
		return 0
	}
	return time.Duration(nanos.Int64())
}

// outputs are a run's results: files and texts, without temporary ones, by the names of the tool's outputs.
func (p *Provider) outputs(r run, t registry.Ticket) []registry.Output {
	var list []registry.Output
	for _, o := range r.Outputs {
		for _, kind := range slices.Sorted(maps.Keys(o.Data)) {
			if kind == "tags" {
				continue
			}
			for _, raw := range o.Data[kind] {
				if one, ok := p.output(o, kind, raw, t); ok {
					list = append(list, one)
				}
			}
		}
	}
	return list
}

func (p *Provider) output(o output, kind string, raw json.RawMessage, t registry.Ticket) (registry.Output, bool) {
	var words string
	if json.Unmarshal(raw, &words) == nil {
		return registry.Output{Name: nameIn(t, o, "text"), Type: "text", Text: words}, true
	}
	var file made
	if json.Unmarshal(raw, &file) != nil || file.URL == "" || file.Type == "temp" {
		return registry.Output{}, false // a flag, such as "animated"
	}
	typ := kindOf(kind, file.FileName)
	return upstream.File(p.cfg.Guard, nameIn(t, o, typ), typ, file.URL, registry.MediaInfo{Name: file.FileName}), true
}

// nameIn is the name of a node's result: what the tool calls that node's, else the first of the type, else
// the type itself.
func nameIn(t registry.Ticket, o output, typ string) string {
	for _, key := range []string{"node:" + o.NodeID, "type:" + typ} {
		if name, known := t.Extra[key]; known {
			return name
		}
	}
	return typ
}
