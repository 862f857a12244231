package site

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// linkForm finds the addresses in pages, and pictureForm those of pictures in sizes.
var (
	linkForm    = regexp.MustCompile(`(?:href|src|content)="([^"]+)"`)
	pictureForm = regexp.MustCompile(`(?:srcset="|, )([^ "]+) \d+w`)
)

// Export gives all that visitors can reach as files: pages as index.html in a folder of their own, and 404.html. What only some visitors
// see, and the search, are not among them.
func (s *Server) Export(ctx context.Context, put func(name string, content []byte) error) error {
	queue := []string{s.path(""), s.path("sitemap.xml"), s.path("robots.txt"), s.path("404")}
	seen := map[string]bool{}
	visit, err := s.look(ctx)
	if err != nil {
		return err
	}
	places, err := visit.content.Places(ctx)
	if err != nil {
		return err
	}
	for _, p := range places { // nothing may link to them
		if p.Kind == "page" {
			queue = append(queue, s.Page(p.Slug))
		} else {
			queue = append(queue, s.Entry(p.Collection, p.Slug))
		}
	}
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		if seen[address] || ctx.Err() != nil {
			continue
		}
		seen[address] = true
		content, kind, ok := s.render(ctx, address)
		if !ok {
			continue
		}
		if strings.HasPrefix(kind, "text/html") {
			queue = append(queue, s.linked(string(content))...)
			content = turnForm.ReplaceAll(content, []byte(`href="$1-page-$2/"`))
		}
		if err := put(s.fileName(address, kind), content); err != nil {
			return fmt.Errorf("export %s: %w", address, err)
		}
	}
	return ctx.Err()
}

// render makes an answer as a visitor gets it; ok is false where there is none for everybody.
func (s *Server) render(ctx context.Context, address string) (content []byte, kind string, ok bool) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", false
	}
	w := &recorded{header: http.Header{}, status: http.StatusOK}
	s.ServeHTTP(w, r)
	missing := address == s.path("404") && w.status == http.StatusNotFound
	return w.body.Bytes(), w.header.Get("Content-Type"), w.status == http.StatusOK || missing
}

// recorded is an answer that nobody waits for.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header gives the header.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader notes the status.
func (r *recorded) WriteHeader(status int) { r.status = status }

// Write notes the body.
func (r *recorded) Write(p []byte) (int, error) { return r.body.Write(p) }

// turnForm finds links to the further pages of a list, which are files of their own names.
var turnForm = regexp.MustCompile(`href="([^"?]+)\?page=(\d+)"`)

// linked lists the addresses of the site that a page names, without the search.
func (s *Server) linked(page string) (addresses []string) {
	for _, form := range []*regexp.Regexp{linkForm, pictureForm} {
		for _, found := range form.FindAllStringSubmatch(page, -1) {
			u, err := url.Parse(html.UnescapeString(found[1]))
			if err != nil || u.Host != "" && u.Host != s.cfg.Base.Host || u.RawQuery != "" && !strings.HasPrefix(u.RawQuery, "page=") {
				continue
			}
			u.Fragment = ""
			if at, ours := strings.CutPrefix(u.Path, s.root); ours && strings.HasPrefix(at, "/") && at != "/search" {
				addresses = append(addresses, u.RequestURI())
			}
		}
	}
	return addresses
}

// fileName is where an answer is stored.
func (s *Server) fileName(address, kind string) string {
	name, query, turned := strings.Cut(strings.Trim(strings.TrimPrefix(address, s.root), "/"), "?")
	switch {
	case name == "404":
		return "404.html"
	case turned:
		name += "-" + strings.ReplaceAll(query, "=", "-")
	}
	if strings.HasPrefix(kind, "text/html") {
		return path.Join(name, "index.html")
	}
	return path.Clean(name)
}
