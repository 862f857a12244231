package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// command is a registered application command.
type command struct {
	id      string
	guild   string // "" for a global one
	version string
	body    map[string]any
}

// Command is a registered command as tests look at it.
type Command struct {
	ID, Name, Description string
	// Type is 1 for slash commands, 2 for those on people, 3 for those on messages, 4 for the entry point of the list of apps.
	Type    int
	Options []Option
	NSFW    bool
	// Contexts and IntegrationTypes are as registered; nil: not given.
	Contexts, IntegrationTypes []int
	// MemberPermissions is default_member_permissions; "": not given.
	MemberPermissions string
	// Names and Descriptions are the translations by locale.
	Names, Descriptions map[string]string
	// Raw is the whole body.
	Raw map[string]any
}

// Option is an option of a command. For subcommands and groups, Options holds what is inside.
type Option struct {
	Type              int       `json:"type"`
	Name              string    `json:"name"`
	Description       string    `json:"description"`
	Required          bool      `json:"required"`
	Autocomplete      bool      `json:"autocomplete"`
	Choices           []Choice  `json:"choices"`
	Options           []Option  `json:"options"`
	MinValue          *float64  `json:"min_value"`
	MaxValue          *float64  `json:"max_value"`
	MinLength         *int      `json:"min_length"`
	MaxLength         *int      `json:"max_length"`
	FileTypes         []string  `json:"file_types"`
	NameLocalizations stringMap `json:"name_localizations"`
}

type stringMap map[string]string

// Choice is a value on offer.
type Choice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// The option types.
const (
	OptionSubcommand = 1
	OptionGroup      = 2
	OptionString     = 3
	OptionInteger    = 4
	OptionBoolean    = 5
	OptionUser       = 6
	OptionChannel    = 7
	OptionRole       = 8
	OptionNumber     = 10
	OptionAttachment = 11
)

// The limits on commands of one scope, by type.
const (
	maxSlash   = 100
	maxContext = 15
	maxSize    = 8000
	maxChoice  = 100 // characters of a value
	maxCreates = 200 // new commands per scope and day
)

func (c *command) kind() int {
	if n := number(c.body["type"]); n != 0 {
		return n
	}
	return 1
}

func (c *command) name() string { return text(c.body["name"]) }

// wire is the command as the API shows it.
func (c *command) wire(applicationID string) map[string]any {
	w := map[string]any{"nsfw": false, "description": "", "dm_permission": true, "default_member_permissions": nil}
	for key, value := range c.body {
		if value != nil {
			w[key] = value
		}
	}
	maps.Copy(w, map[string]any{"id": c.id, "application_id": applicationID, "version": c.version, "type": c.kind()})
	if p := text(c.body["default_member_permissions"]); p != "" {
		w["default_member_permissions"] = p
	}
	if c.guild != "" {
		w["guild_id"] = c.guild
		delete(w, "dm_permission")
	}
	if c.body["contexts"] == nil && c.guild == "" {
		w["contexts"] = nil
	}
	if c.body["integration_types"] == nil {
		w["integration_types"] = []int{0}
	}
	return w
}

func (c *command) decoded() Command {
	var d struct {
		Name             string     `json:"name"`
		Description      string     `json:"description"`
		Options          []Option   `json:"options"`
		NSFW             bool       `json:"nsfw"`
		Contexts         []int      `json:"contexts"`
		IntegrationTypes []int      `json:"integration_types"`
		Names            *stringMap `json:"name_localizations"`
		Descriptions     *stringMap `json:"description_localizations"`
	}
	data, _ := json.Marshal(c.body)
	_ = json.Unmarshal(data, &d)
	out := Command{
		ID: c.id, Name: d.Name, Description: d.Description, Type: c.kind(), Options: d.Options, NSFW: d.NSFW, Contexts: d.Contexts,
		IntegrationTypes: d.IntegrationTypes, MemberPermissions: text(c.body["default_member_permissions"]), Raw: maps.Clone(c.body),
	}
	if d.Names != nil {
		out.Names = *d.Names
	}
	if d.Descriptions != nil {
		out.Descriptions = *d.Descriptions
	}
	return out
}

// Commands returns what is registered for a guild, or globally for nil, in the order of registration.
func (s *Server) Commands(g *Guild) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	scope := ""
	if g != nil {
		scope = g.id
	}
	var out []Command
	for _, c := range s.commands[scope] {
		out = append(out, c.decoded())
	}
	return out
}

// CommandWrites counts the successful requests that changed commands.
func (s *Server) CommandWrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// scope is the guild that a request's commands belong to, "" for the global ones.
func (s *Server) scope(r *request) (string, *apiError) {
	id, ok := r.vars["guild_id"]
	if !ok {
		return "", nil
	}
	if g := s.guilds[id]; g == nil || !g.installed {
		return "", refuse(http.StatusForbidden, codeNoAccess, "Missing Access")
	}
	return id, nil
}

func (s *Server) listCommands(r *request) (any, *apiError) {
	scope, refused := s.scope(r)
	if refused != nil {
		return nil, refused
	}
	return s.commandWires(scope), nil
}

func (s *Server) commandWires(scope string) []any {
	out := []any{}
	for _, c := range s.commands[scope] {
		out = append(out, c.wire(s.ApplicationID))
	}
	return out
}

func (s *Server) putCommands(r *request) (any, *apiError) {
	scope, refused := s.scope(r)
	if refused != nil {
		return nil, refused
	}
	bodies, ok := r.body.([]any)
	if !ok {
		return nil, invalid("", "BASE_TYPE_BAD_TYPE", "a list of commands is expected")
	}
	var next []*command
	for i, b := range bodies {
		at := fmt.Sprint(i)
		if refused := s.validate(r, "ApplicationCommandUpdateRequest", b, []string{at}); refused != nil {
			return nil, refused
		}
		body, _ := b.(map[string]any)
		c := s.merged(scope, body)
		if refused := checkCommand(at, c); refused != nil {
			return nil, refused
		}
		if sameName(next, c) {
			return nil, invalid(at, "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique: %q", c.name())
		}
		next = append(next, c)
	}
	if refused := checkCount(next); refused != nil {
		return nil, refused
	}
	if refused := s.create(scope, next...); refused != nil {
		return nil, refused
	}
	s.commands[scope] = next
	s.writes++
	s.signal()
	return s.commandWires(scope), nil
}

// merged makes a command from a body; one with that name and type keeps its id.
func (s *Server) merged(scope string, body map[string]any) *command {
	c := &command{guild: scope, body: maps.Clone(body)}
	for _, old := range s.commands[scope] {
		if old.name() == c.name() && old.kind() == c.kind() {
			c.id = old.id
		}
	}
	if c.id == "" {
		c.id = s.newID()
	}
	c.version = s.newID()
	return c
}

// create counts those of the commands that are new to their scope; there is a limit per day.
func (s *Server) create(scope string, list ...*command) *apiError {
	recent := slices.DeleteFunc(s.creates[scope], func(at time.Time) bool { return s.now().Sub(at) >= 24*time.Hour })
	for _, c := range list {
		if !slices.ContainsFunc(s.commands[scope], func(o *command) bool { return o.id == c.id }) {
			recent = append(recent, s.now())
		}
	}
	if len(recent) > maxCreates {
		return refuse(http.StatusBadRequest, codeTooManyCreates, "Max number of daily application command creates has been reached (200)")
	}
	s.creates[scope] = recent
	return nil
}

func sameName(list []*command, c *command) bool {
	return slices.ContainsFunc(list, func(o *command) bool { return o.name() == c.name() && o.kind() == c.kind() })
}

func checkCount(list []*command) *apiError {
	counts := map[int]int{}
	for _, c := range list {
		counts[c.kind()]++
	}
	for kind, n := range counts {
		if limit := maxOf(kind); n > limit {
			return refuse(http.StatusBadRequest, codeTooManyCommands, fmt.Sprintf("Maximum number of application commands reached (%d).", limit))
		}
	}
	return nil
}

func maxOf(kind int) int {
	switch kind {
	case 1:
		return maxSlash
	case kindEntry:
		return 1
	}
	return maxContext
}

func (s *Server) postCommand(r *request) (any, *apiError) {
	scope, refused := s.scope(r)
	if refused != nil {
		return nil, refused
	}
	c := s.merged(scope, r.object())
	if refused := checkCommand("", c); refused != nil {
		return nil, refused
	}
	kept := slices.DeleteFunc(slices.Clone(s.commands[scope]), func(o *command) bool { return o.id == c.id })
	if refused := checkCount(append(kept, c)); refused != nil {
		return nil, refused
	}
	if refused := s.create(scope, c); refused != nil {
		return nil, refused
	}
	s.commands[scope] = append(kept, c)
	s.writes++
	s.signal()
	return c.wire(s.ApplicationID), nil
}

// findCommand finds the command that a request names.
func (s *Server) findCommand(r *request) (*command, *apiError) {
	scope, refused := s.scope(r)
	if refused != nil {
		return nil, refused
	}
	for _, c := range s.commands[scope] {
		if c.id == r.vars["command_id"] {
			return c, nil
		}
	}
	return nil, unknown(codeUnknownCommand, "application command")
}

func (s *Server) getCommand(r *request) (any, *apiError) {
	c, refused := s.findCommand(r)
	if refused != nil {
		return nil, refused
	}
	return c.wire(s.ApplicationID), nil
}

func (s *Server) patchCommand(r *request) (any, *apiError) {
	c, refused := s.findCommand(r)
	if refused != nil {
		return nil, refused
	}
	next := &command{id: c.id, guild: c.guild, version: s.newID(), body: maps.Clone(c.body)}
	maps.Copy(next.body, r.object())
	if refused := checkCommand("", next); refused != nil {
		return nil, refused
	}
	*c = *next
	s.writes++
	s.signal()
	return c.wire(s.ApplicationID), nil
}

func (s *Server) deleteCommand(r *request) (any, *apiError) {
	c, refused := s.findCommand(r)
	if refused != nil {
		return nil, refused
	}
	s.commands[c.guild] = slices.DeleteFunc(s.commands[c.guild], func(o *command) bool { return o == c })
	s.writes++
	s.signal()
	return nil, nil
}

var (
	slashName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)
	locales   = strings.Fields("id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja zh-TW ko")
)

// checkCommand applies the rules for commands that the API description lacks.
func checkCommand(at string, c *command) *apiError {
	body, slash := c.body, c.kind() == 1 || c.kind() == kindEntry
	if refused := checkEntry(at, c); refused != nil {
		return refused
	}
	if refused := checkNames(at, body, slash); refused != nil {
		return refused
	}
	options, _ := body["options"].([]any)
	description := text(body["description"])
	switch {
	case slash && description == "":
		return invalid(join(at, "description"), "BASE_TYPE_REQUIRED", "This field is required")
	case !slash && description != "":
		return invalid(join(at, "description"), "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION", "Context menu commands cannot have a description")
	case !slash && len(options) > 0:
		return invalid(join(at, "options"), "APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS", "Context menu commands cannot have options")
	case c.guild != "" && body["contexts"] != nil:
		return invalid(join(at, "contexts"), "APPLICATION_COMMAND_GUILD_CONTEXTS", "contexts can be set for global commands only")
	case contains(body["contexts"], 2) && !contains(body["integration_types"], 1):
		return invalid(join(at, "contexts"), "APPLICATION_COMMAND_CONTEXTS_INSTALL", "context 2 (private channels) needs integration type 1 (user install)")
	}
	if n := size(body); n > maxSize {
		return invalid(at, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (%d of 8000)", n)
	}
	return checkOptions(at, options, 0)
}

func join(at, name string) string { return strings.TrimPrefix(at+"/"+name, "/") }

func contains(v any, n int) bool {
	items, _ := v.([]any)
	return slices.ContainsFunc(items, func(i any) bool { return number(i) == n })
}

// checkNames checks a name and its translations.
func checkNames(at string, o map[string]any, strict bool) *apiError {
	names := map[string]string{join(at, "name"): text(o["name"])}
	for _, field := range []string{"name_localizations", "description_localizations"} {
		translations, _ := o[field].(map[string]any)
		for locale, name := range translations {
			if !slices.Contains(locales, locale) {
				return invalid(join(at, field), "DICT_TYPE_INVALID_KEY", "%q is no known locale", locale)
			}
			if field == "name_localizations" {
				names[join(at, field)+"/"+locale] = text(name)
			}
		}
	}
	for where, name := range names {
		if strict && (!slashName.MatchString(name) || name != lower(name)) {
			return invalid(where, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid: %q", name)
		}
	}
	return nil
}

// lower lowers every letter that has a lower case.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

// checkOptions checks options and what is inside subcommands and groups; depth counts these.
func checkOptions(at string, options []any, depth int) *apiError {
	seen, optional := map[string]bool{}, false
	for i, v := range options {
		o, _ := v.(map[string]any)
		where := join(at, fmt.Sprintf("options/%d", i))
		kind := number(o["type"])
		if refused := checkNames(where, o, true); refused != nil {
			return refused
		}
		switch {
		case seen[text(o["name"])]:
			return invalid(where+"/name", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists: %q", text(o["name"]))
		case o["required"] == true && optional:
			return invalid(where, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		case kind <= OptionGroup != (number(first(options)["type"]) <= OptionGroup):
			return invalid(where+"/type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are mutually exclusive to all other types")
		case kind == OptionGroup && depth > 0, kind == OptionSubcommand && depth > 1:
			return invalid(where+"/type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-commands can't be nested this deep")
		}
		seen[text(o["name"])] = true
		optional = optional || o["required"] != true
		inner, _ := o["options"].([]any)
		if refused := checkValues(where, o); refused != nil {
			return refused
		}
		next := depth + 1
		if kind == OptionSubcommand {
			next = 2
		}
		if refused := checkOptions(where, inner, next); refused != nil {
			return refused
		}
	}
	return nil
}

func first(options []any) map[string]any {
	o, _ := options[0].(map[string]any)
	return o
}

// checkValues checks choices and bounds of one option.
func checkValues(at string, o map[string]any) *apiError {
	choices, _ := o["choices"].([]any)
	if o["autocomplete"] == true && len(choices) > 0 {
		return invalid(at, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE_MUTUALLY_EXCLUSIVE", "Choices cannot be specified when autocomplete is true")
	}
	names, values := map[string]bool{}, map[string]bool{}
	for i, v := range choices {
		choice, _ := v.(map[string]any)
		name, value := text(choice["name"]), text(choice["value"])
		if names[name] || values[value] {
			return invalid(fmt.Sprintf("%s/choices/%d", at, i), "APPLICATION_COMMAND_OPTIONS_CHOICE_NAME_ALREADY_EXISTS", "Option choice already exists: %q", name)
		}
		if units(value) > maxChoice {
			return invalid(fmt.Sprintf("%s/choices/%d/value", at, i), "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")
		}
		names[name], values[value] = true, true
	}
	for _, pair := range [][2]string{{"min_value", "max_value"}, {"min_length", "max_length"}} {
		low, high := float(o[pair[0]]), float(o[pair[1]])
		if low != nil && high != nil && *low > *high {
			return invalid(at+"/"+pair[0], "APPLICATION_COMMAND_OPTIONS_MIN_OVER_MAX", "%s %v is over %s %v", pair[0], *low, pair[1], *high)
		}
	}
	return nil
}

func float(v any) *float64 {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	return &f
}

// size counts the characters of names, descriptions and values, each text in its longest translation.
func size(o map[string]any) int {
	n := longest(o, "name") + longest(o, "description") + units(text(o["value"]))
	for _, inside := range []string{"options", "choices"} {
		items, _ := o[inside].([]any)
		for _, i := range items {
			if inner, ok := i.(map[string]any); ok {
				n += size(inner)
			}
		}
	}
	return n
}

func longest(o map[string]any, field string) int {
	n := units(text(o[field]))
	translations, _ := o[field+"_localizations"].(map[string]any)
	for _, t := range translations {
		n = max(n, units(text(t)))
	}
	return n
}
