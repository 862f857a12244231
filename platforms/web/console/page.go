package console

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/history"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

//go:embed templates/*.html
var templateFiles embed.FS

// view is what every page gets. Data is the page's own.
type view struct {
	Title  string
	Place  string // the entry of the navigation that the page belongs to
	Who    users.Account
	Notice string // what the last action did
	CSV    string // where its table is to be had as CSV; empty: nowhere
	Live   bool   // the page is worth asking for again and again
	Nav    []place
	Now    time.Time
	CSRF   template.HTML
	Data   any
}

// place is an entry of the navigation.
type place struct {
	Path, Title string
}

func (c *Console) places() []place {
	nav := []place{{"", "Overview"}, {"runs", "Runs"}, {"errors", "Errors"}, {"plots", "Plots"}, {"tools", "Tools"}, {"changes", "Changes"},
		{"engines", "Engines"}, {"ledger", "Ledger"}, {"people", "People"}, {"access", "Access"}}
	if c.cfg.Invitations != nil {
		nav = append(nav, place{"invitations", "Invitations"})
	}
	if c.cfg.Settings != nil {
		nav = append(nav, place{"settings", "Settings"})
	}
	for _, s := range c.cfg.Sections {
		nav = append(nav, place{s.Path, s.Title})
	}
	return append(nav, place{"audit", "Audit"})
}

func (c *Console) parsePages() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"asset":    c.bundle.Address,
		"usd":      func(n billing.NanoUSD) string { return n.String() },
		"about":    about,
		"ago":      func(t time.Time) string { return ago(c.cfg.Now().Sub(t)) },
		"stamp":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"short":    short,
		"took":     took,
		"words":    func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), "_", " ") },
		"price":    func(t *registry.Tool) string { return t.CostingModel.Summary() },
		"failures": failureShare,
		"dollars":  func(n billing.NanoUSD) string { return strings.TrimPrefix(n.String(), "$") },
		"bytes":    size,
		"group":    group,
		"limit":    func(n int) string { return limited(countText(n)) },
		"cap":      func(n int64) string { return limited(capText(n)) },
		"plural64": func(n int64, one, many string) string {
			if n == 1 {
				return "1 " + one
			}
			return fmt.Sprintf("%d %s", n, many)
		},
		"plural": func(n int, one, many string) string {
			if n == 1 {
				return "1 " + one
			}
			return fmt.Sprintf("%d %s", n, many)
		},
	}).ParseFS(templateFiles, "templates/*.html")
}

type pageHandler func(w http.ResponseWriter, r *http.Request, who users.Account) error

func (c *Console) page(h pageHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, _ := c.cfg.Caller(r.Context())
		err := fmt.Errorf("%w: it holds bytes that are no characters, or a %% that begins none", errAddress)
		if isText(r.URL) {
			err = h(w, r, who)
		}
		if err != nil {
			c.fail(w, r, who, err)
		}
	}
}

// errAddress is the class of errors of addresses that no page leads to.
var errAddress = errors.New("that is no address of the console")

// number reads where a list begins, or a row's number, of so many bits; 0: the address has none.
func number(q url.Values, name string, bits int) (int64, error) {
	text := q.Get(name)
	n, err := strconv.ParseInt(cmp.Or(text, "0"), 10, bits)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %s is %.40q, expected the number of a row", errAddress, name, text)
	}
	return n, nil
}

// identifier reads the id of a run or an account; "": the address has none.
func identifier(q url.Values, name string) (string, error) {
	id := q.Get(name)
	if id != "" && uuid.Validate(id) != nil {
		return "", fmt.Errorf("%w: %s is %.40q, expected an id", errAddress, name, id)
	}
	return id, nil
}

// isText tells whether an address holds characters only: Postgres takes no others.
func isText(u *url.URL) bool {
	decoded, err := url.QueryUnescape(u.RawQuery)
	text := u.Path + decoded
	return err == nil && utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

var errTooMuch = errors.New("it was given up, so that it does not hold up the house; choose a shorter time or search for less")

// fail shows what went wrong. An operator may see the cause of an internal error, which is logged too.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, who users.Account, err error) {
	status, title := http.StatusInternalServerError, "That did not work"
	switch {
	case errors.Is(err, errNoPage), errors.Is(err, runs.ErrNotFound), errors.Is(err, users.ErrNotFound), errors.Is(err, history.ErrNoVersion):
		status, title = http.StatusNotFound, "Nothing here"
	case errors.Is(err, errAddress):
		status, title = http.StatusBadRequest, "No such address"
	case errors.Is(err, context.DeadlineExceeded):
		status, title, err = http.StatusServiceUnavailable, "That takes too long", errTooMuch
	default:
		c.cfg.Logger.Error("console page failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	c.render(w, r, status, "problem", view{Title: title, Who: who, Data: err.Error()})
}

// show renders a page that went well.
func (c *Console) show(w http.ResponseWriter, r *http.Request, who users.Account, name string, v view) error {
	v.Who = who
	if _, ok := (workbook{c}).sheets()[v.Place]; ok && name != "ask" && r.PathValue("id") == "" {
		v.CSV = Root + "export/" + v.Place + strings.TrimSuffix("?"+r.URL.RawQuery, "?")
	}
	v.Notice = takeNotice(w, r)
	c.render(w, r, http.StatusOK, name, v)
	return nil
}

// render writes a whole page, or an error when its template fails.
func (c *Console) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) {
	v.Nav, v.Now, v.CSRF = c.places(), c.cfg.Now(), c.cfg.CSRF(r.Context())
	var page bytes.Buffer
	templates, err := c.pages()
	if err == nil {
		err = templates.ExecuteTemplate(&page, name+".html", v)
	}
	if err != nil {
		c.cfg.Logger.Error("console template failed", "template", name, "error", err)
		http.Error(w, "This page is broken on our side; the log says how.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	page.WriteTo(w)
}

// noticeCookie carries what an action did over the redirect that follows it.
const noticeCookie = "operator_notice"

func leaveNotice(w http.ResponseWriter, r *http.Request, text string) {
	http.SetCookie(w, &http.Cookie{Name: noticeCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(text)), Path: Root, MaxAge: 60,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
}

func takeNotice(w http.ResponseWriter, r *http.Request) string {
	cookie, err := r.Cookie(noticeCookie)
	if err != nil {
		return ""
	}
	http.SetCookie(w, &http.Cookie{Name: noticeCookie, Path: Root, MaxAge: -1})
	text, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return ""
	}
	return string(text)
}

// about is an amount cut to a hundredth of a cent, for places where the exact one would be noise.
func about(n billing.NanoUSD) string {
	const step = billing.Dollar / 10_000
	return (n / step * step).String()
}

// short is the end of an id, which differs most: the beginning of a run's is its time.
func short(id string) string {
	if len(id) <= 8 {
		return id
	}
	return id[len(id)-8:]
}

func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// took is a duration as people read it.
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// limited says how much of something there may be.
func limited(text string) string {
	if text == "" {
		return "no limit"
	}
	return "of " + text
}

// size is a number of bytes as people read it.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// group writes a number with its thousands apart.
func group(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
