package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
	"github.com/signalbox/signalbox/webhooks"
)

//go:embed templates/*.html
var templateFiles embed.FS

// view is what every page gets; pages read the members they need.
type view struct {
	Title     string
	Place     string // which entry of the navigation this is: tools, history, account
	Lang      string
	Scripts   []string
	Problem   string
	Done      string        // what the last press of a button did
	CSRF      template.HTML // the hidden field that every form carries
	CSRFToken string
	SignedIn  bool
	Local     bool
	Name      string
	Balance   *billing.Balance
	Operator  bool
	Console   string // where operators work

	Talks bool // there is a conversation
	Chat  template.HTML
	// ChatTools are those that have a form in the conversation.
	ChatTools []*registry.Tool

	Signin  *signinView
	Home    *homeView
	Form    *formPage
	Run     *runPage
	History *historyPage
	Account *accountPage
	Hooks   *hooksView
	Hook    *hookView
	Shared  *sharePage
	Tools   []registry.Tool
	Base    string // address of the API
}

// parsePages parses the templates once for each language, so that a page says {{t "web.key"}} and no more.
func (s *Server) parsePages() (map[string]*template.Template, error) {
	pages := map[string]*template.Template{}
	for _, lang := range s.texts.Languages() {
		parsed, err := template.New("").Funcs(s.functions(s.texts.Voice(lang))).ParseFS(templateFiles, "templates/*.html")
		if err != nil {
			return nil, err
		}
		pages[lang] = parsed
	}
	return pages, nil
}

// functions are what templates can call, in one language.
func (s *Server) functions(v i18n.Voice) template.FuncMap {
	return template.FuncMap{
		"told":    toldIn(v),
		"t":       func(key any, pairs ...any) string { return v.Line(fmt.Sprint(key), pairs...) },
		"price":   func(t registry.Tool) string { return priceOf(v, t) },
		"usd":     func(n billing.NanoUSD) string { return v.Value(n) },
		"about":   about,
		"short":   func(n billing.NanoUSD) billing.NanoUSD { return digits(n, false) },
		"accept":  acceptOf,
		"answer":  answerOf,
		"host":    hostOf,
		"follows": followUpLinks,
		"asset":   s.bundle.Address,
		"icon":    s.icon,
		"emblem":  emblem,
		"date":    func(t time.Time) template.HTML { return dateOf(v, t) },
		"day":     func(t time.Time) string { return v.Time(t.UTC()) },
		"paragraphs": func(text string) []string {
			return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
		},
		"browser": browserName,
		"paused":  func(e webhooks.Endpoint) bool { return e.DisabledReason == webhooks.DisabledByOwner },
		"purpose": purpose,
		"platform": func(name string) string {
			if key := "web.platform." + name; v.Has(key) {
				return v.Line(key)
			}
			return name
		},
		"category": func(name string) string { return words.CategoryName(v, name) },
		"kind":     func(name any) string { return v.Line(fmt.Sprintf("web.kind.%s", name)) },
	}
}

// icon draws a symbol of static/icons.svg. It is always beside a word, so it says nothing to screen readers.
func (s *Server) icon(name any) template.HTML {
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="` + s.bundle.Address("icons.svg") + `#` + template.HTMLEscapeString(fmt.Sprint(name)) + `"/></svg>`)
}

// dateOf writes a moment in the page's language, in UTC; the script rewrites it in the reader's zone.
func dateOf(v i18n.Voice, t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339) + `">` + template.HTMLEscapeString(v.Time(t)) + `</time>`)
}

// browserName makes of what a browser says about itself a name that people know it by.
func browserName(agent string) string {
	for _, known := range [...][2]string{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(agent, known[0]) {
			return known[1] + systemName(agent)
		}
	}
	return cmp.Or(agent, "?")
}

// systemName is the system that a browser says it runs on, in brackets.
func systemName(agent string) string {
	for _, known := range [...][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, known[0]) {
			return " (" + known[1] + ")"
		}
	}
	return ""
}

// purpose is the first paragraph of a description: what a tool is for.
func purpose(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	return first
}

// page lets those in who may come, and shows others the way to sign in; for who is no operator there is nothing where only
// operators may be.
func (s *Server) page(use Use, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		visitOf(r.Context()).page = true
		a, err := s.admit(w, r, use)
		switch {
		case errors.Is(err, errSignedOut):
			s.toSignin(w, r)
			return
		case errors.Is(err, errNoOperator):
			s.notFound(w, r)
			return
		case err == nil:
			err = h(w, r, a)
		}
		if err != nil {
			s.failPage(w, r, err)
		}
	}
}

func (s *Server) failPage(w http.ResponseWriter, r *http.Request, err error) {
	p := explain(err)
	p.setRetryAfter(w.Header())
	if p.ours() {
		s.cfg.Logger.Error("page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	voice := s.texts.Voice(r.Header.Get("Accept-Language"))
	if a, known := Caller(r.Context()); known {
		voice = s.voice(r, a)
	}
	s.render(w, r, p.Status, "problem", view{Title: problemTitle(voice, p.Status), Problem: detailIn(voice, err, p)})
}

// voice is the language of a page: what the account chose, else what the browser asks for.
func (s *Server) voice(r *http.Request, a users.Account) i18n.Voice {
	return s.texts.Voice(a.Language, r.Header.Get("Accept-Language"))
}

// show renders a page for a known account; its session may not be in a cookie yet.
func (s *Server) show(w http.ResponseWriter, r *http.Request, a users.Account, name string, v view) error {
	return s.showAs(w, r, a, http.StatusOK, name, v)
}

// showAs is show with another status, for forms that come back with a problem.
func (s *Server) showAs(w http.ResponseWriter, r *http.Request, a users.Account, status int, name string, v view) error {
	b, err := s.cfg.Ledger.Balance(r.Context(), a.ID)
	if err != nil {
		return err
	}
	v.Balance, v.SignedIn, v.Name, v.Operator, v.Console = &b, true, a.DisplayName, a.Operator, s.console()
	v.Talks = s.cfg.Conversation != nil
	s.write(w, r, s.voice(r, a), status, name, v)
	return nil
}

// console is where operators work: what is mounted for them, "" for nothing.
func (s *Server) console() string {
	for _, m := range s.cfg.Mounts {
		if m.Use == OperatorRead && m.Page {
			return strings.TrimPrefix(m.Path, "GET ")
		}
	}
	return ""
}

// render writes a page for whoever is asking, signed in or not.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	if a, err := s.account(r); err == nil && s.showAs(w, r, a, status, name, v) == nil {
		return
	}
	s.write(w, r, s.voice(r, users.Account{}), status, name, v)
}

// write writes a page, or nothing but an error when the template fails: never half a page.
func (s *Server) write(w http.ResponseWriter, r *http.Request, voice i18n.Voice, status int, name string, v view) {
	if key := "web.done." + r.URL.Query().Get("done"); r.Method == http.MethodGet && voice.Has(key) {
		v.Done = voice.Line(key)
	}
	v.Lang, v.Local = voice.Language(), s.cfg.Public == nil
	v.CSRF, v.CSRFToken = CSRFInput(r.Context()), CSRFToken(r.Context())
	var page bytes.Buffer
	if err := s.pages[v.Lang].ExecuteTemplate(&page, name+".html", v); err != nil {
		s.cfg.Logger.Error("template failed", "template", name, "error", err)
		http.Error(w, "This page is broken on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", v.Lang)
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Encoding, Accept-Language")
	body := page.Bytes()
	if bundle.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = bundle.Zipped(body, gzip.DefaultCompression)
	}
	w.WriteHeader(status)
	w.Write(body)
}

func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

func audience(a users.Account) registry.Audience {
	if a.Operator {
		return registry.Insiders
	}
	return registry.Everyone
}

// listed are the tools that this account's lists show.
func (s *Server) listed(a users.Account) []registry.Tool {
	return deref(s.cfg.Registry.Snapshot().Listed(audience(a)))
}

// deref copies the headers of tools that are only read: pages and answers do not modify them.
func deref(shared []*registry.Tool) []registry.Tool {
	tools := make([]registry.Tool, len(shared))
	for i, t := range shared {
		tools[i] = *t
	}
	return tools
}

// plain is a JSON value as a person would type it.
func plain(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return fmt.Sprint(x)
	}
	data, err := json.Marshal(x)
	if err != nil {
		return ""
	}
	return string(data)
}

func (s *Server) prices(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.show(w, r, a, "prices", view{Title: s.voice(r, a).Line("web.prices"), Tools: s.listed(a)})
}

// developers explains the API and offers a key for it.
func (s *Server) developers(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.show(w, r, a, "developers", view{Title: "API", Base: s.absolute(r, "")})
}

// about is an amount cut to a hundredth of a cent, for places where the exact one would be noise. It never
// shows more than there is.
func about(n billing.NanoUSD) string {
	const step = billing.Dollar / 10_000
	return (n / step * step).String()
}

// priceOf says what a tool costs by its costing model.
func priceOf(v i18n.Voice, t registry.Tool) string {
	m := t.CostingModel
	if m == nil {
		return v.Line("web.price.free")
	}
	text := rateOf(v, *m)
	if m.MinimumUSD != "" {
		text += ", " + v.Line("web.price.least", "amount", "$"+registry.PlainDecimal(m.MinimumUSD))
	}
	return text
}

// rateOf says what a unit costs, or who says so.
func rateOf(v i18n.Voice, m registry.CostingModel) string {
	if m.RateSource == registry.RateAPI {
		return v.Line("web.price.provider")
	}
	text := v.Line("web.price.per."+string(m.Unit), "rate", "$"+registry.PlainDecimal(m.Rate))
	if m.RateSource == registry.RateMachine {
		return v.Line("web.price.machine", "rate", text)
	}
	return text
}

// digits cuts an amount to two significant digits, upwards where it is a promise.
func digits(n billing.NanoUSD, up bool) billing.NanoUSD {
	step := billing.NanoUSD(1)
	for n/step >= 100 {
		step *= 10
	}
	if up {
		n += step - 1
	}
	return n / step * step
}

// priceText says what one run will cost.
func priceText(q billing.Quote) string {
	switch {
	case q.High == 0:
		return "free"
	case q.Low == q.High:
		return q.High.String()
	}
	return fmt.Sprintf("%s to %s", q.Low, q.High)
}

// acceptOf is the accept attribute of a file field.
func acceptOf(t registry.InputType) string {
	if t == registry.TypeFile {
		return ""
	}
	return string(t) + "/*"
}
