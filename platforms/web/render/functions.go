package render

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/words"
)

// functions are what all templates can call, in one language.
func functions(v i18n.Voice, b bundle.Bundle) template.FuncMap {
	return template.FuncMap{
		"told":     toldIn(v),
		"t":        func(key any, pairs ...any) string { return v.Line(fmt.Sprint(key), pairs...) },
		"usd":      func(n billing.NanoUSD) string { return v.Amount(n) },
		"credit":   func(n billing.NanoUSD) string { return v.AtLeast(n) },
		"exact":    func(n billing.NanoUSD) string { return v.Exact(n) },
		"dollars":  v.Dollars,
		"decimal":  v.Number,
		"asset":    b.Address,
		"icon":     func(name any) template.HTML { return icon(b, name) },
		"date":     func(t time.Time) template.HTML { return dateOf(v, t) },
		"day":      func(t time.Time) string { return v.Time(t.UTC()) },
		"platform": func(name string) string { return lineOr(v, "web.platform."+name, name) },
		"category": categoryIn(v),
		"kind":     func(name any) string { return v.Line(fmt.Sprintf("web.kind.%s", name)) },
		"purpose":  Purpose,
		"stages": func() (string, error) {
			all, err := json.Marshal(words.Stages(v))
			return string(all), err
		},
		"paragraphs": func(text string) []string {
			return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		},
	}
}

// icon draws a symbol of static/icons.svg. It is always beside a word, so it says nothing to screen readers.
func icon(b bundle.Bundle, name any) template.HTML {
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + b.Address("icons.svg") + `#` + template.HTMLEscapeString(fmt.Sprint(name)) + `"/></svg>`)
}

// dateOf writes a moment in the page's language, in UTC; the script rewrites it in the reader's zone.
func dateOf(v i18n.Voice, t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + template.HTMLEscapeString(v.Time(t)) + `</time>`)
}

// Purpose is the first paragraph of a description: what a tool is for.
func Purpose(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	return first
}
