package comfy

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/registry"
)

// extraData is what accompanies a prompt: the key for partners' services, where one of its nodes calls them.
func (p *Provider) extraData(e *Engine, prompt graph.Prompt) map[string]any {
	if p.cfg.PartnerKey == "" || !hasPartners(e.knowledge().info, prompt) {
		return nil
	}
	return map[string]any{"api_key_comfy_org": p.cfg.PartnerKey}
}

func hasPartners(info *objectinfo.Info, prompt graph.Prompt) bool {
	return slices.ContainsFunc(prompt, func(n graph.PromptNode) bool {
		class, ok := info.Class(n.Class)
		return ok && class.APINode
	})
}

// fees gives what partners' services take for a call on an engine, by node; nil where that can't be known, which is logged. It is the same
// before the run and when its prompt is found again, so files of the call stand there by name only.
func (p *Provider) fees(ctx context.Context, e *Engine, c registry.Call, tpl *loader.Template) map[string]json.Number {
	if c.Tool.CostingModel == nil || !c.Tool.CostingModel.Fees {
		return nil
	}
	applied, err := tpl.Binding.Apply(c.Inputs, standIns(tpl, c), nil)
	if err == nil {
		var fees map[string]json.Number
		if fees, err = p.badges.Of(e.knowledge().info, applied.Prompt); err == nil {
			return fees
		}
	}
	p.cfg.Logger.WarnContext(ctx, "what partners' nodes cost is not known; give the workflow a price: @tool cost=", "tool", c.Tool.ToolID, "engine", e.Name, "error", err)
	return nil
}

// standIns are names for the files of a call that is not on an engine yet.
func standIns(tpl *loader.Template, c registry.Call) map[string][]string {
	names := make(map[string][]string)
	for _, f := range c.Tool.InputSchema {
		if !f.Type.IsMedia() {
			continue
		}
		for i := range mediaRefs(c.Inputs[f.Name]) {
			name := fmt.Sprintf("%d.png", i)
			if tpl.TakesURL(f.Name) {
				name = "https://files.invalid/" + name
			}
			names[f.Name] = append(names[f.Name], name)
		}
	}
	return names
}

// sumOf adds up fees but for those of nodes whose result the engine still had, as an exact decimal; "" where they are not known.
func sumOf(fees map[string]json.Number, cached []string) string {
	if fees == nil {
		return ""
	}
	sum := new(big.Rat)
	for id, fee := range fees {
		if slices.Contains(cached, id) {
			continue
		}
		exact, err := decimal.Parse(fee)
		if err != nil {
			return ""
		}
		sum.Add(sum, exact)
	}
	return sum.FloatString(9)
}

// usage is what a prompt has consumed.
func (e *Engine) usage(o api.Outcome, pl plan) registry.Usage {
	return registry.Usage{RunTime: o.RunTime, Machine: e.machine(), FeesUSD: sumOf(pl.Fees, o.Cached)}
}
