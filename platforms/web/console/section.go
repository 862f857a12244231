package console

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Section is a page of the console that another room fills, such as the inbox of webhooks.
type Section struct {
	Path  string // one word: the page is Root + Path
	Title string
	// Views are the ways to look at the table, the first being the usual one; none: there is one.
	Views []View
	// Table gives what the page shows; view is the Name of the chosen one, "" without Views.
	Table func(ctx context.Context, view string) (Table, error)
	// Deed can be done to rows; nil: none.
	Deed *Deed
	// Choices are what else can be done to rows, each by a button of its own.
	Choices []Choice
	// Alarm tells what needs an operator, "" while nothing does; nil: nothing ever does.
	Alarm func(ctx context.Context) (string, error)
}

// View is a way to look at a Section's table.
type View struct{ Name, Title string }

// Table is the content of a Section: rows under headings.
type Table struct {
	Lead    string // one sentence over the table
	Columns []string
	Rows    []Row
	Empty   string // what to say where there are no rows
}

// Row is a row of a Table.
type Row struct {
	Cells []Cell
	ID    string // what the Section's Deed and Choices are done to; "": nothing can be done to this row
}

// Cell is a text, perhaps with an address of ours that it leads to. Instead it can be a Run, by its id, or the Account of a person: they
// are named, and lead to their pages.
type Cell struct{ Text, Run, Account, Link string }

// Deed is something that can be done to a row of a Section, or to all that it can be done to. It is asked before, and
// taken down in the audit log.
type Deed struct {
	Name   string // in addresses and the audit log
	Button string // of a row
	All    string // the button for all rows; "": there is none
	Says   string // what happens, in a sentence
	// Do does it to what the ids name, or to everything where there are none, and tells what it has done. A
	// *registry.Error is for the operator to read.
	Do func(ctx context.Context, ids ...string) (said string, err error)
}

// Choice is one of several things that can be done to a row of a Section. It is asked before. What Do calls takes it down in the audit log.
type Choice struct {
	Name   string // in addresses
	Button string
	Says   string // what happens, in a sentence
	Danger bool
	Text   string // the label of a text that is to be written; "": there is none
	Hint   string // what the text is for
	// Do does it and tells what it has done. A *registry.Error is for the operator to read.
	Do func(ctx context.Context, c Chosen) (said string, err error)
}

// Chosen is a Choice that an operator has confirmed.
type Chosen struct {
	ID   string // of the row
	By   string // the operator's account
	Why  string // for the audit log
	Text string
}

// everything stands in an address for all rows.
const everything = "all"

// sectionView is a page that another room fills.
type sectionView struct {
	Section
	View   string
	Table  Table
	Doable bool // the deed can be done to a row that is shown
}

func (c *Console) section(s Section) pageHandler {
	return func(w http.ResponseWriter, r *http.Request, who users.Account) error {
		v := sectionView{Section: s, View: s.chosen(r.URL.Query().Get("view"))}
		var err error
		if v.Table, err = s.Table(r.Context(), v.View); err != nil {
			return err
		}
		nameAccounts(c.names(r.Context()), v.Table.Rows)
		for _, row := range v.Table.Rows {
			v.Doable = v.Doable || (s.Deed != nil || len(s.Choices) > 0) && row.ID != ""
		}
		return c.show(w, r, who, "section", view{Title: s.Title, Place: s.Path, Live: true, Data: v})
	}
}

// nameAccounts puts the names of people into their cells.
func nameAccounts(name func(accountID string) string, rows []Row) {
	for _, row := range rows {
		for i, cell := range row.Cells {
			if cell.Account != "" {
				row.Cells[i].Text, row.Cells[i].Link = name(cell.Account), Root+"people/"+cell.Account
			}
		}
	}
}

// chosen is the view of a name, or else the first.
func (s Section) chosen(name string) string {
	for _, v := range s.Views {
		if v.Name == name {
			return name
		}
	}
	if len(s.Views) > 0 {
		return s.Views[0].Name
	}
	return ""
}

// sectionDeeds are what can be done on the pages of others.
func (c *Console) sectionDeeds() []deed {
	var list []deed
	for _, s := range c.cfg.Sections {
		if s.Deed != nil {
			list = append(list, s.deed())
		}
		for _, choice := range s.Choices {
			list = append(list, s.choice(choice))
		}
	}
	return list
}

func (s Section) deed() deed {
	d, back := s.Deed, Root+s.Path
	return deed{
		path: s.Path + "/{id}/" + d.Name, place: s.Path,
		plan: func(_ context.Context, id string) (plan, error) {
			p := plan{Title: s.Title + ": " + d.Button + " no. " + id, Says: []string{d.Says}, Button: d.Button, Back: back}
			if id == everything {
				p.Title, p.Button = s.Title+": "+d.All, d.All
			}
			return p, nil
		},
		do: func(ctx context.Context, o order) (outcome, error) {
			var ids []string
			if o.ID != everything {
				ids = []string{o.ID}
			}
			said, err := d.Do(ctx, ids...)
			return outcome{Action: s.Path + "." + d.Name, Says: said, To: back}, err
		},
	}
}

func (s Section) choice(c Choice) deed {
	back := Root + s.Path
	return deed{
		path: s.Path + "/{id}/" + c.Name, place: s.Path,
		plan: func(context.Context, string) (plan, error) {
			p := plan{Title: s.Title + ": " + c.Button, Says: []string{c.Says}, Button: c.Button, Danger: c.Danger, Back: back}
			if c.Text != "" {
				p.Fields = []field{{Name: "text", Label: c.Text, Hint: c.Hint, Required: true, Long: true}}
			}
			return p, nil
		},
		do: func(ctx context.Context, o order) (outcome, error) {
			text := strings.TrimSpace(o.Form.Get("text"))
			if c.Text != "" && text == "" {
				return outcome{}, registry.Errorf(registry.CodeInvalidInput, "%s: found nothing, expected a text.", c.Text)
			}
			said, err := c.Do(ctx, Chosen{ID: o.ID, By: o.Who.ID, Why: o.Why, Text: text})
			return outcome{Says: said, To: back}, err
		},
	}
}

// sectionAlarms are what needs an operator on the pages of others.
func (c *Console) sectionAlarms(ctx context.Context) []alarm {
	var list []alarm
	for _, s := range c.cfg.Sections {
		if s.Alarm == nil {
			continue
		}
		text, err := s.Alarm(ctx)
		if err != nil {
			text = s.Title + " can't be read: " + err.Error()
		}
		if text != "" {
			list = append(list, alarm{text, s.Path, err != nil})
		}
	}
	return list
}
