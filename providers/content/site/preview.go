package site

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

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
		v = v.localeOf(r)
		v.draft = true
		if kind == "page" {
			return v.page(ctx, store.PageQuery{ID: id})
		}
		return v.entry(ctx, store.EntryQuery{ID: id}, "")
	})
}
