package discordtest

import "slices"

// Modal is a form that the bot opened for a person.
type Modal struct {
	CustomID string
	Title    string
	Inputs   []ModalInput

	from       *Interaction
	components []any
}

// ModalInput is one thing to fill in.
type ModalInput struct {
	// Type is the component's type number: 4 for text, 3 for a select, 19 for files, ...
	Type        int
	CustomID    string
	Label       string
	Description string
	Value       string
	Placeholder string
	Required    bool
	// Paragraph marks a text input of several lines.
	Paragraph bool
	// MinLength and MaxLength bound a text.
	MinLength, MaxLength int
	Options              []SelectOption
	// MinValues and MaxValues bound the number of choices or files.
	MinValues, MaxValues int
}

// SelectOption is one entry of a select.
type SelectOption struct {
	Label, Value, Description string
	Default                   bool
}

// Input finds an input by its custom id or its label.
func (m Modal) Input(name string) (ModalInput, bool) {
	for _, in := range m.Inputs {
		if in.CustomID == name || in.Label == name {
			return in, true
		}
	}
	return ModalInput{}, false
}

func newModal(i *Interaction, data map[string]any) *Modal {
	m := &Modal{CustomID: text(data["custom_id"]), Title: text(data["title"]), from: i}
	m.components, _ = data["components"].([]any)
	m.components = completed(m.components)
	for _, v := range m.components {
		outer, _ := v.(map[string]any)
		inner, _ := outer["component"].(map[string]any)
		if children, ok := outer["components"].([]any); ok && len(children) == 1 {
			inner, _ = children[0].(map[string]any)
		}
		if inner == nil || text(inner["custom_id"]) == "" {
			continue
		}
		in := modalInput(inner)
		if label := text(outer["label"]); label != "" {
			in.Label, in.Description = label, text(outer["description"])
		}
		m.Inputs = append(m.Inputs, in)
	}
	return m
}

func modalInput(o map[string]any) ModalInput {
	return ModalInput{
		Type: number(o["type"]), CustomID: text(o["custom_id"]), Label: text(o["label"]), Value: text(o["value"]),
		Placeholder: text(o["placeholder"]), Required: o["required"] != false, Paragraph: number(o["style"]) == 2,
		MinLength: bound(o, "min_length", 0), MaxLength: bound(o, "max_length", 4000), Options: selectOptions(o),
		MinValues: bound(o, "min_values", 1), MaxValues: bound(o, "max_values", 1),
	}
}

func selectOptions(o map[string]any) []SelectOption {
	var out []SelectOption
	options, _ := o["options"].([]any)
	for _, v := range options {
		option, _ := v.(map[string]any)
		out = append(out, SelectOption{
			Label: text(option["label"]), Value: text(option["value"]), Description: text(option["description"]), Default: option["default"] == true,
		})
	}
	return out
}

// Submit fills a modal in and sends it. Values are found by custom id or label: a string, a []string of
// chosen values, a bool, or a []File. Texts not given keep what the form says. It fails the test where the
// form would not let the person send.
func (u *User) Submit(m Modal, values map[string]any) *Interaction {
	u.s.t.Helper()
	for name := range values {
		if _, ok := m.Input(name); !ok {
			u.s.t.Fatalf("discordtest: the form %q has no input %q; it has %+v", m.Title, name, m.Inputs)
		}
	}
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	fill := filler{u: u, modal: m, values: values, resolved: map[string]any{}}
	data := map[string]any{"custom_id": m.CustomID, "components": fill.components()}
	if len(fill.resolved) > 0 {
		data["resolved"] = map[string]any{"attachments": fill.resolved}
	}
	i := u.s.newInteraction(KindModal, u, m.from.Channel, data, m.from.on)
	i.opener = m.from
	return i
}

// filler makes the submitted form of a modal's components.
type filler struct {
	u        *User
	modal    Modal
	values   map[string]any
	resolved map[string]any
}

func (f *filler) components() []any {
	var out []any
	for _, v := range f.modal.components {
		outer, _ := v.(map[string]any)
		w := map[string]any{"type": outer["type"], "id": outer["id"]}
		if inner, ok := outer["component"].(map[string]any); ok {
			w["component"] = f.input(inner)
		}
		if children, ok := outer["components"].([]any); ok {
			inner, _ := children[0].(map[string]any)
			w["components"] = []any{f.input(inner)}
		}
		out = append(out, w)
	}
	return out
}

func (f *filler) input(o map[string]any) map[string]any {
	in, _ := f.modal.Input(text(o["custom_id"]))
	w := map[string]any{"type": in.Type, "id": o["id"], "custom_id": in.CustomID}
	value := f.values[in.CustomID]
	if value == nil {
		value = f.values[in.Label]
	}
	switch in.Type {
	case typeInput:
		w["value"] = f.text(in, value)
	case typeSelect, typeCheckboxes:
		w["values"] = f.chosen(in, value)
	case typeRadios:
		chosen := f.chosen(in, value)
		w["value"] = nil
		if len(chosen) == 1 {
			w["value"] = chosen[0]
		}
	case typeUpload:
		w["values"] = f.files(in, value)
	default:
		w["value"] = value
	}
	return w
}

func (f *filler) text(in ModalInput, value any) string {
	given, ok := value.(string)
	if !ok {
		given = in.Value
	}
	n := units(given)
	if in.Required && n == 0 || n > 0 && n < in.MinLength || n > in.MaxLength {
		f.u.s.t.Fatalf("discordtest: %q does not fit the input %q: %d to %d characters, required: %v", given, in.Label, in.MinLength, in.MaxLength, in.Required)
	}
	return given
}

func (f *filler) chosen(in ModalInput, value any) []string {
	var chosen []string
	switch v := value.(type) {
	case string:
		chosen = []string{v}
	case []string:
		chosen = v
	case nil:
		for _, o := range in.Options {
			if o.Default {
				chosen = append(chosen, o.Value)
			}
		}
	}
	for n, c := range chosen {
		at := slices.IndexFunc(in.Options, func(o SelectOption) bool { return o.Value == c || o.Label == c })
		if at < 0 {
			f.u.s.t.Fatalf("discordtest: the input %q has no option %q; it has %+v", in.Label, c, in.Options)
		}
		chosen[n] = in.Options[at].Value
	}
	if len(chosen) < in.MinValues && in.Required || len(chosen) > in.MaxValues {
		f.u.s.t.Fatalf("discordtest: %d options of %q are chosen, %d to %d can be", len(chosen), in.Label, in.MinValues, in.MaxValues)
	}
	return chosen
}

func (f *filler) files(in ModalInput, value any) []string {
	files, _ := value.([]File)
	if len(files) > in.MaxValues || in.Required && len(files) < in.MinValues {
		f.u.s.t.Fatalf("discordtest: %d files for %q, %d to %d can be", len(files), in.Label, in.MinValues, in.MaxValues)
	}
	ids := []string{}
	for _, file := range files {
		a := f.u.s.keep(f.modal.from.Channel, file, true)
		f.resolved[a.id] = a.wire()
		ids = append(ids, a.id)
	}
	return ids
}
