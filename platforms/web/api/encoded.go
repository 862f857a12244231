package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/platforms/web/door"
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
	if door.HasTag(r, etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
