package content

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/providers/content/store"
)

// field is a value as people read it, under the name of the input that changes it; what stands in an object or a list is a field of its
// own, such as content.body. What is not there is the empty text.
type field struct{ name, value string }

func entryFields(e store.Entry) []field {
	list := []field{
		{"title", e.Title}, {"slug", e.Slug}, {"status", e.Status}, {"publishAt", momentOf(e.PublishAt)}, {"category", e.Category},
		{"author", e.Author}, {"excerpt", e.Excerpt}, {"featuredImage", textOf(e.FeaturedImage)},
	}
	return append(list, fieldsOf("content", e.Content)...)
}

func pageFields(p store.Page) []field {
	list := []field{
		{"name", p.Name}, {"slug", p.Slug}, {"parentId", textOf(p.ParentID)}, {"isProtected", strconv.FormatBool(p.Protected)}, {"indexing", strconv.FormatBool(p.Indexing)},
	}
	list = append(list, fieldsOf("meta", p.Meta)...)
	for i, s := range p.Sections {
		list = append(list, field{fmt.Sprintf("status.%d.%s", i+1, s.Template), s.Status})
	}
	return list
}

func sectionFields(s store.Section) []field {
	list := []field{{"status", s.Status}, {"hidden", strconv.FormatBool(s.Hidden)}, {"sortOrder", strconv.Itoa(s.SortOrder)}}
	return append(list, fieldsOf("content", s.Content)...)
}

func navItemFields(n store.NavItem) []field {
	return []field{
		{"label", n.Label}, {"targetType", n.TargetType}, {"targetId", textOf(n.TargetID)}, {"url", textOf(n.URL)}, {"parentId", textOf(n.ParentID)},
		{"sortOrder", strconv.Itoa(n.SortOrder)}, {"visible", strconv.FormatBool(n.Visible)},
	}
}

func imageFields(i store.Image) []field {
	return []field{{"description", i.Description}, {"tags", strings.Join(i.Tags, ", ")}, {"categories", strings.Join(i.Categories, ", ")}}
}

func translationFields(t store.Translation) []field {
	list := []field{{"title", t.Title}, {"excerpt", t.About}, {"status", t.Status}, {"publishAt", momentOf(t.PublishAt)}}
	if t.PageID != nil {
		list[0].name, list[1].name = "name", "meta.description"
	}
	return append(list, fieldsOf("content", t.Content)...)
}

// fieldsOf are the values in an object or a list, by their paths. A list of plain values is one.
func fieldsOf(path string, value any) (list []field) {
	switch v := value.(type) {
	case nil:
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, fieldsOf(path+"."+name, v[name])...)
		}
	case []any:
		if plain, is := plainList(v); is {
			return []field{{path, plain}}
		}
		for i, item := range v {
			list = append(list, fieldsOf(path+"."+strconv.Itoa(i+1), item)...)
		}
	default:
		list = []field{{path, plainValue(v)}}
	}
	return list
}

func plainList(values []any) (string, bool) {
	texts := make([]string, len(values))
	for i, value := range values {
		switch value.(type) {
		case map[string]any, []any:
			return "", false
		}
		texts[i] = plainValue(value)
	}
	return strings.Join(texts, ", "), true
}

// plainValue writes a number as calls do.
func plainValue(value any) string {
	if n, is := value.(float64); is {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func momentOf(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
