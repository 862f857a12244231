package webchat

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/pages"
)

//go:embed templates/*.html
var templateFiles embed.FS

// parsedPages gives the templates by language, each parsed when somebody first reads it.
func (a *Adapter) parsedPages() map[string]func() (*template.Template, error) {
	pages := map[string]func() (*template.Template, error){}
	for _, language := range a.texts.Languages() {
		pages[language] = sync.OnceValues(func() (*template.Template, error) {
			voice := a.texts.Voice(language)
			return template.New("").Funcs(template.FuncMap{
				"t":      func(key string, pairs ...any) string { return voice.Line(key, pairs...) },
				"file":   func(m media) string { return a.cfg.FilePath(m.Owner, m.Ref, m.Name) },
				"thumb":  func(m media) string { return a.cfg.ThumbPath(m.Owner, m.Ref) },
				"size":   size,
				"moment": func(t time.Time) template.HTML { return moment(voice, t) },
				"menu":   menuOf,
			}).ParseFS(templateFiles, "templates/*.html")
		})
	}
	return pages
}

// moment writes a time of the day; the script rewrites it in the reader's zone.
func moment(v i18n.Voice, t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + template.HTMLEscapeString(v.Time(t)) + `</time>`)
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// line is a message as templates draw it.
type line struct {
	message
	CSRF  template.HTML
	Nonce string
	Text  template.HTML
	Quote string
	Uses  []entry
}

// entry is one of the menu that messages have.
type entry struct {
	Name, Use string
}

const maxQuote = 90 // characters of a message that is replied to

func (v *visit) line(m message) line {
	l := line{message: m, CSRF: web.CSRFInput(v.r.Context()), Nonce: newNonce(), Text: markup(m.Body.Text)}
	if m.Quoted != nil {
		l.Quote = short(m.Quoted.Text.String(), maxQuote)
		if l.Quote == "" {
			l.Quote = v.voice.Line("webchat.file")
		}
	}
	for i := range m.Media {
		m.Media[i].Owner = v.chat
	}
	if len(m.Media) > 0 {
		l.Uses = v.uses()
	}
	return l
}

func short(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// uses are the commands that messages with files offer, in the reader's language.
func (v *visit) uses() []entry {
	var entries []entry
	for _, c := range *v.commands.Load() {
		if c.OnMessages {
			e := entry{c.Name, c.Use}
			if say := c.Localized[v.voice.Language()]; say != nil {
				e.Name = cmp.Or(say().Name, e.Name)
			}
			entries = append(entries, e)
		}
	}
	return entries
}

// Left is what stays of an album's files.
func (l line) Left() []media {
	var left []media
	for _, m := range l.Media {
		if !m.Gone {
			left = append(left, m)
		}
	}
	return left
}

// tags are the elements of the styles.
var tags = map[chat.Style]string{
	chat.StyleBold: "strong", chat.StyleItalic: "em", chat.StyleCode: "code", chat.StylePre: "pre", chat.StyleQuote: "blockquote",
	chat.StyleGone: "del", chat.StyleNew: "ins",
}

// menu is a list to choose from as templates draw it.
type menu struct {
	chat.Menu
	Message int64
	CSRF    template.HTML
	Nonce   string
	Several bool // more than one may be chosen
	Preset  bool // one is chosen already
}

func menuOf(l line, m chat.Menu) menu {
	drawn := menu{Menu: m, Message: l.ID, CSRF: l.CSRF, Nonce: newNonce(), Several: m.Max > 1 || m.Max == 1 && m.Min == 0}
	for _, o := range m.Options {
		drawn.Preset = drawn.Preset || o.Chosen
	}
	return drawn
}

// address is one in a text, without the punctuation behind it.
var address = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>"'.,;:!?)\]。，、）]`)

// linked draws a text in which addresses lead there, as the apps of other platforms do.
func linked(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		b.WriteString(template.HTMLEscapeString(text[last:at[0]]))
		there := template.HTMLEscapeString(text[at[0]:at[1]])
		fmt.Fprintf(&b, `<a href="%s" rel="noopener">%[1]s</a>`, there)
		last = at[1]
	}
	b.WriteString(template.HTMLEscapeString(text[last:]))
	return b.String()
}

// markup draws a text with its styles.
func markup(t chat.Text) template.HTML {
	var b strings.Builder
	for _, s := range t {
		text, tag := template.HTMLEscapeString(s.Text), tags[s.Style]
		switch {
		case s.Style == chat.StyleLink && (strings.HasPrefix(s.URL, "https://") || strings.HasPrefix(s.URL, "http://")):
			fmt.Fprintf(&b, `<a href="%s" rel="noopener">%s</a>`, template.HTMLEscapeString(s.URL), text)
		case s.Style == chat.StyleTime:
			fmt.Fprintf(&b, `<time datetime="%s">%s</time>`, s.At.UTC().Format(time.RFC3339), text)
		case tag != "":
			fmt.Fprintf(&b, "<%s>%s</%s>", tag, text, tag)
		case s.Style == chat.StylePlain:
			b.WriteString(linked(s.Text))
		default:
			b.WriteString(text)
		}
	}
	return template.HTML(b.String())
}

// draw draws a template in the reader's language.
func (v *visit) draw(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	templates, err := v.pages[v.voice.Language()]()
	if err == nil {
		err = templates.ExecuteTemplate(&b, name, data)
	}
	return template.HTML(b.String()), wrap(err, "draw "+name)
}

// room is the page of the conversation.
type room struct {
	Lines    []line
	After    int64
	Said     string // the answer to a press
	Paused   bool
	Reply    *line
	Typed    string
	Commands []command
	CSRF     template.HTML
	Nonce    string
}

// command is one that the composer offers.
type command struct {
	Name, Description string
	Tool              string // the id of the tool that it starts; empty: it is one of the house
}

// form is where the command can be filled in instead of typed; empty: nowhere.
func (c command) form() string {
	if c.Tool == "" {
		return ""
	}
	return pages.ChatPath + "/use/" + url.PathEscape(c.Tool)
}

// conversation is the page.
func (v *visit) conversation() (template.HTML, error) { return v.page("") }

// page draws the conversation, with the answer to a press where the script could not show it.
func (v *visit) page(said string) (template.HTML, error) {
	messages, after, err := v.log.page(v.r.Context(), v.chat)
	if err != nil {
		return "", err
	}
	p := room{After: after, Said: said, CSRF: web.CSRFInput(v.r.Context()), Nonce: newNonce(), Typed: short(v.r.URL.Query().Get("text"), maxSaid)}
	for _, m := range messages {
		p.Lines = append(p.Lines, v.line(m))
		if v.r.Method == http.MethodGet && v.r.URL.Query().Get("reply") == fmt.Sprint(m.ID) {
			p.Reply = &p.Lines[len(p.Lines)-1]
		}
	}
	if len(messages) == 0 {
		p.Commands = v.listed("", 6)
	}
	if p.Paused, err = v.log.paused(v.r.Context(), v.chat); err != nil {
		return "", err
	}
	return v.draw("room", p)
}

// dialog is what a press opened.
type dialog struct {
	chat.Form
	Message int64
	CSRF    template.HTML
	Nonce   string
}

func (v *visit) dialogOf(form chat.Form, messageID int64) dialog {
	return dialog{form, messageID, web.CSRFInput(v.r.Context()), newNonce()}
}

// dialog draws a dialog for the script to open; nothing where there is none.
func (v *visit) dialog(form *chat.Form, messageID int64) template.HTML {
	if form == nil {
		return ""
	}
	drawn, err := v.draw("dialog", v.dialogOf(*form, messageID))
	if err != nil {
		v.cfg.Logger.ErrorContext(v.r.Context(), "a dialog is not shown", "error", err)
	}
	return drawn
}

// formPage is a dialog as a page of its own.
func (v *visit) formPage(form chat.Form, messageID int64) (template.HTML, error) {
	return v.draw("formpage", v.dialogOf(form, messageID))
}
