package web

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry"
)

const assetScheme = "asset:"

// FilePath is the path under which a stored file can be read by whoever has it: it is signed, so that
// nobody can guess one, and needs no cookie, so that it works in a chat or a script.
func (s *Server) FilePath(ref registry.Media, name string) string {
	return s.signedPath("/files/", ref, name)
}

// UploadPath is another address of the same file, under which tools that manage content know what they keep (D85). It
// opens to nobody whom FilePath's does not.
func (s *Server) UploadPath(ref registry.Media, name string) string {
	return s.signedPath("/uploads/", ref, name)
}

func (s *Server) signedPath(under string, ref registry.Media, name string) string {
	hash := strings.TrimPrefix(ref, assetScheme)
	if name == "" {
		name = "file"
	}
	return under + s.sign(hash) + "/" + hash + "/" + url.PathEscape(path.Base(name))
}

// FileURL is FilePath under PUBLIC_URL; empty when there is none.
func (s *Server) FileURL(ref registry.Media, name string) string {
	if s.cfg.Public == nil {
		return ""
	}
	return s.absolute(nil, s.FilePath(ref, name))
}

func (s *Server) sign(hash string) string {
	mac := hmac.New(sha256.New, s.cfg.LinkKey)
	io.WriteString(mac, "file:"+hash)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// inlineTypes may be shown by a browser under our origin; everything else is a download, because a
// result can be HTML or SVG with scripts in it.
var inlineTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/webp": true, "image/gif": true, "image/avif": true, "image/apng": true, "image/vnd.mozilla.apng": true,
	"video/mp4": true, "video/webm": true, "audio/mpeg": true, "audio/flac": true, "audio/wav": true, "audio/ogg": true, "audio/mp4": true,
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("hash")
	if !hmac.Equal([]byte(r.PathValue("sig")), []byte(s.sign(hash))) {
		s.notFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("ETag", `"`+hash+`"`)
	if hasTag(r.Header.Get("If-None-Match"), h.Get("ETag")) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if known, ok := s.files.get(hash, s.cfg.Now()); ok {
		known.send(w, r)
		return
	}
	content, info, err := s.cfg.Runs.OpenMedia(r.Context(), assetScheme+hash)
	if err != nil {
		s.cfg.Logger.Warn("stored file can't be read", "hash", hash, "error", err)
		h.Del("Cache-Control")
		h.Del("ETag")
		s.notFound(w, r)
		return
	}
	defer content.Close()
	if info.Bytes > 0 && info.Bytes <= maxSmallFile {
		data, err := io.ReadAll(io.LimitReader(content, maxSmallFile))
		if err != nil {
			s.fail(w, r, err)
			return
		}
		small := smallFile{info.MIMEType, data}
		s.files.put(hash, small, s.cfg.Now())
		small.send(w, r)
		return
	}
	sendFile(w, r, info.MIMEType, content)
}

// smallFile is a stored file that is remembered for a while: results are looked at more than once.
type smallFile struct {
	mimeType string
	content  []byte
}

const maxSmallFile = 256 << 10

func (f smallFile) send(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Range") != "" {
		sendFile(w, r, f.mimeType, bytes.NewReader(f.content))
		return
	}
	describeFile(w, r, f.mimeType)
	h := w.Header()
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Length", strconv.Itoa(len(f.content)))
	w.Write(f.content)
}

func sendFile(w http.ResponseWriter, r *http.Request, mimeType string, content io.Reader) {
	describeFile(w, r, mimeType)
	if seeker, ok := content.(io.ReadSeeker); ok {
		http.ServeContent(w, r, "", time.Time{}, seeker) // ranges, for videos
		return
	}
	io.Copy(w, content)
}

// describeFile says what a file is, and whether it is shown or stored.
func describeFile(w http.ResponseWriter, r *http.Request, mimeType string) {
	kind, _, _ := strings.Cut(mimeType, ";")
	h := w.Header()
	h.Set("Content-Type", mimeType)
	if r.URL.RawQuery != "" && r.URL.Query().Has("download") || !inlineTypes[kind] {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": r.PathValue("name")}))
	}
}
