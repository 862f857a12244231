package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// presetField names the hidden field with the preset that a form was filled from.
const presetField = "preset__name"

// saveSettings keeps what a tool's form holds as the account's settings, on every platform; a value that is the
// tool's own is forgotten, so that the tool may change it.
func (s *Server) saveSettings(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, given, err := s.rememberable(w, r, a)
	if err != nil {
		return s.formProblem(w, r, a, t, given, err)
	}
	for _, f := range t.InputSchema {
		if f.Type.IsMedia() {
			continue
		}
		value, ok := given[f.Name]
		if ok && !sameValue(value, f.Default) {
			err = s.cfg.Users.SetPreference(r.Context(), a.ID, t.ToolID, f.Name, value)
		} else {
			err = s.cfg.Users.ResetPreference(r.Context(), a.ID, t.ToolID, f.Name)
		}
		if err != nil {
			return err
		}
	}
	return backToForm(w, r, t, "", "saved")
}

// resetSettings forgets the account's settings for a tool.
func (s *Server) resetSettings(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	if err := s.cfg.Users.ResetPreferences(r.Context(), a.ID, t.ToolID); err != nil {
		return err
	}
	return backToForm(w, r, t, "", "reset")
}

// savePreset keeps what a tool's form holds under a name.
func (s *Server) savePreset(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, given, err := s.rememberable(w, r, a)
	name := r.PostFormValue("new" + presetField)
	if err == nil {
		err = s.cfg.Users.SavePreset(r.Context(), a.ID, t.ToolID, name, given)
	}
	if err != nil {
		return s.formProblem(w, r, a, t, given, err)
	}
	return backToForm(w, r, t, name, "preset")
}

// deletePreset forgets a preset.
func (s *Server) deletePreset(w http.ResponseWriter, r *http.Request, a users.Account) error {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err != nil {
		return err
	}
	err = s.cfg.Users.DeletePreset(r.Context(), a.ID, t.ToolID, r.PostFormValue(presetField))
	if err != nil && !errors.Is(err, users.ErrNoPreset) {
		return err
	}
	return backToForm(w, r, t, "", "forgotten")
}

// rememberable reads the values of a form that can be kept: all but files, checked like those of a run.
func (s *Server) rememberable(w http.ResponseWriter, r *http.Request, a users.Account) (registry.Tool, map[string]any, error) {
	t, err := s.visibleTool(r.PathValue("id"), a)
	if err != nil {
		return t, nil, err
	}
	v, err := s.readInputs(w, r, a, t)
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

// checkedValue gives what a provider would get for a value of a form.
func checkedValue(f registry.InputField, raw any) (any, *registry.Error) {
	if text, ok := raw.(string); ok {
		return registry.ParseText(f, text)
	}
	return registry.CheckValue(f, raw)
}

// formProblem shows a form again, with what is wrong with it and what was typed.
func (s *Server) formProblem(w http.ResponseWriter, r *http.Request, a users.Account, t registry.Tool, given map[string]any, err error) error {
	p := explain(err)
	if t.ToolID == "" || p.ours() {
		return err
	}
	return s.toolPage(w, r, a, t, prefill{typed: given, problem: &p})
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

// unchanged takes out of a form's values those that would be bound without being typed, so that a run remembers
// where its values truly came from: a form sends all of them, also those that nobody touched.
func (s *Server) unchanged(r *http.Request, request runs.Request) runs.Request {
	typed := request.Values[runs.FromArgument]
	without := request
	without.Values = values{runs.FromPreset: request.Values[runs.FromPreset]}
	bound, err := s.cfg.Runs.Bind(r.Context(), without)
	if err != nil {
		return request
	}
	for _, f := range bound.Tool.InputSchema {
		raw, ok := typed[f.Name]
		if !ok || bound.Sources[f.Name] == runs.FromRandom {
			continue
		}
		if value, bad := checkedValue(f, raw); bad == nil && sameValue(value, bound.Inputs[f.Name]) {
			delete(typed, f.Name)
		}
	}
	return request
}
