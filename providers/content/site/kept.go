package site

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// page is an answer that was made.
type page struct {
	status int
	kind   string // Content-Type
	body   []byte
	tag    string
	length string
	keep   bool // the same for all visitors
	title  string
}

func newPage(status int, kind string, body []byte) *page {
	sum := sha256.Sum256(body)
	return &page{status: status, kind: kind, body: body, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, length: strconv.Itoa(len(body)), keep: true}
}

// send writes the answer, or that the visitor has it already.
func (p *page) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	switch {
	case !p.keep:
		h["Cache-Control"] = []string{"private, no-store"}
	default:
		h["Cache-Control"] = []string{"public, max-age=0, must-revalidate"}
		h["Etag"] = []string{p.tag}
		if given := r.Header.Get("If-None-Match"); given != "" && strings.Contains(given, p.tag) && p.status == http.StatusOK {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h["Content-Type"] = []string{p.kind}
	h["Content-Length"] = []string{p.length}
	w.WriteHeader(p.status)
	if r.Method != http.MethodHead {
		w.Write(p.body)
	}
}

// Bounds of what is kept, and how long what another process changed may go unseen.
const (
	mostKept    = 4000
	mostKeptAll = 64 << 20 // bytes
	trusted     = time.Second
)

// kept has the pages that were made since the site changed last.
type kept struct {
	mu      sync.RWMutex
	pages   map[string]*page
	bytes   int
	changes int64 // of this process, when they were made
	version int64 // of the site
	checked time.Time
}

// get gives a page, unless something was changed here since, or nobody has looked for a second whether another process did.
func (k *kept) get(key string, changes int64, now time.Time) *page {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.changes != changes || now.Sub(k.checked) > trusted {
		return nil
	}
	return k.pages[key]
}

// turn takes note of the site's version, and forgets all pages where it is another one.
func (k *kept) turn(changes, version int64, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pages == nil || k.version != version {
		k.pages, k.bytes, k.version = map[string]*page{}, 0, version
	}
	k.changes, k.checked = changes, now
}

// put keeps a page that was made of a version of the site.
func (k *kept) put(key string, p *page, changes, version int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version != version || k.changes != changes {
		return
	}
	if len(k.pages) >= mostKept || k.bytes+len(p.body) > mostKeptAll {
		k.pages, k.bytes = map[string]*page{}, 0
	}
	k.pages[key] = p
	k.bytes += len(p.body)
}
