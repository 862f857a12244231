package site

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
)

// previewLife is how long a link to a draft works at least.
const previewLife = 7 * 24 * time.Hour

// Preview is the address of a draft, which opens it to anyone who has it for a week. kind is page or entry.
func (s *Server) Preview(kind, id string) string {
	until := s.cfg.Now().Add(previewLife + 24*time.Hour).Truncate(24 * time.Hour).Unix() // the same all day
	return s.absolute(s.path("preview", kind, id)) + fmt.Sprintf("?until=%d&sig=%s", until, s.sign(kind, id, until))
}

func (s *Server) sign(kind, id string, until int64) string {
	mac := hmac.New(sha256.New, s.cfg.Key)
	fmt.Fprintf(mac, "preview:%s:%s:%s:%d", s.cfg.Slug, kind, id, until)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// opens reports whether a request's signature opens a draft.
func (s *Server) opens(r *http.Request, kind, id string) bool {
	q := r.URL.Query()
	until, err := strconv.ParseInt(q.Get("until"), 10, 64)
	return err == nil && s.cfg.Now().Unix() < until && hmac.Equal([]byte(q.Get("sig")), []byte(s.sign(kind, id, until)))
}

// Proposed is a link by Preview that shows the draft as a call would change it that waits for its owner's word, and as it is where that waits no more.
func (s *Server) Proposed(link, proposal string) string {
	u, err := url.Parse(link)
	if err != nil {
		return link
	}
	q := u.Query()
	q.Set("of", proposal)
	q.Set("by", s.sign("proposal", proposal, 0))
	u.RawQuery = q.Encode()
	return u.String()
}

// proposal is the call whose changes a request may see; empty: none.
func (s *Server) proposal(r *http.Request) string {
	q := r.URL.Query()
	of := q.Get("of")
	if of == "" || s.cfg.Rehearse == nil || !hmac.Equal([]byte(q.Get("by")), []byte(s.sign("proposal", of, 0))) {
		return ""
	}
	return of
}

// preview shows a page or entry as it would be published. Without a good signature there is nothing.
func (s *Server) preview(w http.ResponseWriter, r *http.Request, path string) {
	kind, id, _ := strings.Cut(path, "/")
	_, malformed := uuid.Parse(id)
	s.answer(w, r, "preview", func(ctx context.Context, v *view) (*page, error) {
		if malformed != nil || !s.opens(r, kind, id) {
			return nil, errNothing
		}
		w.Header().Set("X-Robots-Tag", "noindex")
		w.Header().Set("Content-Security-Policy", strings.Replace(policy, "frame-ancestors 'none'", "frame-ancestors "+cmp.Or(s.cfg.Editor, "'self'"), 1))
		show := func(v *view) (*page, error) {
			v = v.localeOf(r)
			v.draft = true
			if kind == "page" {
				return v.page(ctx, store.PageQuery{ID: id})
			}
			return v.entry(ctx, store.EntryQuery{ID: id}, "")
		}
		if of := s.proposal(r); of != "" {
			p, err := s.rehearsed(ctx, v, of, show)
			if err == nil {
				return p, nil
			}
			s.cfg.Logger.DebugContext(ctx, "a draft is shown as it is", "proposal", of, "error", err)
		}
		return show(v)
	})
}

// rehearseWait bounds how long a preview waits for what others change at the moment.
const rehearseWait = 5 * time.Second

// rehearsed makes a page of the site as a call would change it that waits for its owner's word.
func (s *Server) rehearsed(ctx context.Context, v *view, proposal string, show func(*view) (*page, error)) (p *page, err error) {
	ctx, cancel := context.WithTimeout(ctx, rehearseWait)
	defer cancel()
	err = s.cfg.Store.Rehearse(ctx, func(in *store.Store) error {
		if err := s.cfg.Rehearse(ctx, proposal, in); err != nil {
			return err
		}
		changed := *v
		if changed.site, err = in.Site(ctx, s.cfg.Slug); err != nil {
			return err
		}
		changed.content, changed.pictures = in.In(changed.site, ""), map[string]*layout.Picture{}
		p, err = show(&changed)
		return err
	})
	return p, err
}
