package webtools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// agentName is how we call ourselves to sites, and the name that their robots.txt may have rules for.
const agentName = "Signalbox"

// Bounds of what is fetched.
const (
	maxURLs    = 10
	maxPage    = 10 << 20 // bytes of a page or file
	maxContent = 60_000   // bytes of its text
	maxPages   = 200      // of a PDF file
)

// fetched is a page as it is told: its text, or why there is none.
type fetched struct {
	URL       string `json:"url"`
	Title     string `json:"title,omitempty"`
	Content   string `json:"content,omitempty"`
	Format    string `json:"format,omitempty"`
	Cut       bool   `json:"cut,omitempty"` // there is more of it
	Error     string `json:"error,omitempty"`
	Untrusted bool   `json:"untrusted"`
}

// gave is what fetchContent answers.
type gave struct {
	Success   bool      `json:"success"`
	Count     int       `json:"count"`
	Items     []fetched `json:"items"`
	Untrusted bool      `json:"untrusted"`
}

func (p *Provider) fetchContent(ctx context.Context, inputs map[string]any) (any, error) {
	addresses := textsOf(inputs, "urls")
	if len(addresses) == 0 || len(addresses) > maxURLs {
		return nil, registry.Say(registry.CodeInvalidInput, said.WebAddresses, "n", len(addresses), "most", maxURLs).At("urls")
	}
	format := "markdown"
	if textOf(inputs, "format") == "text" {
		format = "text"
	}
	pages := p.read(ctx, addresses, format, maxContent)
	return gave{true, len(pages), pages, true}, nil
}

// read fetches pages at the same time, and gives them in order.
func (p *Provider) read(ctx context.Context, addresses []string, format string, most int) []fetched {
	pages := make([]fetched, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() {
			page, err := p.page(ctx, address, format)
			if err != nil {
				page = fetched{Error: err.Error()}
			}
			if len(page.Content) > most {
				page.Content, page.Cut = strings.ToValidUTF8(page.Content[:most], ""), true
			}
			page.URL, page.Untrusted = address, true
			pages[i] = page
		})
	}
	all.Wait()
	return pages
}

// page fetches one page. Its errors are for people.
func (p *Provider) page(ctx context.Context, address, format string) (fetched, error) {
	u, err := webAddress(address)
	if err != nil {
		return fetched{}, err
	}
	allowed, err := p.allowed(ctx, u)
	if err != nil {
		return fetched{}, err
	}
	if !allowed {
		return fetched{}, errors.New("the site's robots.txt keeps programs from this page")
	}
	raw, kind, err := p.get(ctx, u.String(), maxPage)
	if err != nil {
		return fetched{}, err
	}
	page := fetched{Format: format}
	switch kind {
	case "text/html", "application/xhtml+xml":
		page.Title, page.Content, err = readable(raw, u, format == "markdown")
	case "application/pdf":
		page.Format = "text"
		page.Content, err = pdfText(raw)
	default:
		if !utf8.Valid(raw) || !strings.HasPrefix(kind, "text/") && kind != "application/json" && kind != "application/xml" {
			return fetched{}, fmt.Errorf("it is %s, which has no text to read", kind)
		}
		page.Content, page.Format = string(raw), "text"
	}
	return page, err
}

// maxRobots bounds a robots.txt, in bytes.
const maxRobots = 512 << 10

// allowed reports whether a site lets programs have a page. A site without robots.txt lets them have all, one whose robots.txt can't
// be had now none.
func (p *Provider) allowed(ctx context.Context, u *url.URL) (bool, error) {
	site := u.Scheme + "://" + u.Host
	known, ok := p.robots.Get(site)
	if !ok {
		raw, _, err := p.get(ctx, site+"/robots.txt", maxRobots)
		var status *statusError
		switch {
		case err == nil:
			known = rulesOf(string(raw))
		case errors.As(err, &status) && status.status < http.StatusInternalServerError && status.status != http.StatusTooManyRequests:
			known = rules{}
		case errors.Is(err, errRefused):
			return false, err
		default:
			return false, errors.New("the site's robots.txt can't be read: " + err.Error())
		}
		p.robots.Set(site, known)
	}
	path := u.EscapedPath()
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return known.allow(path), nil
}

// errRefused is the guard's refusal in words that give nothing away.
var errRefused = errors.New("this address is not allowed to be reached from here")

// webAddress reads an address of the web.
func webAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("%q is no web address: expected http:// or https:// and a host", shortened(address))
	}
	u.Fragment = ""
	return u, nil
}

func shortened(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "..."
	}
	return text
}

// get fetches content through the guard, and gives its type.
func (p *Provider) get(ctx context.Context, address string, most int64) (raw []byte, kind string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", errors.New("it is no web address")
	}
	r.Header.Set("User-Agent", agentName)
	r.Header.Set("Accept", "text/html, application/pdf, text/*;q=0.8, */*;q=0.1")
	answer, err := p.cfg.Guard.Do(r)
	if err != nil {
		return nil, "", unreached(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, "", &statusError{r.URL.Host, answer.StatusCode}
	}
	raw, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err != nil {
		return nil, "", errors.New("the line broke while it was read")
	}
	if int64(len(raw)) > most {
		return nil, "", fmt.Errorf("it has more than %d bytes", most)
	}
	kind, _, err = mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || kind == "application/octet-stream" {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(raw))
	}
	return raw, kind, nil
}

// statusError is an answer that has not what was asked for.
type statusError struct {
	host   string
	status int
}

// Error names both.
func (e *statusError) Error() string { return fmt.Sprintf("%s answered %d", e.host, e.status) }

// unreached puts the failure of a request into words that tell nothing of the network here.
func unreached(err error) error {
	if errors.Is(err, outbound.ErrInside) {
		return errRefused
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return errors.New("it did not answer in time")
	}
	return errors.New("it can't be reached")
}

// pdfText is the text of a PDF file. The library panics on files that are broken.
func pdfText(raw []byte) (text string, err error) {
	defer func() {
		if recover() != nil {
			text, err = "", errors.New("the PDF file can't be read")
		}
	}()
	file, err := pdf.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return "", errors.New("the PDF file can't be read")
	}
	var all strings.Builder
	for i := 1; i <= min(file.NumPage(), maxPages) && all.Len() < maxContent; i++ {
		content, err := file.Page(i).GetPlainText(nil)
		if err != nil {
			return "", errors.New("the PDF file can't be read")
		}
		all.WriteString(strings.TrimSpace(content) + "\n\n")
	}
	if strings.TrimSpace(all.String()) == "" {
		return "", errors.New("the PDF file has no text, perhaps only pictures of it")
	}
	return strings.TrimSpace(all.String()), nil
}
