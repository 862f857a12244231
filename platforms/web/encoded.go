package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// encoded is an answer in JSON that many get: encoded, compressed and hashed once.
type encoded struct {
	etag        string
	raw, zipped []byte
}

// zipFrom is from how many bytes on compressing is worth it.
const zipFrom = 1 << 10

func encode(v any) (encoded, error) {
	var e encoded
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(v); err != nil {
		return e, err
	}
	e.raw = bytes.Clone(out.Bytes()) // without the room that the buffer has grown
	if len(e.raw) >= zipFrom {
		e.zipped = bundle.Zipped(e.raw, gzip.DefaultCompression)
	}
	sum := sha256.Sum256(e.raw)
	e.etag = `"` + hex.EncodeToString(sum[:12]) + `"`
	return e, nil
}

// serve answers with e, or with 304 when the client has it already.
func (e encoded) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache") // kept by the client, asked about each time
	h.Set("Vary", "Authorization, Cookie, Accept-Encoding")
	body, etag := e.raw, e.etag
	if e.zipped != nil && bundle.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body, etag = e.zipped, strings.TrimSuffix(e.etag, `"`)+`-z"`
	}
	h.Set("ETag", etag)
	if hasTag(r.Header.Get("If-None-Match"), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// hasTag reports whether If-None-Match names a tag, by RFC 9110's weak comparison.
func hasTag(header, etag string) bool {
	for given := range strings.SplitSeq(header, ",") {
		given = strings.TrimPrefix(strings.TrimSpace(given), "W/")
		if given == etag || given == "*" {
			return true
		}
	}
	return false
}

// catalogue holds what is drawn from one snapshot of the registry, made when it is first asked for.
type catalogue struct {
	snapshot *catalog.Snapshot
	tools    [registry.Insiders + 1]func() (encoded, error)
	openapi  func() (encoded, error)
}

// catalogue gives the one of the snapshot of the moment.
func (s *Server) catalogue() *catalogue {
	snapshot := s.cfg.Registry.Snapshot()
	if c := s.drawn.Load(); c != nil && c.snapshot == snapshot {
		return c
	}
	c := &catalogue{snapshot: snapshot, openapi: sync.OnceValues(func() (encoded, error) {
		document, err := s.document(snapshot)
		if err != nil {
			return encoded{}, err
		}
		return encode(document)
	})}
	for _, audience := range [...]registry.Audience{registry.Everyone, registry.Insiders} {
		c.tools[audience] = sync.OnceValues(func() (encoded, error) {
			return encode(map[string]any{"tools": deref(snapshot.Listed(audience))})
		})
	}
	s.drawn.Store(c)
	time.AfterFunc(drawnFor, func() { s.drawn.CompareAndSwap(c, nil) })
	return c
}

// drawnFor is how long a catalogue is kept: making it anew now and then costs less than keeping megabytes that
// nobody may ask for again.
const drawnFor = 15 * time.Second

// drawnCatalogue is the latest catalogue.
type drawnCatalogue = atomic.Pointer[catalogue]
