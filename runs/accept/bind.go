package accept

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// precedence lists the sources from the strongest to the weakest (A62). The tool's default and drawn
// seeds come after all of them.
var precedence = [...]runs.Source{runs.FromArgument, runs.FromAttachment, runs.FromReply, runs.FromAnswer, runs.FromPreset, runs.FromPreference, runs.FromChat}

// Bind gives every input of the tool its value: the one of the strongest source that has any, else the
// tool's default. Media of an input that takes several are collected over attachment and reply. A Seed
// input without a value, or with -1 or "random", gets a fresh random one from FromRandom, so that the
// history shows what ran.
//
// A value that does not fit is a *registry.Error with CodeInvalidInput and the input's name, as is a
// value for an input that the tool does not have, except from preferences, presets and chats, which
// outlive a tool's change and are passed over. Errors: ErrUnknownTool, *registry.Error for a tool that can't be
// run now. Nothing is stored.
func (s *Acceptor) Bind(ctx context.Context, r runs.Request) (runs.Bound, error) {
	return s.BindIn(ctx, s.Config.Registry.Snapshot(), r)
}

// BindIn is Bind with the tools that its caller works with. They are as they are written: what is kept of a run is in no reader's language.
func (s *Acceptor) BindIn(ctx context.Context, tools *catalog.Snapshot, r runs.Request) (runs.Bound, error) {
	tool, ok := tools.Resolve(r.ToolID)
	if !ok || !tool.KnownTo(r.Audience) {
		return runs.Bound{}, fmt.Errorf("bind: %w", runs.UnknownTool(s.Config.Registry, r.Audience, r.ToolID))
	}
	if refusal := tool.Refusal(r.Audience); refusal != nil {
		return runs.Bound{}, refusal
	}
	return s.BindAs(ctx, *tool, r)
}

// BindAs is Bind for a tool as it is given, such as that of an earlier run, whatever became of it.
func (s *Acceptor) BindAs(ctx context.Context, tool registry.Tool, r runs.Request) (runs.Bound, error) {
	if r.Context.PlannerProvider != "" || r.Approval != runs.ApproveNothing {
		r.Approval = max(r.Approval, s.Config.Approval)
	}
	if _, given := r.Values[runs.FromPreference]; !given && s.Config.Users != nil && r.AccountID != "" {
		preferences, err := s.Config.Users.PreferencesFor(ctx, r.AccountID, tool)
		if err != nil {
			return runs.Bound{}, fmt.Errorf("bind: %w", err)
		}
		r = r.With(runs.FromPreference, preferences)
	}
	return bind(tool, r, s.Config.Random)
}

// bind is Bind without the world around it.
func bind(tool registry.Tool, r runs.Request, random io.Reader) (runs.Bound, error) {
	b := runs.NewBound(r, tool)
	if err := refuseUnknown(tool, r.Values); err != nil {
		return runs.Bound{}, err
	}
	for _, f := range tool.InputSchema {
		if human, has := tool.HumanDefaults[f.Name]; has && r.Context.PlannerProvider == "" && r.Approval == runs.ApproveNothing {
			f.Default = human
		}
		value, source, err := resolve(f, r.Values)
		if err != nil {
			return runs.Bound{}, err
		}
		if f.Seed && (value == nil || value == registry.RandomSeed) {
			if value, err = drawSeed(f, random); err != nil {
				return runs.Bound{}, err
			}
			source = runs.FromRandom
		}
		if value != nil || source != "" {
			b.Inputs[f.Name], b.Sources[f.Name] = value, source
		} else if f.Required {
			b.Missing = append(b.Missing, f)
		}
	}
	addWords(tool, b.Inputs)
	return b, nil
}

// addWords brings into prompts what chosen values want there. A prompt that nobody has given yet is asked for first.
func addWords(tool registry.Tool, inputs map[string]any) {
	for _, f := range tool.InputSchema {
		if f.Words == nil {
			continue
		}
		if text, given := inputs[f.Words.Into].(string); given {
			inputs[f.Words.Into] = f.Words.Added(text, inputs[f.Name])
		}
	}
}

// refuseUnknown finds values that were meant for this run but that the tool has no input for.
func refuseUnknown(tool registry.Tool, values map[runs.Source]map[string]any) error {
	for _, source := range []runs.Source{runs.FromArgument, runs.FromAttachment, runs.FromReply, runs.FromAnswer} {
		for name := range values[source] {
			if _, ok := tool.InputSchema.Get(name); ok {
				continue
			}
			known := make([]string, len(tool.InputSchema))
			for i, f := range tool.InputSchema {
				known[i] = f.Name
			}
			if near := edit.Nearest(name, known); near != "" {
				return registry.Say(registry.CodeInvalidInput, said.InputNear, "tool", tool.DisplayName, "name", near).At(name)
			}
			return registry.Say(registry.CodeInvalidInput, said.InputUnknown, "tool", tool.DisplayName).At(name)
		}
	}
	return nil
}

// resolve finds one input's value. It is nil where there is none, with a source where null was asked for.
func resolve(f registry.InputField, values map[runs.Source]map[string]any) (any, runs.Source, error) {
	for _, source := range precedence {
		raw, ok := values[source][f.Name]
		if ok && raw == nil && source == runs.FromArgument && f.TakesNull() {
			return nil, source, nil
		}
		if !ok || raw == nil || missing(f, raw) {
			continue
		}
		if f.Multiple && f.Type.IsMedia() && (source == runs.FromAttachment || source == runs.FromReply) {
			raw = collect(values, f.Name)
		}
		value, err := check(f, raw)
		if err != nil && lasting(source) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		if value != nil {
			return value, source, nil
		}
	}
	if f.Default == nil || f.Seed { // the same picture again and again is what nobody wants
		return nil, "", nil
	}
	value, err := check(f, f.Default)
	if err != nil {
		return nil, "", err
	}
	return value, runs.FromDefault, nil
}

// lasting reports whether values of the source are stored and may have been outlived by the tool: a
// preference for a choice that is gone must not make the tool unusable.
func lasting(source runs.Source) bool {
	return source == runs.FromPreset || source == runs.FromPreference || source == runs.FromChat
}

// missing reports whether raw is a text or list of nothing for an input that needs something, so that
// the user is asked instead of refused.
func missing(f registry.InputField, raw any) bool {
	switch v := raw.(type) {
	case string:
		return f.Required && strings.TrimSpace(v) == ""
	case []any:
		return f.Required && len(v) == 0
	}
	return false
}

// check parses text by the input's type and judges everything else as it is.
func check(f registry.InputField, raw any) (any, error) {
	var value any
	var err *registry.Error
	if text, ok := raw.(string); ok {
		value, err = registry.ParseText(f, text)
	} else {
		value, err = registry.CheckValue(f, raw)
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// collect joins what was sent with the command and what was replied to.
func collect(values map[runs.Source]map[string]any, name string) []any {
	var all []any
	for _, source := range []runs.Source{runs.FromAttachment, runs.FromReply} {
		switch v := values[source][name].(type) {
		case nil:
		case []any:
			all = append(all, v...)
		default:
			all = append(all, v)
		}
	}
	return all
}

// maxSeed is the highest seed drawn where the input has no maximum: ComfyUI's and everybody else's range
// of 64 bits without a sign, less the bit that engines in other languages trip over.
var maxSeed = new(big.Int).SetUint64(1<<63 - 1)

// drawSeed draws a whole number within the input's bounds and steps, from zero where there is no minimum.
func drawSeed(f registry.InputField, random io.Reader) (json.Number, error) {
	low, high := wholeBound(f.Min, big.NewInt(0)), wholeBound(f.Max, maxSeed)
	if low.Sign() < 0 {
		low.SetInt64(0) // negative seeds ask for a random one in many engines
	}
	if high.Cmp(low) < 0 {
		high.Set(low)
	}
	step := wholeBound(f.Step, big.NewInt(1))
	if step.Sign() <= 0 {
		step.SetInt64(1)
	}
	count := new(big.Int).Sub(high, low)
	count.Div(count, step).Add(count, big.NewInt(1))
	n, err := rand.Int(random, count)
	if err != nil {
		return "", fmt.Errorf("draw a seed for %s: %w", f.Name, err)
	}
	return json.Number(n.Mul(n, step).Add(n, low).String()), nil
}

// wholeBound gives a bound rounded into the range, or a copy of the fall-back where there is none.
func wholeBound(n json.Number, fallback *big.Int) *big.Int {
	if n == "" {
		return new(big.Int).Set(fallback)
	}
	exact, err := decimal.Parse(n)
	if err != nil {
		return new(big.Int).Set(fallback)
	}
	return new(big.Int).Quo(exact.Num(), exact.Denom())
}
