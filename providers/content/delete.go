package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// thing is something that would be deleted, or why it can't be.
type thing struct {
	registry.Touch
	shown   map[string]any // as it is told
	problem string         // empty: it can be deleted
}

// deletion is what is special about deleting one kind of thing.
type deletion struct {
	noun     string        // "page"
	question said.Sentence // what a person is asked: "Delete 2 posts?"
	key      string        // the input with the ids or slugs
	note     string        // told with the preview
	find     func(ctx context.Context, v visit, keys []string) ([]thing, error)
	delete   func(ctx context.Context, v visit, shown []registry.Touch) error
}

// asked is what a tool answers that shows before it acts.
type asked struct {
	Success              bool             `json:"success"`
	RequiresConfirmation bool             `json:"requiresConfirmation"`
	Message              string           `json:"message"`
	Note                 string           `json:"note,omitempty"`
	Items                []map[string]any `json:"items"`
}

// deleted is what a delete answers that was carried out, or, where Success is false, nothing of it.
type deleted struct {
	Success bool             `json:"success"`
	Message string           `json:"message,omitempty"`
	Deleted []map[string]any `json:"deleted"`
	Items   []map[string]any `json:"items,omitempty"` // each with its error, where there is one
}

// look finds what a call names, in its order.
func (d deletion) look(ctx context.Context, v visit) ([]thing, error) {
	keys := v.args.texts(d.key)
	if len(keys) == 0 {
		return nil, registry.Say(registry.CodeInvalidInput, said.SiteNamesNone, "key", d.key, "noun", d.noun).At(d.key)
	}
	return d.find(ctx, v, keys)
}

func touches(things []thing) []registry.Touch {
	list := make([]registry.Touch, len(things))
	for i, t := range things {
		list[i] = t.Touch
	}
	return list
}

func (d deletion) ids(things []thing) []string {
	ids := make([]string, len(things))
	for i, t := range things {
		ids[i] = t.ID
	}
	return ids
}

// affirmed reports whether exactly these things were shown, as they are now: to the owner who approved the call, or to the account in
// the call before. The error is store.ErrNotFound where nothing was shown, store.ErrChanged where something is not as it was shown.
func (d deletion) affirmed(ctx context.Context, v visit, things []thing) error {
	shown := v.approved
	if shown == nil {
		var err error
		if shown, err = v.Shown(ctx, v.call.Tool.ToolID, d.ids(things)); err != nil {
			return err
		}
	}
	versions := map[string]string{}
	for _, t := range shown {
		versions[t.ID] = t.Version
	}
	for _, t := range things {
		if version, was := versions[t.ID]; !was || version != t.Version {
			return store.ErrChanged
		}
	}
	return nil
}

// do shows, or deletes what was shown.
func (d deletion) do(_ *Provider, ctx context.Context, v visit) (any, error) {
	things, err := d.look(ctx, v)
	if err != nil {
		return nil, err
	}
	if report, bad := d.report(things); bad {
		return report, nil
	}
	if !v.args.flag("confirmed") {
		return d.show(ctx, v, things, d.note)
	}
	err = d.affirmed(ctx, v, things)
	switch {
	case err == nil && v.look != nil:
		v.look.preview.Said, v.look.preview.Touches = d.question.With("n", len(things)), touches(things)
		v.look.preview.Message = v.look.preview.Said.String()
		return nil, errLooked
	case err == nil:
		err = d.delete(ctx, v, touches(things))
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return d.show(ctx, v, things, "Nothing was deleted: exactly these have to be shown first, and this is it. "+d.note)
	case errors.Is(err, store.ErrChanged):
		if things, err = d.look(ctx, v); err != nil {
			return nil, err
		}
		if report, bad := d.report(things); bad {
			return report, nil
		}
		return d.show(ctx, v, things, "Nothing was deleted: something of it was changed since it was shown. This is how it is now. "+d.note)
	case err != nil:
		return nil, err
	}
	answer := deleted{Success: true, Deleted: []map[string]any{}}
	for _, t := range things {
		answer.Deleted = append(answer.Deleted, t.shown)
	}
	return answer, nil
}

// report tells, for each thing, why nothing can be deleted; bad says that there is a reason.
func (d deletion) report(things []thing) (report deleted, bad bool) {
	report = deleted{Deleted: []map[string]any{}}
	problems := 0
	for _, t := range things {
		shown := map[string]any{}
		maps.Copy(shown, t.shown)
		if t.problem != "" {
			shown["error"] = t.problem
			problems++
		}
		report.Items = append(report.Items, shown)
	}
	report.Message = fmt.Sprintf("Nothing was deleted: all or none are, and %d of %d can't be.", problems, len(things))
	return report, problems > 0
}

// show takes note of what is shown, so that it can be confirmed. A call that only looks shows nobody.
func (d deletion) show(ctx context.Context, v visit, things []thing, note string) (any, error) {
	if v.look != nil {
		return nil, nil
	}
	if err := v.NoteShown(ctx, v.call.Tool.ToolID, d.ids(things), touches(things)); err != nil {
		return nil, err
	}
	answer := asked{Success: true, RequiresConfirmation: true, Message: d.question.With("n", len(things)).String(), Note: strings.TrimSpace(note)}
	for _, t := range things {
		answer.Items = append(answer.Items, t.shown)
	}
	return answer, nil
}

// tool is the tool that deletes.
func (d deletion) tool(id, title, about string) tool {
	return tool{
		id: id, title: title, about: about, noun: d.noun, names: d.key, capability: registry.CapabilityWrite, role: store.Editor, answers: deletes, do: d.do, preview: looking(d.do),
		inputs: registry.InputSchema{need(several(textInput(d.key, "Which to delete, at least one."))), confirmed()},
	}
}

// inOrder gives things in the order of their keys, and says of keys without one that there is none.
func inOrder(keys []string, things map[string]thing, noun string, name string) []thing {
	ordered := make([]thing, 0, len(keys))
	for _, key := range keys {
		t, there := things[key]
		if !there {
			t = thing{Touch: registry.Touch{Kind: noun, ID: key}, shown: map[string]any{name: key}, problem: "there is no such " + noun}
		}
		if !slices.ContainsFunc(ordered, func(o thing) bool { return o.ID == t.ID }) {
			ordered = append(ordered, t)
		}
	}
	return ordered
}
