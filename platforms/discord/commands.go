package discord

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// Limits of commands.
const (
	maxCommands    = 100
	maxOnMessages  = 5 // of the 15 that Discord shows of all kinds: a menu that one can take in
	maxOnPeople    = 5
	maxName        = 32
	maxDescription = 100
	maxOptions     = 25
	maxChoices     = 25
	maxChoice      = 100
	maxCommandText = 8000 // characters of names, descriptions and values of a command
	maxSeveral     = 5    // options of an input that takes several files
	maxExact       = 1 << 53
)

// command is a command as Discord takes it. The types are our own: the library's know no file types.
type command struct {
	Type                     discordgo.ApplicationCommandType       `json:"type"`
	Name                     string                                 `json:"name"`
	NameLocalizations        map[string]string                      `json:"name_localizations,omitempty"`
	Description              string                                 `json:"description,omitempty"`
	DescriptionLocalizations map[string]string                      `json:"description_localizations,omitempty"`
	Options                  []commandOption                        `json:"options,omitempty"`
	Handler                  int                                    `json:"handler,omitempty"` // of an entry point only
	Contexts                 []discordgo.InteractionContextType     `json:"contexts"`
	IntegrationTypes         []discordgo.ApplicationIntegrationType `json:"integration_types"`
}

type commandOption struct {
	Type                     discordgo.ApplicationCommandOptionType `json:"type"`
	Name                     string                                 `json:"name"`
	Description              string                                 `json:"description"`
	DescriptionLocalizations map[string]string                      `json:"description_localizations,omitempty"`
	Required                 bool                                   `json:"required,omitempty"`
	Choices                  []commandChoice                        `json:"choices,omitempty"`
	MinValue                 json.Number                            `json:"min_value,omitempty"`
	MaxValue                 json.Number                            `json:"max_value,omitempty"`
	Autocomplete             bool                                   `json:"autocomplete,omitempty"`
	FileTypes                []string                               `json:"file_types,omitempty"`
}

type commandChoice struct {
	Name              string            `json:"name"`
	NameLocalizations map[string]string `json:"name_localizations,omitempty"`
	Value             any               `json:"value"`
}

// commandsOf makes the list that Discord gets, and what a use of each command means. A command in several sets is
// shown in all their kinds of chats. Sets for one language are left out: one list carries all languages.
func commandsOf(sets []chat.CommandSet) ([]command, published) {
	list := []command{}
	p := published{Commands: map[string]usage{}, OnMessages: map[string]string{}, PrivateOnMessages: map[string]bool{}, OnPeople: map[string]string{}, Entry: map[string]string{}}
	place := map[string]int{}
	for _, set := range sets {
		if set.Language != "" {
			continue
		}
		for _, c := range set.Commands {
			key := strconv.Itoa(int(typeOf(c))) + c.Name
			at, known := place[key]
			if !known {
				at = len(list)
				place[key] = at
				list = append(list, commandOf(c, &p))
			}
			list[at].Contexts = union(list[at].Contexts, contextsOf(set.Kind))
		}
	}
	return list, p
}

func contextsOf(kind chat.ChatKind) []discordgo.InteractionContextType {
	if kind == chat.ChatPrivate {
		return []discordgo.InteractionContextType{discordgo.InteractionContextBotDM}
	}
	return []discordgo.InteractionContextType{discordgo.InteractionContextGuild, discordgo.InteractionContextPrivateChannel}
}

func union(a, b []discordgo.InteractionContextType) []discordgo.InteractionContextType {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

func commandOf(c chat.Command, p *published) command {
	out := command{
		Type: typeOf(c), Name: c.Name,
		IntegrationTypes: []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall, discordgo.ApplicationIntegrationUserInstall},
	}
	texts := textsOf(c)
	out.NameLocalizations, out.DescriptionLocalizations = localized(c, texts)
	switch {
	case c.OnMessages || c.OnPeople:
		out.Name, out.DescriptionLocalizations = cut(c.Name, maxName), nil
		p.uses(out.Type)[out.Name], p.PrivateOnMessages[out.Name] = c.Use, c.Private
		return out
	case c.Entry:
		out.Handler, out.Description = appHandler, describe(c.Description, c.Name)
		p.Entry[out.Name] = c.Use
		return out
	}
	out.Name = strings.ToLower(c.Name)
	out.Description = describe(c.Description, c.Name)
	use := usage{Private: c.Private}
	out.Options, use.Options = optionsOf(c)
	localizeOptions(out.Options, c, texts)
	for out.size() > maxCommandText && len(out.Options) > 0 {
		last := len(out.Options) - 1
		delete(use.Options, out.Options[last].Name)
		out.Options = out.Options[:last]
	}
	p.Commands[out.Name] = use
	return out
}

// entryPoint is the entry point of the list of apps, a type that the library does not know.
const entryPoint discordgo.ApplicationCommandType = 4

// appHandler says that we answer the entry point by ourselves.
const appHandler = 1

func typeOf(c chat.Command) discordgo.ApplicationCommandType {
	switch {
	case c.OnMessages:
		return discordgo.MessageApplicationCommand
	case c.OnPeople:
		return discordgo.UserApplicationCommand
	case c.Entry:
		return entryPoint
	}
	return discordgo.ChatApplicationCommand
}

// describe makes a description, which must not be empty.
func describe(text, otherwise string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = cmp.Or(text, otherwise)
	return cut(text, maxDescription)
}

// locales gives Discord's names for a language.
func locales(language string) []string {
	switch language {
	case "en":
		return []string{"en-US", "en-GB"}
	case "es":
		return []string{"es-ES", "es-419"}
	case "pt":
		return []string{"pt-BR"}
	case "sv":
		return []string{"sv-SE"}
	case "zh":
		return []string{"zh-CN", "zh-TW"}
	}
	if _, known := discordgo.Locales[discordgo.Locale(language)]; known {
		return []string{language}
	}
	return nil
}

// textsOf are a command's texts by Discord's names of languages.
func textsOf(c chat.Command) map[string]chat.CommandText {
	texts := map[string]chat.CommandText{}
	for language, say := range c.Localized {
		text := say()
		for _, locale := range locales(language) {
			texts[locale] = text
		}
	}
	return texts
}

func localized(c chat.Command, texts map[string]chat.CommandText) (names, descriptions map[string]string) {
	names, descriptions = map[string]string{}, map[string]string{}
	inMenu := c.OnMessages || c.OnPeople
	for locale, text := range texts {
		if name := strings.ToLower(text.Name); !inMenu && isName(name) {
			names[locale] = name
		} else if inMenu && text.Name != "" {
			names[locale] = cut(text.Name, maxName)
		}
		if text.Description != "" {
			descriptions[locale] = describe(text.Description, c.Name)
		}
	}
	return names, descriptions
}

// localizeOptions gives options and their choices the words that they have in other languages, where these differ.
func localizeOptions(options []commandOption, c chat.Command, texts map[string]chat.CommandText) {
	for locale, text := range texts {
		if len(text.Inputs) != len(c.Inputs) {
			continue
		}
		read, _ := optionsOf(chat.Command{Inputs: text.Inputs, Completes: c.Completes})
		for i := range min(len(options), len(read)) {
			o := &options[i]
			localize(&o.DescriptionLocalizations, locale, read[i].Description, o.Description)
			for j := range min(len(o.Choices), len(read[i].Choices)) {
				localize(&o.Choices[j].NameLocalizations, locale, read[i].Choices[j].Name, o.Choices[j].Name)
			}
		}
	}
}

func localize(to *map[string]string, locale, text, usual string) {
	if text == usual {
		return
	}
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[locale] = text
}

// size counts what Discord bounds to maxCommandText; of localisations the longest counts.
func (c command) size() int {
	n := longest(c.Name, c.NameLocalizations) + longest(c.Description, c.DescriptionLocalizations)
	for _, o := range c.Options {
		n += utf8.RuneCountInString(o.Name) + longest(o.Description, o.DescriptionLocalizations)
		for _, choice := range o.Choices {
			n += longest(choice.Name, choice.NameLocalizations)
			if s, ok := choice.Value.(string); ok {
				n += utf8.RuneCountInString(s)
			}
		}
	}
	return n
}

func longest(text string, others map[string]string) int {
	n := utf8.RuneCountInString(text)
	for _, other := range others {
		n = max(n, utf8.RuneCountInString(other))
	}
	return n
}

// isName reports whether Discord takes a name for a command or an option: ^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$.
func isName(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 1 && n <= maxName && !strings.ContainsFunc(s, notInName)
}

// notInName is written out, since a regular expression of these classes takes a megabyte.
func notInName(r rune) bool {
	return !strings.ContainsRune("-_'", r) && !unicode.In(r, unicode.L, unicode.N, unicode.Devanagari, unicode.Thai)
}

// optionsOf draws a command's options from its inputs: required ones first, as Discord wants it, then the basic ones,
// then the advanced, as far as there is room. names tells which input each option is.
func optionsOf(c chat.Command) (options []commandOption, names map[string]string) {
	names = map[string]string{}
	fields := c.Inputs.Ordered()
	slices.SortStableFunc(fields, func(a, b registry.InputField) int { return rank(a) - rank(b) })
	for _, f := range fields {
		for n := range several(f) {
			if len(options) == maxOptions {
				return options, names
			}
			o := optionOf(f, slices.Contains(c.Completes, f.Name))
			o.Name = freeName(f.Name, n, names)
			o.Required = o.Required && n == 0
			names[o.Name] = f.Name
			if n > 0 {
				names[o.Name] = furtherFile
			}
			options = append(options, o)
		}
	}
	return options, names
}

func rank(f registry.InputField) int {
	switch {
	case f.Required:
		return 0
	case !f.Advanced:
		return 1
	}
	return 2
}

// furtherFile stands for the input of options that hold a further file of an input that takes several: their files
// follow the first.
const furtherFile = ""

// several is how many options an input has: one for each file that it takes.
func several(f registry.InputField) int {
	if f.Multiple && f.Type.IsMedia() {
		return maxSeveral
	}
	return 1
}

// freeName makes a name for an option that Discord takes and that is not taken.
func freeName(input string, n int, taken map[string]string) string {
	name := cmp.Or(strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(input), notInName), "_"), "_"), "value")
	for ; ; n++ {
		tail := ""
		if n > 0 {
			tail = "_" + strconv.Itoa(n+1)
		}
		runes := []rune(name)
		full := string(runes[:min(len(runes), maxName-len(tail))]) + tail
		if _, used := taken[full]; !used {
			return full
		}
	}
}

func optionOf(f registry.InputField, completes bool) commandOption {
	o := commandOption{
		Type: discordgo.ApplicationCommandOptionString, Description: describe(f.Description, f.Label()), Required: f.Required,
	}
	switch {
	case f.Type.IsMedia():
		o.Type, o.FileTypes = discordgo.ApplicationCommandOptionAttachment, fileTypes(f.Type)
		return o
	case f.Multiple, len(f.Schema) > 0:
		return o
	case f.Type == registry.TypeBoolean && len(f.Choices) == 0:
		o.Type = discordgo.ApplicationCommandOptionBoolean
		return o
	case f.Type == registry.TypeNumber && exact(f):
		o.Type = discordgo.ApplicationCommandOptionNumber
		if f.Integer {
			o.Type = discordgo.ApplicationCommandOptionInteger
		}
		o.MinValue, o.MaxValue = f.Min, f.Max
	}
	o.Choices = choicesOf(o.Type, chosen(f.Choices))
	if completes || len(f.Choices) > maxChoices || len(o.Choices) < len(f.Choices) {
		o.Choices, o.Autocomplete = nil, true
	}
	if len(o.Choices) > 0 {
		o.MinValue, o.MaxValue = "", ""
	}
	return o
}

// exact tells whether a number's range survives Discord, which counts in 53 bits. A seed goes as text: it may be
// larger, and may be a word.
func exact(f registry.InputField) bool {
	for _, bound := range []json.Number{f.Min, f.Max} {
		if v, err := bound.Float64(); bound != "" && (err != nil || v > maxExact || v < -maxExact) {
			return false
		}
	}
	return !f.Seed
}

func fileTypes(t registry.InputType) []string {
	if t == registry.TypeFile {
		return nil
	}
	return []string{string(t)}
}

func chosen(list []registry.Choice) []chat.Choice {
	out := make([]chat.Choice, len(list))
	for i, c := range list {
		out[i] = chat.Choice{Label: c.Text(), Value: c.Value}
	}
	return out
}

// choicesOf makes choices of an option's type; what does not fit is left out.
func choicesOf(t discordgo.ApplicationCommandOptionType, list []chat.Choice) []commandChoice {
	choices := []commandChoice{}
	for _, c := range list {
		value := c.Value
		label := c.Label
		if t == discordgo.ApplicationCommandOptionString {
			s, ok := valueText(c.Value)
			if !ok || utf8.RuneCountInString(s) > maxChoice {
				continue
			}
			value = s
		} else if _, number := c.Value.(json.Number); !number {
			continue
		}
		if label == "" {
			label, _ = valueText(c.Value)
		}
		if label != "" && len(choices) < maxChoices {
			choices = append(choices, commandChoice{Name: cut(label, maxChoice), Value: value})
		}
	}
	return choices
}

func valueText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, v != ""
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
