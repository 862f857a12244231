package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Source says where a setting's value in force comes from.
type Source string

// The sources. What is set in the environment, or by a flag, goes before what is set in the console: see Settings.
const (
	FromEnvironment Source = "environment"
	FromConsole     Source = "console"
	FromDefault     Source = "default"
)

// Setting is something that operators can set while the program runs.
type Setting struct {
	Name, Title, About string
	Group              string // the heading it stands under; those of a group follow each other
	Variable           string // of the environment
	Long               bool   // a text of several lines
	Value              string // in force
	Source             Source
	By                 string // the account that set it in the console
	At                 time.Time
}

// Settings keeps them. A setting that the environment sets to something other than its default stays as it is there.
type Settings interface {
	List() []Setting
	// Set sets one and takes it into force; a *registry.Error says what is wrong with the value.
	Set(ctx context.Context, name, value, by string) error
	// Clear goes back to the default.
	Clear(ctx context.Context, name string) error
}

// settingRow is a setting in the list.
type settingRow struct {
	Setting
	ByName string
	First  bool // of its group
}

func (c *Console) settings(w http.ResponseWriter, r *http.Request, who users.Account) error {
	return c.show(w, r, who, "settings", view{Title: "Settings", Place: "settings", Data: c.settingRows(r.Context())})
}

func (c *Console) settingRows(ctx context.Context) []settingRow {
	var rows []settingRow
	name, group := c.names(ctx), ""
	for _, s := range c.cfg.Settings.List() {
		rows = append(rows, settingRow{Setting: s, ByName: name(s.By), First: s.Group != group})
		group = s.Group
	}
	return rows
}

// settingDeeds are what operators can do with settings.
type settingDeeds struct{ console *Console }

func (d settingDeeds) list() []deed {
	if d.console.cfg.Settings == nil {
		return nil
	}
	return []deed{
		{path: "settings/{id}/change", place: "settings", plan: d.planSetting, do: d.changeSetting},
		{path: "settings/{id}/reset", place: "settings", plan: d.planReset, do: d.resetSetting},
	}
}

// setting finds one that can be set here.
func (d settingDeeds) setting(name string) (Setting, error) {
	list := d.console.cfg.Settings.List()
	i := slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
	switch {
	case i < 0:
		return Setting{}, registry.Errorf(registry.CodeInvalidInput, "There is no setting %.60q.", name)
	case list[i].Source == FromEnvironment:
		return list[i], registry.Errorf(registry.CodeInvalidInput, "%s is set by %s, which goes before what is set here. Take it out there and restart, then it can be set here.", list[i].Title, list[i].Variable)
	}
	return list[i], nil
}

const settingsPage = Root + "settings"

func (d settingDeeds) planSetting(_ context.Context, name string) (plan, error) {
	s, err := d.setting(name)
	return plan{
		Title: "Change: " + s.Title, Button: "Save", Back: settingsPage, Says: []string{s.About, "It holds at once, and after a restart."},
		Fields: []field{{Name: "value", Label: s.Title, Value: s.Value, Long: s.Long}},
	}, err
}

func (d settingDeeds) changeSetting(ctx context.Context, o order) (outcome, error) {
	was, err := d.setting(o.ID)
	if err != nil {
		return outcome{}, err
	}
	value := o.Form.Get("value")
	if err := d.console.cfg.Settings.Set(ctx, o.ID, value, o.Who.ID); err != nil {
		return outcome{}, err
	}
	return outcome{Action: "setting", Says: fmt.Sprintf("%s was %s and is %s.", was.Title, quoted(was.Value), quoted(value)), To: settingsPage}, nil
}

func (d settingDeeds) planReset(_ context.Context, name string) (plan, error) {
	s, err := d.setting(name)
	if err == nil && s.Source != FromConsole {
		err = registry.Errorf(registry.CodeInvalidInput, "%s has its default already.", s.Title)
	}
	return plan{Title: "Back to the default: " + s.Title, Button: "Use the default", Back: settingsPage, Says: []string{"What was set here is forgotten; the audit log keeps it."}}, err
}

func (d settingDeeds) resetSetting(ctx context.Context, o order) (outcome, error) {
	was, err := d.setting(o.ID)
	if err == nil {
		err = d.console.cfg.Settings.Clear(ctx, o.ID)
	}
	return outcome{Action: "setting", Says: fmt.Sprintf("%s was %s and has its default again.", was.Title, quoted(was.Value)), To: settingsPage}, err
}

// quoted is a value in a sentence.
func quoted(value string) string {
	if value == "" {
		return "empty"
	}
	return "“" + value + "”"
}
