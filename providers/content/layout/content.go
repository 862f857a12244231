package layout

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"
)

// maxItems bounds the items of a list.
const maxItems = 200

// FieldError refuses a value of a section.
type FieldError struct{ Field, Message string }

// Error names the field.
func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// Check judges content by a template's fields and gives it with images as ids. A field may be null, which takes its value away. What
// does not fit is a *FieldError.
func (t Template) Check(content map[string]any) (map[string]any, error) {
	return checkContent(t.Fields, content, "", "the template "+t.Key)
}

func checkContent(fields []Field, content map[string]any, at, owner string) (map[string]any, error) {
	checked := make(map[string]any, len(content))
	for name, value := range content {
		f, known := fieldOf(fields, name)
		if !known {
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
			}
			return nil, &FieldError{at + name, fmt.Sprintf("%s has no such field; it has %s", owner, strings.Join(names, ", "))}
		}
		var err error
		if checked[name], err = f.check(value, at+name); err != nil {
			return nil, err
		}
	}
	return checked, nil
}

// imageForms are how an image is named: by its id, or by its address here, which has the same hash in it.
var imageForms = regexp.MustCompile(`^(?:asset:|/(?:uploads|files)/[0-9a-f]+/)([0-9a-f]{64})(?:/[^/]*)?$`)

// ImageID gives the id of an image that is named by its id or by its address here; ok is false for anything else.
func ImageID(value string) (id string, ok bool) {
	found := imageForms.FindStringSubmatch(value)
	if found == nil {
		return "", false
	}
	return "asset:" + found[1], true
}

func (f Field) check(value any, at string) (any, error) {
	fail := func(expected string) (any, error) { return nil, &FieldError{at, "expected " + expected} }
	if value == nil {
		return nil, nil
	}
	text, isText := value.(string)
	switch f.Type {
	case Boolean:
		if _, ok := value.(bool); !ok {
			return fail("true or false")
		}
	case Number:
		switch value.(type) {
		case json.Number, float64, int:
		default:
			return fail("a number")
		}
	case List:
		return f.checkList(value, at)
	case Image:
		id, ok := ImageID(text)
		if text != "" && !ok {
			return fail("the id of an image, as getImage and createImage give it, or its /uploads/ address")
		}
		return id, nil
	case URL:
		if !isText || !SafeURL(text) {
			return fail("an address that begins with https://, http://, mailto: or tel:, or a path of this site such as /site/about")
		}
	default:
		if !isText {
			return fail("a text")
		}
	}
	return value, nil
}

func (f Field) checkList(value any, at string) (any, error) {
	items, ok := value.([]any)
	if !ok || len(items) > maxItems {
		return nil, &FieldError{at, fmt.Sprintf("expected a list of at most %d objects", maxItems)}
	}
	checked := make([]any, len(items))
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, &FieldError{fmt.Sprintf("%s[%d]", at, i), "expected an object"}
		}
		var err error
		if checked[i], err = checkContent(f.Fields, object, fmt.Sprintf("%s[%d].", at, i), "an item of "+f.Name); err != nil {
			return nil, err
		}
	}
	return checked, nil
}

// SafeURL reports whether an address may stand in a link: nothing that runs.
func SafeURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, "\\\n\r\t") {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto", "tel":
		return u.Opaque != ""
	case "":
		return u.Host == "" && (address == "" || strings.HasPrefix(address, "/") || strings.HasPrefix(address, "#"))
	}
	return false
}

// Picture is an image as a page shows it.
type Picture struct {
	Src, Srcset   string
	Width, Height int // of the original; 0: not known
	Alt           string
	Credit        template.HTML // must be shown with it; empty: none
}

// Teaser is an entry as lists show it.
type Teaser struct {
	Title, URL, Excerpt, Date, Category string
	Picture                             *Picture
}

// Maker makes what templates show of values.
type Maker interface {
	Markdown(source string) template.HTML
	Picture(id string) *Picture // nil: there is none
	Entries(collection string) []Teaser
}

// Render makes the HTML of a section.
func (t Template) Render(content map[string]any, m Maker) (template.HTML, error) {
	var out strings.Builder
	if err := t.body.Execute(&out, valuesOf(t.Fields, content, m)); err != nil {
		return "", fmt.Errorf("render a section of %s: %w", t.Key, err)
	}
	return template.HTML(out.String()), nil
}

// valuesOf gives each field what the template shows: its value, or its default.
func valuesOf(fields []Field, content map[string]any, m Maker) map[string]any {
	values := map[string]any{}
	for _, f := range fields {
		value, given := content[f.Name]
		if !given || value == nil {
			value = f.Default
		}
		text, _ := value.(string)
		switch f.Type {
		case Markdown:
			values[f.Name] = m.Markdown(text)
		case Image:
			if picture := m.Picture(text); text != "" && picture != nil {
				values[f.Name] = picture
			}
		case Entries:
			values[f.Name] = m.Entries(text)
		case List:
			items, _ := value.([]any)
			var list []map[string]any
			for _, item := range items {
				object, _ := item.(map[string]any)
				list = append(list, valuesOf(f.Fields, object, m))
			}
			values[f.Name] = list
		default:
			values[f.Name] = value
		}
	}
	return values
}
