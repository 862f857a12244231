package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/bundle"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
)

// encoded is an answer in JSON that many get: encoded, compressed and hashed once.
type encoded struct {
	etag   string
	raw    []byte // nil where only the compressed form is kept
	zipped []byte // nil where it is not worth it
	bytes  int    // of the uncompressed form
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
	e.bytes = len(e.raw)
	if len(e.raw) >= zipFrom {
		e.zipped = bundle.Zipped(e.raw, gzip.DefaultCompression)
	}
	sum := sha256.Sum256(e.raw)
	e.etag = tagOf(sum[:])
	return e, nil
}

func tagOf(sum []byte) string { return `"` + hex.EncodeToString(sum[:12]) + `"` }

// encodeTools writes a list of tools one by one: a thousand of them are megabytes, which are never there at once.
func encodeTools(tools []*registry.Tool) (encoded, error) {
	var zipped bytes.Buffer
	z, sum, e := gzip.NewWriter(&zipped), sha256.New(), encoded{}
	write := func(part []byte) {
		e.bytes += len(part)
		sum.Write(part)
		z.Write(part) // a buffer takes everything
	}
	write([]byte(`{"tools":[`))
	for i, t := range tools {
		part, err := json.Marshal(t)
		if err != nil {
			return encoded{}, err
		}
		if i > 0 {
			write([]byte{','})
		}
		write(part)
	}
	write([]byte("]}\n"))
	if err := z.Close(); err != nil {
		return encoded{}, err
	}
	e.zipped, e.etag = bytes.Clone(zipped.Bytes()), tagOf(sum.Sum(nil))
	return e, nil
}

// serve answers with e, or with 304 when the client has it already.
func (e encoded) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache") // kept by the client, asked about each time
	h.Set("Vary", "Authorization, Cookie, Accept-Encoding")
	body, etag, length := e.raw, e.etag, e.bytes
	if e.zipped != nil && bundle.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body, etag, length = e.zipped, strings.TrimSuffix(e.etag, `"`)+`-z"`, len(e.zipped)
	}
	h.Set("ETag", etag)
	if door.HasTag(r, etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(length))
	if body != nil {
		w.Write(body)
		return
	}
	if plain, err := gzip.NewReader(bytes.NewReader(e.zipped)); err == nil { // it is what encodeTools wrote
		io.Copy(w, plain)
	}
}
