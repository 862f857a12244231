package chains

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Where an input has its value from. Besides there is "2.picture": an output of an earlier step.
const (
	usual = ""      // the tool's own default
	asked = "ask"   // an input of the chain
	fixed = "value" // the same each time
)

// form is a chain that is being built.
type form struct {
	ID, Name, Command, Description string
	Shared, Asks                   bool   // Asks: its owner may ask for a share
	Share                          string // that is asked for
	Steps                          []step
	Tools                          []*registry.Tool // that can be added
}

type step struct {
	Order  int
	Tool   registry.Tool
	Inputs []choice
	More   []choice // inputs that are seldom needed
}

// choice is where an input of a step has its value from.
type choice struct {
	registry.InputField
	At, From, Value, As string // At is its place in the form, As the name of the chain's input
	Outputs             []output
}

// output is one of an earlier step.
type output struct{ Key, Label string }

func (s server) blank(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.showForm(w, r, a, missions.Chain{Visibility: missions.Private}, "")
}

func (s server) edit(w http.ResponseWriter, r *http.Request, a users.Account) error {
	c, err := s.Missions.Chain(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	return s.showForm(w, r, a, c, "")
}

// build takes a step more or less into the chain, or keeps it.
func (s server) build(w http.ResponseWriter, r *http.Request, a users.Account) error {
	c, err := s.posted(r, a)
	if err != nil {
		return err
	}
	deed, which, _ := strings.Cut(r.PostFormValue("do"), ".")
	switch deed {
	case "add":
		if id := r.PostFormValue("add"); id != "" && len(c.Legs) < missions.MaxLegs {
			c.Legs = append(c.Legs, missions.DraftLeg{Tool: id, Order: len(c.Legs) + 1, Inputs: map[string]any{}, DependsOn: []int{}})
		}
	case "remove":
		if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(c.Legs) {
			remove(&c, n)
		}
	case "save":
		_, err := s.Missions.SaveChain(r.Context(), c)
		var bad *registry.Error
		if errors.As(err, &bad) && bad.Code != registry.CodeInternal {
			return s.showForm(w, r, a, c, s.Render.Explain(r, a, err).Detail)
		}
		if err != nil {
			return err
		}
		http.Redirect(w, r, Path+"?done=chain-saved", http.StatusSeeOther)
		return nil
	}
	return s.showForm(w, r, a, c, "")
}

// posted reads the chain as it stands in the form. What the form does not show stays as it is stored.
func (s server) posted(r *http.Request, a users.Account) (missions.Chain, error) {
	if err := r.ParseForm(); err != nil {
		return missions.Chain{}, err
	}
	c := missions.Chain{AccountID: a.ID}
	if id := r.PostFormValue("id"); id != "" {
		var err error
		if c, err = s.Missions.Chain(r.Context(), id, a.ID); err != nil {
			return c, err
		}
	}
	stored := c.Legs
	c.Name, c.Command, c.Description = strings.TrimSpace(r.PostFormValue("name")), strings.TrimSpace(r.PostFormValue("command")), strings.TrimSpace(r.PostFormValue("description"))
	if c.Command != "" && !strings.HasPrefix(c.Command, "/") {
		c.Command = "/" + c.Command
	}
	if r.PostForm.Has("asks") {
		c.Share = strings.TrimSpace(r.PostFormValue("asks"))
	}
	c.Visibility = missions.Private
	if r.PostFormValue("shared") != "" {
		c.Visibility = missions.Public
	}
	labels := map[missions.Exposed]string{}
	for _, e := range c.Exposed {
		labels[missions.Exposed{Name: e.Name, Leg: e.Leg, Input: e.Input}] = e.Label
	}
	c.Legs, c.Exposed = nil, nil
	tools := r.PostForm["tool"]
	for i, id := range tools[:min(len(tools), missions.MaxLegs)] {
		leg := missions.DraftLeg{Tool: id, Order: i + 1, DependsOn: []int{}} // outputs that it takes count by themselves
		if i < len(stored) && stored[i].Tool == id {
			leg = stored[i]
		}
		leg.Inputs = map[string]any{}
		exposed := fill(&leg, s.tool(id), r.PostForm)
		for _, e := range exposed {
			e.Label = labels[e]
			c.Exposed = append(c.Exposed, e)
		}
		c.Legs = append(c.Legs, leg)
	}
	return c, nil
}

// place names an input of a step in the form.
func place(order int, input string) string { return strconv.Itoa(order) + "." + input }

// fill gives a leg the inputs that the form has for it, and those of the chain that feed it.
func fill(leg *missions.DraftLeg, tool registry.Tool, posted url.Values) (exposed []missions.Exposed) {
	for _, f := range tool.InputSchema.Ordered() {
		at := place(leg.Order, f.Name)
		from, value := posted.Get("from."+at), posted.Get("value."+at)
		switch from {
		case usual:
		case asked:
			name := cmp.Or(strings.TrimSpace(posted.Get("as."+at)), f.Name)
			exposed = append(exposed, missions.Exposed{Name: name, Leg: leg.Order, Input: f.Name})
			fallthrough
		case fixed:
			if strings.TrimSpace(value) != "" {
				leg.Inputs[f.Name] = valueOf(f, value)
			}
		default:
			step, name, _ := strings.Cut(from, ".")
			if n, err := strconv.Atoi(step); err == nil && name != "" {
				leg.Inputs[f.Name] = missions.OutputOf(n, name)
			}
		}
	}
	return exposed
}

// valueOf reads a value as it was typed; what is no plain value is typed as JSON.
func valueOf(f registry.InputField, typed string) any {
	var list any
	if (f.Multiple || len(f.Schema) > 0) && json.Unmarshal([]byte(typed), &list) == nil {
		return list
	}
	return typed
}

// typed is valueOf's opposite.
func typed(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number, bool, int, float64:
		return fmt.Sprint(v)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}

// remove takes a step out of a chain. What took its outputs is left to the tool's own default.
func remove(c *missions.Chain, order int) {
	c.Legs = slices.Delete(c.Legs, order-1, order)
	for i := range c.Legs {
		leg := &c.Legs[i]
		leg.Order, leg.DependsOn = i+1, []int{}
		for name, value := range leg.Inputs {
			step, output, is := missions.ReadOutput(value)
			switch {
			case is && step == order:
				delete(leg.Inputs, name)
			case is && step > order:
				leg.Inputs[name] = missions.OutputOf(step-1, output)
			}
		}
	}
	c.Exposed = slices.DeleteFunc(c.Exposed, func(e missions.Exposed) bool { return e.Leg == order })
	for i := range c.Exposed {
		if c.Exposed[i].Leg > order {
			c.Exposed[i].Leg--
		}
	}
}

// showForm draws a chain as it stands.
func (s server) showForm(w http.ResponseWriter, r *http.Request, a users.Account, c missions.Chain, wrong string) error {
	f := form{ID: c.ID, Name: c.Name, Command: c.Command, Description: c.Description, Shared: c.Visibility == missions.Public,
		Share: c.Share, Asks: c.Share != "" || !s.Missions.ShareBounds().None()}
	for i, leg := range c.Legs {
		tool := s.tool(leg.Tool)
		one := step{Order: i + 1, Tool: tool}
		missions.Follow(tool, leg.Inputs)
		for at := range c.Exposed {
			if e := &c.Exposed[at]; e.Leg == leg.Order {
				e.Input = followed(tool, e.Input)
			}
		}
		for _, field := range tool.InputSchema.Ordered() {
			if field.Seed {
				continue // drawn anew
			}
			ch := choiceOf(c, leg, field, f.Steps)
			if field.Advanced && ch.From == usual {
				one.More = append(one.More, ch)
			} else {
				one.Inputs = append(one.Inputs, ch)
			}
		}
		f.Steps = append(f.Steps, one)
	}
	for _, tool := range s.Registry.Snapshot().Offered(request.Audience(a)) {
		if tool.Kind != missions.ChainKind && len(tool.PIIRequired) == 0 {
			f.Tools = append(f.Tools, tool)
		}
	}
	return s.show(w, r, a, "chain", "chains.build", wrong, f)
}

// followed is the name that an input of a tool has by now.
func followed(tool registry.Tool, input string) string {
	named := map[string]any{input: true}
	missions.Follow(tool, named)
	for name := range named {
		input = name
	}
	return input
}

// choiceOf tells where an input has its value from, and what else it could be.
func choiceOf(c missions.Chain, leg missions.DraftLeg, field registry.InputField, before []step) choice {
	ch := choice{InputField: field, At: place(leg.Order, field.Name), As: field.Name}
	for _, earlier := range before {
		for _, o := range earlier.Tool.OutputSchema {
			if takes(field, o) {
				ch.Outputs = append(ch.Outputs, output{place(earlier.Order, o.Name), fmt.Sprintf("%d. %s: %s", earlier.Order, earlier.Tool.DisplayName, o.Name)})
			}
		}
	}
	value, given := leg.Inputs[field.Name]
	if given {
		ch.From, ch.Value = fixed, typed(value)
	}
	if step, name, is := missions.ReadOutput(value); is {
		ch.From, ch.Value = place(step, name), ""
	}
	for _, e := range c.Exposed {
		if e.Leg == leg.Order && e.Input == field.Name {
			ch.From, ch.As = asked, e.Name
		}
	}
	return ch
}

// takes reports whether an output can be the value of an input.
func takes(f registry.InputField, o registry.OutputField) bool {
	kind := registry.InputType(o.Type)
	if f.Type.IsMedia() {
		return f.Type == kind || f.Type == registry.TypeFile && kind.IsMedia()
	}
	return !kind.IsMedia() && f.Type == registry.TypeString
}
