package discordtest

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	maxContent    = 2000
	maxEmbedTotal = 6000
	maxTextTotal  = 4000
	maxComponents = 40
)

// units counts as the service does: UTF-16 code units.
func units(s string) int { return len(utf16.Encode([]rune(s))) }

// checkMessage applies the rules for messages that the API description lacks.
func (s *Server) checkMessage(req *request, m *message) *apiError {
	if units(m.content) > maxContent {
		return invalid("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	if refused := checkEmbeds(m.embeds, m.attachments); refused != nil {
		return refused
	}
	v2 := m.flags&flagComponentsV2 != 0
	if v2 {
		if m.content != "" {
			return invalid("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
		}
		if len(m.embeds) > 0 {
			return invalid("embeds", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'embeds' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
		}
	}
	if m.content == "" && len(m.embeds) == 0 && len(m.attachments) == 0 && len(m.components) == 0 {
		return refuse(400, codeEmptyMessage, "Cannot send an empty message")
	}
	check := componentCheck{s: s, message: m, v2: v2, ids: map[string]bool{}, numbers: map[int]bool{}}
	if refused := check.all(); refused != nil {
		return refused
	}
	if v2 {
		check.reportUnshown(req)
	}
	return nil
}

// checkEmbeds checks totals and references; single lengths are in the API description.
func checkEmbeds(embeds []any, files []*attachment) *apiError {
	total := 0
	for i, e := range embeds {
		embed, _ := e.(map[string]any)
		n := 0
		for _, part := range embedTexts(embed) {
			n += units(part)
		}
		at := fmt.Sprintf("embeds/%d", i)
		if n == 0 && embed["image"] == nil && embed["thumbnail"] == nil {
			return invalid(at+"/description", "BASE_TYPE_REQUIRED", "This field is required")
		}
		for _, picture := range []string{"image", "thumbnail"} {
			ref, _ := embed[picture].(map[string]any)
			if refused := checkReference(at+"/"+picture+"/url", text(ref["url"]), files, pictures); refused != nil {
				return refused
			}
		}
		if total += n; total > maxEmbedTotal {
			return invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
		}
	}
	return nil
}

// embedTexts are the texts of an embed that count towards the total.
func embedTexts(embed map[string]any) []string {
	footer, _ := embed["footer"].(map[string]any)
	author, _ := embed["author"].(map[string]any)
	out := []string{text(embed["title"]), text(embed["description"]), text(footer["text"]), text(author["name"])}
	fields, _ := embed["fields"].([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		out = append(out, text(field["name"]), text(field["value"]))
	}
	return out
}

// pictures are the endings that embeds can show.
func pictures() []string { return []string{".jpg", ".jpeg", ".png", ".webp", ".gif"} }

// checkReference checks an address: http(s), or attachment:// with a file that the message has.
func checkReference(at, url string, files []*attachment, endings func() []string) *apiError {
	name, own := strings.CutPrefix(url, "attachment://")
	switch {
	case url == "":
		return nil
	case !own && !hasPrefix(url, "http://") && !hasPrefix(url, "https://"):
		return invalid(at, "URL_TYPE_INVALID_SCHEME", "Scheme %q is not supported. Scheme must be one of ('http', 'https', 'attachment').", url)
	case !own:
		return nil
	case endings != nil && !slices.Contains(endings(), strings.ToLower(path.Ext(name))):
		return invalid(at, "EMBED_PICTURE_KIND", "embeds show jpg, jpeg, png, webp and gif files only, got %q", name)
	case !slices.ContainsFunc(files, func(a *attachment) bool { return a.name == name }):
		return invalid(at, "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", "The referenced attachment was not found: %q", name)
	}
	return nil
}

// componentCheck walks the components of one message or modal.
type componentCheck struct {
	s       *Server
	message *message // nil for modals
	v2      bool
	ids     map[string]bool
	numbers map[int]bool
	count   int
	texts   int
	shown   []string
}

// all checks the components of a message.
func (c *componentCheck) all() *apiError {
	if !c.v2 && len(c.message.components) > 5 {
		return invalid("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	for i, v := range c.message.components {
		o, _ := v.(map[string]any)
		at := "components/" + strconv.Itoa(i)
		if kind := number(o["type"]); kind != typeRow && !c.v2 {
			return invalid(at+"/type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
		}
		if refused := c.component(at, o); refused != nil {
			return refused
		}
	}
	switch {
	case c.count > maxComponents:
		return invalid("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The total number of components cannot exceed 40")
	case c.texts > maxTextTotal:
		return invalid("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", "The total displayable text size exceeds the maximum size of 4000")
	}
	return nil
}

// The component types.
const (
	typeRow        = 1
	typeButton     = 2
	typeSelect     = 3
	typeInput      = 4
	typeSection    = 9
	typeText       = 10
	typeThumbnail  = 11
	typeGallery    = 12
	typeFile       = 13
	typeSeparator  = 14
	typeContainer  = 17
	typeLabel      = 18
	typeUpload     = 19
	typeRadios     = 21
	typeCheckboxes = 22
)

// component checks one component and those in it.
func (c *componentCheck) component(at string, o map[string]any) *apiError {
	c.count++
	for _, rule := range []func(string, map[string]any) *apiError{c.identity, c.row, c.button, c.choices, c.media} {
		if refused := rule(at, o); refused != nil {
			return refused
		}
	}
	if number(o["type"]) == typeText {
		c.texts += units(text(o["content"]))
	}
	children, _ := o["components"].([]any)
	for i, child := range children {
		inner, _ := child.(map[string]any)
		if refused := c.component(fmt.Sprintf("%s/components/%d", at, i), inner); refused != nil {
			return refused
		}
	}
	for _, single := range []string{"accessory", "component"} {
		if inner, ok := o[single].(map[string]any); ok {
			if refused := c.component(at+"/"+single, inner); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// identity checks that no id comes twice.
func (c *componentCheck) identity(at string, o map[string]any) *apiError {
	if id := text(o["custom_id"]); id != "" {
		if c.ids[id] {
			return invalid(at+"/custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
		}
		c.ids[id] = true
	}
	if n := number(o["id"]); n != 0 {
		if c.numbers[n] {
			return invalid(at+"/id", "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
		}
		c.numbers[n] = true
	}
	return nil
}

// row checks that a row holds buttons, at most five, or a single other thing.
func (c *componentCheck) row(at string, o map[string]any) *apiError {
	if number(o["type"]) != typeRow {
		return nil
	}
	children, _ := o["components"].([]any)
	width := 0
	for _, child := range children {
		inner, _ := child.(map[string]any)
		if number(inner["type"]) == typeButton {
			width++
		} else {
			width += 5
		}
	}
	if width > 5 {
		return invalid(at, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
	}
	return nil
}

// button checks which of custom_id, url and sku_id a style takes.
func (c *componentCheck) button(at string, o map[string]any) *apiError {
	if number(o["type"]) != typeButton {
		return nil
	}
	style, id, url, sku := number(o["style"]), text(o["custom_id"]), text(o["url"]), text(o["sku_id"])
	named := text(o["label"]) != "" || o["emoji"] != nil
	switch {
	case style == 5 && url == "":
		return invalid(at+"/url", "BASE_TYPE_REQUIRED", "A url is required")
	case style == 5 && (id != "" || sku != ""):
		return invalid(at+"/custom_id", "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
	case style == 5 && !slices.ContainsFunc([]string{"http://", "https://", "discord://"}, func(p string) bool { return hasPrefix(url, p) }):
		return invalid(at+"/url", "URL_TYPE_INVALID_SCHEME", "Scheme must be one of ('http', 'https', 'discord'), got %q", url)
	case style == 6 && sku == "":
		return invalid(at+"/sku_id", "BASE_TYPE_REQUIRED", "A sku id is required")
	case style == 6 && (id != "" || url != "" || named):
		return invalid(at, "BUTTON_PREMIUM_FIELDS", "A premium button takes nothing but its sku id")
	case style == 6 && c.s.store.skus[sku] == 0:
		return invalid(at+"/sku_id", "BUTTON_COMPONENT_INVALID_SKU", "%s is no SKU of this application", sku)
	case style < 5 && id == "":
		return invalid(at+"/custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
	case style < 5 && (url != "" || sku != ""):
		return invalid(at+"/url", "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
	case style != 6 && !named:
		return invalid(at+"/label", "BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL", "A button needs a label or an emoji")
	}
	return nil
}

// choices checks selects, radio groups and checkbox groups: counts, defaults and unique values.
func (c *componentCheck) choices(at string, o map[string]any) *apiError {
	options, ok := o["options"].([]any)
	if !ok {
		return nil
	}
	lowest, most := bound(o, "min_values", 1), bound(o, "max_values", 1)
	seen, chosen := map[string]bool{}, 0
	for i, v := range options {
		option, _ := v.(map[string]any)
		value := text(option["value"])
		if seen[value] {
			return invalid(fmt.Sprintf("%s/options/%d/value", at, i), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
		}
		seen[value] = true
		if option["default"] == true {
			chosen++
		}
	}
	switch {
	case lowest > most:
		return invalid(at+"/min_values", "SELECT_MIN_OVER_MAX", "min_values %d is over max_values %d", lowest, most)
	case number(o["type"]) != typeRadios && bound(o, "max_values", 1) > len(options):
		return invalid(at+"/max_values", "SELECT_COMPONENT_MAX_VALUES", "max_values %d is over the number of options %d", most, len(options))
	case chosen > most:
		return invalid(at+"/options", "SELECT_COMPONENT_DEFAULTS", "%d options are chosen beforehand, at most %d can be", chosen, most)
	case c.message == nil && o["required"] != false && o["min_values"] != nil && lowest == 0:
		return invalid(at+"/min_values", "NUMBER_TYPE_MIN", "A required component needs min_values of at least 1")
	case c.message != nil && o["required"] != nil:
		return invalid(at+"/required", "SELECT_REQUIRED_IN_MESSAGE", "required can be set in modals only")
	}
	return nil
}

func bound(o map[string]any, name string, otherwise int) int {
	if o[name] == nil {
		return otherwise
	}
	return number(o[name])
}

// media checks the files that galleries, thumbnails and file components show.
func (c *componentCheck) media(at string, o map[string]any) *apiError {
	if c.message == nil {
		return nil
	}
	references := map[string]any{at + "/file/url": o["file"], at + "/media/url": o["media"]}
	items, _ := o["items"].([]any)
	for i, v := range items {
		item, _ := v.(map[string]any)
		references[fmt.Sprintf("%s/items/%d/media/url", at, i)] = item["media"]
	}
	for where, v := range references {
		ref, _ := v.(map[string]any)
		url := text(ref["url"])
		if refused := checkReference(where, url, c.message.attachments, nil); refused != nil {
			return refused
		}
		if name, own := strings.CutPrefix(url, "attachment://"); own {
			c.shown = append(c.shown, name)
		}
	}
	return nil
}

// reportUnshown reports uploads that no component shows: nobody would see them.
func (c *componentCheck) reportUnshown(req *request) {
	for _, a := range c.message.attachments {
		if !slices.Contains(c.shown, a.name) {
			c.s.violation("%s %s: the attachment %q is shown by no component", req.method, req.route, a.name)
		}
	}
}

// completed is a copy of components as the service keeps them: every one has an id, and what was left out
// has its usual value.
func completed(components []any) []any {
	components, _ = copied(components).([]any)
	used := map[int]bool{}
	walk(components, func(o map[string]any) { used[number(o["id"])] = true })
	next := 1
	walk(components, func(o map[string]any) {
		if number(o["id"]) == 0 {
			for used[next] {
				next++
			}
			used[next] = true
			o["id"] = next
		}
		for name, value := range usual(number(o["type"])) {
			if o[name] == nil {
				o[name] = value
			}
		}
	})
	return components
}

// usual are the values that the service fills in.
func usual(kind int) map[string]any {
	switch kind {
	case typeSelect, 5, 6, 7, 8:
		return map[string]any{"min_values": 1, "max_values": 1}
	case typeContainer:
		return map[string]any{"accent_color": nil, "spoiler": false}
	case typeSeparator:
		return map[string]any{"spacing": 1, "divider": true}
	case typeFile, typeThumbnail:
		return map[string]any{"spoiler": false}
	}
	return nil
}

// copied is a deep copy of a decoded value.
func copied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = copied(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = copied(inner)
		}
		return out
	}
	return v
}

// walk visits all components, outer before inner.
func walk(components []any, visit func(map[string]any)) {
	for _, v := range components {
		o, ok := v.(map[string]any)
		if !ok {
			continue
		}
		visit(o)
		if inner, ok := o["components"].([]any); ok {
			walk(inner, visit)
		}
		walk([]any{o["accessory"], o["component"]}, visit)
	}
}
