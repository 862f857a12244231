package discordtest

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
)

// Arg is a value given for a command's option.
type Arg struct {
	Name  string
	Value any
}

// Opt gives a value for an option: a string, int, int64, float64, bool, *User, *Channel, *Role or File.
func Opt(name string, value any) Arg { return Arg{Name: name, Value: value} }

// Commands is what the person's menu of commands shows in that place.
func (u *User) Commands(c *Channel) []Command {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	var out []Command
	for _, own := range u.menu(c) {
		out = append(out, own.decoded())
	}
	return out
}

// menu lists the commands that the person can use in that place. A guild's own command hides the global
// one of that name.
func (u *User) menu(c *Channel) []*command {
	var out []*command
	if c.guild != nil {
		if c.guild.members[u.id] == nil || !c.rights(u).has(ViewChannel|UseCommands) {
			return nil
		}
		out = append(out, u.s.commands[c.guild.id]...)
	} else if c.user != u || !u.s.mutual(u) {
		return nil
	}
	for _, global := range u.s.commands[""] {
		if !sameName(out, global) {
			out = append(out, global)
		}
	}
	return slices.DeleteFunc(out, func(own *command) bool { return !u.may(own, c) })
}

// may reports whether the client offers a command there: by installation, context, rights and age.
func (u *User) may(own *command, c *Channel) bool {
	d := own.decoded()
	types := d.IntegrationTypes
	if types == nil {
		types = []int{0}
	}
	guildInstalled := c.guild == nil || c.guild.installed
	byGuild := guildInstalled && slices.Contains(types, 0)
	byUser := u.installed && slices.Contains(types, 1)
	place := 0
	if c.guild == nil {
		place = 1
	}
	switch {
	case !byGuild && !byUser:
		return false
	case d.Contexts != nil && !slices.Contains(d.Contexts, place):
		return false
	case d.Contexts == nil && place == 1 && own.body["dm_permission"] == false:
		return false
	case d.NSFW && c.guild != nil && !c.isAdult():
		return false
	}
	return c.guild == nil || u.permitted(c, d.MemberPermissions)
}

// permitted compares default_member_permissions, "0" meaning administrators only.
func (u *User) permitted(c *Channel, needed string) bool {
	if needed == "" {
		return true
	}
	var want Permissions
	_, _ = fmt.Sscan(needed, &want)
	rights := c.rights(u)
	return rights.has(Administrator) || want != 0 && rights.has(want)
}

// Command uses a slash command; words after the first name a subcommand. It fails the test where the
// person's client would not offer or send that.
func (u *User) Command(c *Channel, name string, args ...Arg) *Interaction {
	u.s.t.Helper()
	return u.slash(KindCommand, c, name, "", args)
}

// Autocomplete types into an option of a slash command, the others being filled in already, and asks the
// bot for choices.
func (u *User) Autocomplete(c *Channel, name, option, typed string, args ...Arg) *Interaction {
	u.s.t.Helper()
	return u.slash(KindAutocomplete, c, name, option, append(slices.Clone(args), Opt(option, typed)))
}

func (u *User) slash(kind int, c *Channel, name, focused string, args []Arg) *Interaction {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	words := strings.Fields(name)
	own := u.command(c, 1, words[0])
	d := own.decoded()
	in := input{u: u, channel: c, focused: focused, resolved: map[string]any{}}
	options := in.nested(d.Options, words[1:], args)
	data := map[string]any{"id": own.id, "name": d.Name, "type": 1, "options": options}
	if own.guild != "" {
		data["guild_id"] = own.guild
	}
	if len(in.resolved) > 0 {
		data["resolved"] = in.resolved
	}
	return u.s.newInteraction(kind, u, c, data, nil)
}

// command finds a command in the person's menu, or ends the test.
func (u *User) command(c *Channel, kind int, name string) *command {
	u.s.t.Helper()
	var offered []string
	for _, own := range u.menu(c) {
		if own.kind() == kind && own.name() == name {
			return own
		}
		offered = append(offered, own.name())
	}
	u.s.t.Fatalf("discordtest: %s is not offered the command %q in %s; offered are %q", u.name, name, c, offered)
	return nil
}

// input makes the options of a command from what a person fills in.
type input struct {
	u        *User
	channel  *Channel
	focused  string
	resolved map[string]any
}

// nested goes down to the subcommand that words name and fills its options in.
func (in *input) nested(options []Option, words []string, args []Arg) []any {
	in.u.s.t.Helper()
	if len(words) == 0 {
		return in.fill(options, args)
	}
	for _, o := range options {
		if o.Name == words[0] && o.Type <= OptionGroup {
			return []any{map[string]any{"type": o.Type, "name": o.Name, "options": in.nested(o.Options, words[1:], args)}}
		}
	}
	in.u.s.t.Fatalf("discordtest: there is no subcommand %q", words[0])
	return nil
}

func (in *input) fill(options []Option, args []Arg) []any {
	in.u.s.t.Helper()
	for _, a := range args {
		if !slices.ContainsFunc(options, func(o Option) bool { return o.Name == a.Name }) {
			in.u.s.t.Fatalf("discordtest: the command has no option %q", a.Name)
		}
	}
	out := []any{}
	for _, o := range options {
		at := slices.IndexFunc(args, func(a Arg) bool { return a.Name == o.Name })
		if at < 0 {
			if o.Required && in.focused == "" {
				in.u.s.t.Fatalf("discordtest: the option %q is required", o.Name)
			}
			continue
		}
		w := map[string]any{"type": o.Type, "name": o.Name}
		if o.Name == in.focused {
			w["value"], w["focused"] = args[at].Value, true
			if !o.Autocomplete {
				in.u.s.t.Fatalf("discordtest: the option %q asks for no choices", o.Name)
			}
		} else {
			w["value"] = in.value(o, args[at].Value)
		}
		out = append(out, w)
	}
	return out
}

// value checks a value as the client does and gives its form on the wire.
func (in *input) value(o Option, v any) any {
	in.u.s.t.Helper()
	wire, problem := in.convert(o, v)
	if problem == "" && len(o.Choices) > 0 && !o.offers(wire) {
		problem = fmt.Sprintf("is none of the choices %v", o.Choices)
	}
	if problem != "" {
		in.u.s.t.Fatalf("discordtest: the value %v of the option %q %s", v, o.Name, problem)
	}
	return wire
}

func (o Option) offers(v any) bool {
	return slices.ContainsFunc(o.Choices, func(c Choice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(v) })
}

func (in *input) convert(o Option, v any) (wire any, problem string) {
	switch o.Type {
	case OptionString:
		s, ok := v.(string)
		if !ok {
			return nil, "is no text"
		}
		return s, o.lengthProblem(units(s))
	case OptionInteger, OptionNumber:
		return o.number(v)
	case OptionBoolean:
		if _, ok := v.(bool); !ok {
			return nil, "is neither true nor false"
		}
		return v, ""
	case OptionAttachment:
		return in.file(o, v)
	}
	return in.entity(o, v)
}

func (o Option) lengthProblem(n int) string {
	low, high := 0, 6000
	if o.MinLength != nil {
		low = *o.MinLength
	}
	if o.MaxLength != nil {
		high = *o.MaxLength
	}
	if n < low || n > high {
		return fmt.Sprintf("has %d characters, %d to %d are allowed", n, low, high)
	}
	return ""
}

// number checks an INTEGER or NUMBER: both stay within what a float64 holds exactly.
func (o Option) number(v any) (any, string) {
	var f float64
	switch n := v.(type) {
	case int:
		f = float64(n)
	case int64:
		f = float64(n)
	case float64:
		f = n
	case json.Number:
		f, _ = n.Float64()
	default:
		return nil, "is no number"
	}
	switch {
	case o.Type == OptionInteger && f != math.Trunc(f):
		return nil, "is no whole number"
	case math.Abs(f) > 1<<53:
		return nil, "is beyond 2^53"
	case o.MinValue != nil && f < *o.MinValue, o.MaxValue != nil && f > *o.MaxValue:
		return nil, "is out of range"
	}
	return v, ""
}

func (in *input) file(o Option, v any) (any, string) {
	f, ok := v.(File)
	if !ok {
		return nil, "is no file"
	}
	kind := kindOf(f)
	major, _, _ := strings.Cut(kind, "/")
	if len(o.FileTypes) > 0 && !slices.Contains(o.FileTypes, major) && !slices.Contains(o.FileTypes, strings.ToLower(path.Ext(f.Name))) {
		return nil, fmt.Sprintf("is of none of the kinds %q", o.FileTypes)
	}
	if len(f.Bytes) > in.channel.uploadLimit() {
		return nil, "is too large to upload here"
	}
	a := in.u.s.keep(in.channel, f, true)
	in.resolve("attachments", a.id, a.wire())
	return a.id, ""
}

func (in *input) resolve(kind, id string, w map[string]any) {
	all, ok := in.resolved[kind].(map[string]any)
	if !ok {
		all = map[string]any{}
		in.resolved[kind] = all
	}
	all[id] = w
}

// entity takes people, channels and roles.
func (in *input) entity(o Option, v any) (any, string) {
	switch e := v.(type) {
	case *User:
		in.resolve("users", e.id, e.wire())
		if g := in.channel.guild; g != nil && g.members[e.id] != nil {
			in.resolve("members", e.id, g.memberWire(e))
		}
		return e.id, ""
	case *Channel:
		in.resolve("channels", e.id, e.wire())
		return e.id, ""
	case *Role:
		in.resolve("roles", e.id, e.wire())
		return e.id, ""
	}
	return nil, fmt.Sprintf("does not fit an option of type %d", o.Type)
}

// MessageCommand uses a command from the menu of a message.
func (u *User) MessageCommand(m Message, name string) *Interaction {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	own := u.command(m.Channel, 3, name)
	target := u.seen(m)
	data := map[string]any{
		"id": own.id, "name": own.name(), "type": 3, "target_id": m.ID,
		"resolved": map[string]any{"messages": map[string]any{m.ID: target.wire()}},
	}
	return u.s.newInteraction(KindCommand, u, m.Channel, data, nil)
}

// UserCommand uses a command from the menu of a person.
func (u *User) UserCommand(c *Channel, target *User, name string) *Interaction {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	own := u.command(c, 2, name)
	data := map[string]any{
		"id": own.id, "name": own.name(), "type": 2, "target_id": target.id,
		"resolved": map[string]any{"users": map[string]any{target.id: target.wire()}},
	}
	return u.s.newInteraction(KindCommand, u, c, data, nil)
}

// seen finds the present state of a message that the person can see, or ends the test.
func (u *User) seen(m Message) *message {
	u.s.t.Helper()
	own := u.s.messages[m.ID]
	if own == nil || own.deleted || own.seenBy != nil && own.seenBy != u {
		u.s.t.Fatalf("discordtest: %s does not see the message %s any more, or never did", u.name, m)
	}
	return own
}

// Press presses the button with that label.
func (u *User) Press(m Message, label string) *Interaction {
	u.s.t.Helper()
	return u.press(m, func(o map[string]any) bool { return text(o["label"]) == label }, label)
}

// PressID presses the button with that custom id.
func (u *User) PressID(m Message, id string) *Interaction {
	u.s.t.Helper()
	return u.press(m, func(o map[string]any) bool { return text(o["custom_id"]) == id }, id)
}

func (u *User) press(m Message, fits func(map[string]any) bool, what string) *Interaction {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	own := u.seen(m)
	var hit map[string]any
	walk(own.components, func(o map[string]any) {
		if number(o["type"]) == typeButton && hit == nil && fits(o) {
			hit = o
		}
	})
	switch {
	case hit == nil:
		u.s.t.Fatalf("discordtest: no button %q on %s", what, own.snapshot())
	case hit["disabled"] == true:
		u.s.t.Fatalf("discordtest: the button %q is disabled", what)
	case text(hit["custom_id"]) == "":
		u.s.t.Fatalf("discordtest: the button %q is a link", what)
	}
	return u.componentUsed(own, map[string]any{"component_type": typeButton, "custom_id": hit["custom_id"], "id": hit["id"]})
}

func (u *User) componentUsed(m *message, data map[string]any) *Interaction {
	return u.s.newInteraction(KindComponent, u, m.channel, data, m)
}

// PressStale presses a button that the person's client still showed, whatever the message looks like now.
func (u *User) PressStale(m Message, customID string) *Interaction {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	return u.componentUsed(u.s.messages[m.ID], map[string]any{"component_type": typeButton, "custom_id": customID})
}

// Choose picks values, or their labels, in the menu with that custom id or placeholder.
func (u *User) Choose(m Message, menu string, values ...string) *Interaction {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	own := u.seen(m)
	for _, sel := range own.snapshot().Selects() {
		if sel.CustomID != menu && sel.Placeholder != menu {
			continue
		}
		chosen := []string{}
		for _, v := range values {
			at := slices.IndexFunc(sel.Options, func(o SelectOption) bool { return o.Value == v || o.Label == v })
			if at < 0 {
				u.s.t.Fatalf("discordtest: the menu %q has no option %q; it has %+v", menu, v, sel.Options)
			}
			chosen = append(chosen, sel.Options[at].Value)
		}
		if sel.Disabled || len(chosen) < sel.Min || len(chosen) > sel.Max {
			u.s.t.Fatalf("discordtest: %d options of the menu %q can't be chosen (%d to %d, disabled: %v)", len(chosen), menu, sel.Min, sel.Max, sel.Disabled)
		}
		return u.componentUsed(own, map[string]any{"component_type": typeSelect, "custom_id": sel.CustomID, "values": chosen})
	}
	u.s.t.Fatalf("discordtest: no menu %q on %s", menu, own.snapshot())
	return nil
}

// Send writes a message.
func (u *User) Send(c *Channel, content string) Message { return u.write(c, content, "", nil) }

// SendFiles writes a message with files.
func (u *User) SendFiles(c *Channel, content string, files ...File) Message {
	return u.write(c, content, "", files)
}

// Reply answers a message.
func (u *User) Reply(to Message, content string) Message {
	return u.write(to.Channel, content, to.ID, nil)
}

func (u *User) write(c *Channel, content, reference string, files []File) Message {
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	m := &message{channel: c, author: u, content: content, reference: reference}
	for _, f := range files {
		m.attachments = append(m.attachments, u.s.keep(c, f, false))
	}
	m.mentioned = u.s.mentions(m)
	if to := u.s.messages[reference]; to != nil && to.author == nil {
		m.mentioned = append(m.mentioned, u.s.BotID())
	}
	u.s.post(m)
	for _, a := range m.attachments {
		a.message = m
	}
	return m.snapshot()
}

// Delete removes an own message.
func (u *User) Delete(m Message) {
	u.s.t.Helper()
	u.s.mu.Lock()
	defer u.s.mu.Unlock()
	own := u.seen(m)
	if own.author != u {
		u.s.t.Fatalf("discordtest: %s can't delete what somebody else wrote: %s", u.name, m)
	}
	u.s.remove(own)
}
