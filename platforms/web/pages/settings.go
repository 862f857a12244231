package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Preferences are an account's own defaults of a tool: users.Store.
type Preferences interface {
	SetPreference(ctx context.Context, accountID, toolID, field string, value any) error
	ResetPreference(ctx context.Context, accountID, toolID, field string) error
	ResetPreferences(ctx context.Context, accountID, toolID string) error
}

// KeepsPresets keeps and forgets presets: users.Store.
type KeepsPresets interface {
	SavePreset(ctx context.Context, accountID, toolID, name string, values map[string]any) error
	DeletePreset(ctx context.Context, accountID, toolID, name string) error
}

// settings keep what a tool's form holds.
type settings struct {
	shared
	forms       *forms
	preferences Preferences
	presets     KeepsPresets
}

func (s *settings) routes() []door.Route {
	return []door.Route{
		door.ForPeople("POST /tool/{id}/settings", door.Person, s.saveSettings),
		door.ForPeople("POST /tool/{id}/settings/reset", door.Person, s.resetSettings),
		door.ForPeople("POST /tool/{id}/presets", door.Person, s.savePreset),
		door.ForPeople("POST /tool/{id}/presets/delete", door.Person, s.deletePreset),
	}
}

// saveSettings keeps what a tool's form holds as the account's settings, on every platform; a value that is the
// tool's own is forgotten, so that the tool may change it.
func (s *settings) saveSettings(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, given, err := s.keepable(w, r, a)
	if err != nil {
		return s.formProblem(w, r, a, t, given, err)
	}
	for _, f := range t.InputSchema {
		if f.Type.IsMedia() {
			continue
		}
		value, ok := given[f.Name]
		if ok && !request.SameValue(value, f.Default) {
			err = s.preferences.SetPreference(r.Context(), a.ID, t.ToolID, f.Name, value)
		} else {
			err = s.preferences.ResetPreference(r.Context(), a.ID, t.ToolID, f.Name)
		}
		if err != nil {
			return err
		}
	}
	return backToForm(w, r, t, "", "saved")
}

// resetSettings forgets the account's settings for a tool.
func (s *settings) resetSettings(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	if err := s.preferences.ResetPreferences(r.Context(), a.ID, t.ToolID); err != nil {
		return err
	}
	return backToForm(w, r, t, "", "reset")
}

// savePreset keeps what a tool's form holds under a name.
func (s *settings) savePreset(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, given, err := s.keepable(w, r, a)
	name := r.PostFormValue("new" + presetField)
	if err == nil {
		err = s.presets.SavePreset(r.Context(), a.ID, t.ToolID, name, given)
	}
	if err != nil {
		return s.formProblem(w, r, a, t, given, err)
	}
	return backToForm(w, r, t, name, "preset")
}

// deletePreset forgets a preset.
func (s *settings) deletePreset(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	err = s.presets.DeletePreset(r.Context(), a.ID, t.ToolID, r.PostFormValue(presetField))
	if err != nil && !errors.Is(err, users.ErrNoPreset) {
		return err
	}
	return backToForm(w, r, t, "", "forgotten")
}

// keepable reads the values of a form that can be kept: all but files, checked like those of a run.
func (s *settings) keepable(w http.ResponseWriter, r *http.Request, a users.Account) (registry.Tool, map[string]any, error) {
	t, err := s.tools.visible(r.PathValue("id"), a)
	if err != nil {
		return t, nil, err
	}
	v, err := s.forms.reader.Inputs(w, r, a, t)
	if err != nil {
		return t, nil, err
	}
	given := v[runs.FromArgument]
	checked := map[string]any{}
	for name, raw := range given {
		f, ok := t.InputSchema.Get(name)
		if !ok {
			continue
		}
		value, bad := checkedValue(f, raw)
		if bad != nil {
			return t, given, bad
		}
		checked[name] = value
	}
	return t, checked, nil
}

// formProblem shows a form again, with what is wrong with it and what was typed.
func (s *settings) formProblem(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool, given map[string]any, err error) error {
	p := problem.Explain(err)
	if t.ToolID == "" || p.Ours() {
		return err
	}
	return s.forms.draw(w, r, a, t, prefill{typed: given, problem: &p})
}

// backToForm shows a tool's form with what was done.
func backToForm(w http.ResponseWriter, r *http.Request, t registry.Tool, preset, done string) error {
	q := url.Values{"done": {done}}
	if preset != "" {
		q.Set("preset", preset)
	}
	http.Redirect(w, r, "/tool/"+url.PathEscape(t.ToolID)+"?"+q.Encode(), http.StatusSeeOther)
	return nil
}
