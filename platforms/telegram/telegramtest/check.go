package telegramtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest/apitable"
)

// refusals are the real texts for broken limits and missing parameters, by owner.field or field.
// Where none is known, a text of our own names the field.
var refusals = map[string]string{
	"InlineKeyboardButton.callback_data": "BUTTON_DATA_INVALID",
	"CopyTextButton.text":                "BUTTON_COPY_TEXT_INVALID",
	"BotCommand.command":                 "BOT_COMMAND_INVALID",
	"BotCommand.description":             "BOT_COMMAND_DESCRIPTION_INVALID",
	"setMyCommands.commands":             "BOT_COMMANDS_TOO_MUCH",
	"answerCallbackQuery.text":           "MESSAGE_TOO_LONG",
	"answerInlineQuery.results":          "RESULTS_TOO_MUCH",
	"answerInlineQuery.next_offset":      "NEXT_OFFSET_INVALID",
	"sendChatAction.action":              "wrong parameter action in request",
	"setWebhook.secret_token":            "secret token contains unallowed characters",
	"deleteMessages.message_ids":         "too many message identifiers specified",
	"MessageEntity.type":                 "can't parse MessageEntity: Unsupported type specified",

	"missing chat_id":         "chat_id is empty",
	"missing text":            "message text is empty",
	"missing photo":           "there is no photo in the request",
	"missing video":           "there is no video in the request",
	"missing animation":       "there is no animation in the request",
	"missing audio":           "there is no audio in the request",
	"missing voice":           "there is no voice in the request",
	"missing document":        "there is no document in the request",
	"missing message_id":      "message identifier is not specified",
	"missing message_ids":     "message identifiers are not specified",
	"missing user_id":         "invalid user_id specified",
	"missing commands":        "can't parse commands JSON object",
	"missing media":           "can't parse media JSON object",
	"missing action":          "wrong parameter action in request",
	"missing file_id":         "invalid file_id",
	"missing inline_keyboard": "object expected as reply markup",
	"missing type":            "unsupported type specified",
}

// clamped limits are not refused by the service: it takes the nearest allowed value.
var clamped = []string{"getUpdates.limit", "getUpdates.timeout"}

// checker compares a request with the table. Unknown names are typos in the program under test: they
// are reported and the request goes on, as it would at the real service.
type checker struct {
	table   *apitable.Table
	unknown []string
}

// request checks all parameters of a call.
func (c *checker) request(method string, fields apitable.Fields, req *request) *apiError {
	for _, name := range slices.Sorted(maps.Keys(req.params)) {
		field, known := fields[name]
		switch {
		case !known && c.isLegacy(name):
		case !known && strings.Contains(strings.Join(slices.Collect(maps.Values(req.params)), " "), "attach://"+name):
		case !known:
			c.unknown = append(c.unknown, method+": unknown parameter "+name)
		case req.params[name] == "" || req.params[name] == "null":
		default:
			if err := c.param(method, name, field, req); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, uploaded := req.files[name]; fields[name].Required && !req.has(name) && !uploaded && !allowedEmpty(method, name) {
			return missing(name)
		}
	}
	return nil
}

// allowedEmpty names required parameters for which an empty value has a meaning.
func allowedEmpty(method, name string) bool {
	return method == "setWebhook" && name == "url"
}

func missing(name string) *apiError {
	if text, ok := refusals["missing "+name]; ok {
		return badRequest("%s", text)
	}
	return badRequest("%s is not specified", name)
}

func (c *checker) isLegacy(name string) bool { return slices.Contains(c.table.Legacy, name) }

// param checks a top-level value: strings are bare, everything else is JSON.
func (c *checker) param(method, name string, field apitable.Field, req *request) *apiError {
	value := req.params[name]
	if !slices.Contains(field.Types, "String") && !slices.Contains(field.Types, "InputFile") {
		return c.value(method, name, field, json.RawMessage(value))
	}
	if slices.Contains(field.Types, "Integer") && !strings.HasPrefix(value, "@") {
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return badRequest("%s must be a number or a @name, got %q", name, value)
		}
	}
	return limits(method, name, field, value)
}

// value checks a JSON value against the types of a field.
func (c *checker) value(owner, name string, field apitable.Field, raw json.RawMessage) *apiError {
	var firstErr *apiError
	best := -1
	var bestUnknown []string
	if items, ok := arrayTypes(field.Types); ok {
		return c.array(owner, name, items, field, raw)
	}
	for _, typ := range c.tagged(c.expand(field.Types), raw) {
		probe := &checker{table: c.table}
		err := probe.typed(owner, name, typ, field, raw)
		switch {
		case err == nil && len(probe.unknown) == 0:
			return nil
		case err == nil && (best < 0 || len(probe.unknown) < best):
			best, bestUnknown = len(probe.unknown), probe.unknown
		case err != nil && (firstErr == nil || err.description < firstErr.description):
			firstErr = err
		}
	}
	if best >= 0 {
		c.unknown = append(c.unknown, bestUnknown...)
		return nil
	}
	return firstErr
}

// arrayTypes strips one "Array of" from every type; ok is false unless all are arrays.
func arrayTypes(types []string) (inner []string, ok bool) {
	for _, t := range types {
		element, isArray := strings.CutPrefix(t, "Array of ")
		if !isArray {
			return nil, false
		}
		inner = append(inner, element)
	}
	return inner, true
}

// tagged keeps the types whose fixed "type" field agrees with the value's, or all where none does.
func (c *checker) tagged(types []string, raw json.RawMessage) []string {
	var value struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &value) != nil || value.Type == "" {
		return types
	}
	agreeing := slices.DeleteFunc(slices.Clone(types), func(t string) bool {
		return !slices.Contains(c.table.Types[t]["type"].OneOf, value.Type)
	})
	if len(agreeing) == 0 {
		return types
	}
	return agreeing
}

// expand replaces unions by their members.
func (c *checker) expand(types []string) []string {
	var out []string
	for _, t := range types {
		element := apitable.ElementType(t)
		if members := c.table.Unions[element]; members != nil && t == element {
			out = append(out, c.expand(members)...)
			continue
		}
		out = append(out, t)
	}
	return out
}

func (c *checker) typed(owner, name, typ string, field apitable.Field, raw json.RawMessage) *apiError {
	wrong := func() *apiError {
		return badRequest("can't parse %s of %s: %s expected, got %s", name, owner, typ, shorten(raw))
	}
	switch typ {
	case "Integer", "Float":
		text := strings.Trim(string(raw), `" `)
		if _, err := strconv.ParseFloat(text, 64); err != nil || typ == "Integer" && strings.ContainsAny(text, ".eE") {
			return wrong()
		}
		return limits(owner, name, field, text)
	case "Boolean":
		if s := string(raw); s != "true" && s != "false" {
			return wrong()
		}
		return nil
	case "String", "InputFile":
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return wrong()
		}
		return limits(owner, name, field, text)
	}
	if inner, ok := strings.CutPrefix(typ, "Array of "); ok {
		return c.array(owner, name, []string{inner}, field, raw)
	}
	if text := ""; json.Unmarshal(raw, &text) == nil && len(text) > 0 && text[0] == '{' {
		raw = json.RawMessage(text)
	}
	return c.object(typ, raw, wrong)
}

func (c *checker) array(owner, name string, inner []string, field apitable.Field, raw json.RawMessage) *apiError {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || items == nil {
		return badRequest("expected an Array of %s", inner[0])
	}
	if field.Unit == "items" {
		if err := inRange(owner, name, field, len(items)); err != nil {
			return err
		}
	}
	element := apitable.Field{Types: inner}
	if field.Unit != "items" {
		element.Min, element.Max, element.Unit = field.Min, field.Max, field.Unit
	}
	for _, item := range items {
		if err := c.value(owner, name, element, item); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) object(typ string, raw json.RawMessage, wrong func() *apiError) *apiError {
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil || values == nil {
		return wrong()
	}
	fields, described := c.table.Types[typ]
	if !described {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		field, known := fields[name]
		switch {
		case !known && c.isLegacy(name):
		case !known:
			c.unknown = append(c.unknown, fmt.Sprintf("%s: unknown field %s", typ, name))
		case bytes.Equal(values[name], []byte("null")):
		default:
			if err := c.value(typ, name, field, values[name]); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if v, ok := values[name]; fields[name].Required && (!ok || string(v) == "null") {
			return missing(name)
		}
	}
	return nil
}

// limits checks a plain value against length, range, choice and form.
func limits(owner, name string, field apitable.Field, value string) *apiError {
	if slices.Contains(clamped, owner+"."+name) || field.AfterEntities {
		return nil
	}
	size := utf16Len(value)
	switch field.Unit {
	case "bytes":
		size = len(value)
	case "value":
		size, _ = strconv.Atoi(value)
	}
	if field.Unit != "" && field.Unit != "items" {
		if err := inRange(owner, name, field, size); err != nil {
			return err
		}
	}
	if len(field.OneOf) > 0 && !slices.Contains(field.OneOf, value) {
		return refusal(owner, name, fmt.Sprintf("one of %s expected, got %q", strings.Join(field.OneOf, ", "), value))
	}
	if field.Regex != nil && !field.Regex.MatchString(value) {
		return refusal(owner, name, fmt.Sprintf("%s expected, got %q", field.Regex, value))
	}
	return nil
}

func inRange(owner, name string, field apitable.Field, n int) *apiError {
	if field.Min != nil && n < *field.Min || field.Max != nil && n > *field.Max {
		return refusal(owner, name, fmt.Sprintf("%d %s is out of range", n, field.Unit))
	}
	return nil
}

func refusal(owner, name, otherwise string) *apiError {
	if text, ok := refusals[owner+"."+name]; ok {
		return badRequest("%s", text)
	}
	return badRequest("%s of %s: %s", name, owner, otherwise)
}

func shorten(raw []byte) string {
	if len(raw) > 60 {
		return string(raw[:60]) + "..."
	}
	return string(raw)
}
