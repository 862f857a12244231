package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// PresetCommand lists the person's presets, or does what its first word says with the one named.
func PresetCommand(ctx context.Context, t *turn.Turn) (turn.Outcome, error) {
	verb, name, _ := strings.Cut(strings.TrimSpace(t.In.Text), " ")
	name = strings.TrimSpace(name)
	switch {
	case strings.EqualFold(verb, "save") && name != "":
		return turn.Nothing, savePreset(ctx, t, name)
	case strings.EqualFold(verb, "use") && name != "":
		return withPreset(ctx, t, name, func(tool *registry.Tool, p users.Preset) (turn.Outcome, error) {
			return startPreset(ctx, t, tool, p, start.NewDraft(t, tool))
		})
	case strings.EqualFold(verb, "delete") && name != "":
		return withPreset(ctx, t, name, func(tool *registry.Tool, p users.Preset) (turn.Outcome, error) {
			if err := t.Services.Accounts.DeletePreset(ctx, t.Account.ID, p.ToolID, p.Name); err != nil {
				return turn.Nothing, t.Refused(ctx, err)
			}
			return turn.Nothing, t.Tell(ctx, "preset.deleted", "name", p.Name, "tool", tool.DisplayName)
		})
	}
	return turn.Nothing, listPresets(ctx, t)
}

// savePreset keeps what the last run was given, but for its text, its files and its seed, under a name.
func savePreset(ctx context.Context, t *turn.Turn, name string) error {
	list, err := t.Services.Runs.List(ctx, runs.Filter{AccountID: t.Account.ID, Limit: 1})
	if err != nil {
		return fmt.Errorf("find the last run: %w", err)
	}
	if len(list) == 0 {
		return t.Tell(ctx, "history.none")
	}
	run := t.Say.Read(list[0])
	free, _ := input.TextInput(run.Tool.InputSchema)
	values := map[string]any{}
	var shown []string
	for _, f := range run.Tool.InputSchema.Ordered() {
		value, ok := run.Inputs[f.Name]
		from := run.Sources[f.Name]
		if !ok || from == runs.FromDefault || from == runs.FromRandom || f.Type.IsMedia() || f.Name == free.Name {
			continue
		}
		values[f.Name] = value
		shown = append(shown, f.Label()+" "+chat.Brief(t.Say.ValueLabel(f, value), 40))
	}
	if len(values) == 0 {
		return t.Tell(ctx, "preset.empty", "tool", run.Tool.DisplayName)
	}
	if err := t.Services.Accounts.SavePreset(ctx, t.Account.ID, run.Tool.ToolID, name, values); err != nil {
		return t.Refused(ctx, err)
	}
	return t.Tell(ctx, "preset.saved", "name", name, "tool", run.Tool.DisplayName, "values", strings.Join(shown, " · "),
		"example", input.CommandOf(&run.Tool)+" "+input.PresetWord+"="+input.QuoteIfNeeded(name))
}

// withPreset does something with the preset of a name, whatever tool it is for.
func withPreset(ctx context.Context, t *turn.Turn, name string, do func(*registry.Tool, users.Preset) (turn.Outcome, error)) (turn.Outcome, error) {
	tools, err := presetTools(ctx, t)
	if err != nil {
		return turn.Nothing, err
	}
	for _, tool := range tools {
		p, err := t.Services.Accounts.Preset(ctx, t.Account.ID, *tool, name)
		if errors.Is(err, users.ErrNoPreset) {
			continue
		}
		if err != nil {
			return turn.Nothing, fmt.Errorf("find a preset: %w", err)
		}
		return do(tool, p)
	}
	return turn.Nothing, t.Tell(ctx, "preset.unknown")
}

// startPreset starts a preset's tool with its values, and asks for the rest.
func startPreset(ctx context.Context, t *turn.Turn, tool *registry.Tool, p users.Preset, d input.Draft) (turn.Outcome, error) {
	t = t.Openly()
	if refused, err := start.Refuse(ctx, t, tool); refused || err != nil {
		return turn.Nothing, err
	}
	for name, value := range p.Values {
		d.Set(runs.FromPreset, name, value)
	}
	return start.Proceed(ctx, t, d)
}

// listPresets shows the person's presets, each with a button that uses it.
func listPresets(ctx context.Context, t *turn.Turn) error {
	tools, err := presetTools(ctx, t)
	if err != nil {
		return err
	}
	k := t.Keyboard(store.KeyboardState{})
	text := t.Say.Text("preset.title")
	var options []chat.MenuOption
	for _, tool := range tools {
		presets, err := t.Services.Accounts.Presets(ctx, t.Account.ID, *tool)
		if err != nil {
			return fmt.Errorf("list presets: %w", err)
		}
		for _, p := range presets {
			if len(options) == maxPresetsShown {
				break
			}
			text = chat.Lines(text, chat.Text{{Text: "• "}, {Style: chat.StyleBold, Text: p.Name}, {Text: " – " + tool.DisplayName}})
			k.State.Fields = append(k.State.Fields, p.Name)
			k.State.Tools = append(k.State.Tools, tool.ToolID)
			options = append(options, chat.MenuOption{Label: p.Name, Description: tool.DisplayName})
		}
	}
	if len(options) == 0 {
		return t.Tell(ctx, "preset.none")
	}
	if err := t.Services.Store.Keyboards.Save(ctx, k); err != nil {
		return err
	}
	m := t.Answering(chat.Lines(text, t.Say.Text("preset.how")))
	t.Offer(&m, k, "preset", "menu.preset", options)
	_, err = t.Post(ctx, m)
	return err
}

// maxPresetsShown is how many presets a list shows.
const maxPresetsShown = 20

// presetTools gives the tools that the person has presets of, the one whose preset was kept last first.
func presetTools(ctx context.Context, t *turn.Turn) ([]*registry.Tool, error) {
	ids, err := t.Services.Accounts.PresetTools(ctx, t.Account.ID)
	if err != nil {
		return nil, fmt.Errorf("find the tools with presets: %w", err)
	}
	var tools []*registry.Tool
	for _, id := range ids {
		tool, ok := t.Tools.Resolve(id)
		if ok && tool.ListedFor(t.Audience()) && !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	return tools, nil
}

// PressPreset uses a preset of the list.
func PressPreset(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n >= len(k.State.Fields) {
		return t.Alert(ctx, "press.tooOld")
	}
	tool, err := start.Chosen(ctx, t, k, n)
	if tool == nil || err != nil {
		return err
	}
	p, err := t.Services.Accounts.Preset(ctx, t.Account.ID, *tool, k.State.Fields[n])
	if err != nil {
		return t.Refused(ctx, err)
	}
	_, err = startPreset(ctx, t, tool, p, start.PressDraft(t, tool))
	return err
}
