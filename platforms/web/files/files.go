// Package files serves stored files under signed addresses: anyone who has an address can read the file, as long as its owner has it.
package files

import (
	"bytes"
	"context"
	"crypto/hmac"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/registry"
)

// Store has the files: runner.Service.
type Store interface {
	OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error)
	Thumbnail(ctx context.Context, ref registry.Media, side int) (mime string, content []byte, err error)
	OwnersOf(ctx context.Context, ref registry.Media, reader assets.Reader) ([]string, error)
	Hidden(ctx context.Context, ref registry.Media) (bool, error)
}

// Config wires a Server. All but Reported is required.
type Config struct {
	Links    Links
	Store    Store
	Logger   *slog.Logger
	Now      func() time.Time
	NotFound http.HandlerFunc // answers where there is no file
	// Reported says that files can be taken down: then nobody is led to the store but who has the file, since an address there works on for a while.
	Reported bool
}

// Server serves files. Make it with New.
type Server struct {
	cfg   Config
	small cache.Cache[string, smallFile]
}

// New makes a Server.
func New(cfg Config) *Server {
	return &Server{cfg, cache.Cache[string, smallFile]{Life: time.Minute, Most: 64}}
}

// Routes are the addresses of files.
func (s *Server) Routes() []door.Route {
	return []door.Route{
		door.ForAll("GET /files/{sig}/{hash}/{name}", s.file),
		door.ForAll("GET /thumbs/{sig}/{hash}/{side}", s.thumbnail),
		door.ForAll("GET /uploads/{sig}/{hash}/{name}", s.file),
	}
}

// thumbnail serves a small version of a picture, or leads to the original where there is none.
func (s *Server) thumbnail(w http.ResponseWriter, r *http.Request) {
	hash, side := r.PathValue("hash"), r.PathValue("side")
	pixels, err := strconv.Atoi(side)
	known := err == nil && (pixels == TileSide || pixels == WallSide || pixels == CardSide)
	if known {
		known, err = s.mayRead(r, hash)
	} else {
		err = nil
	}
	if err != nil {
		problem.Fail(w, r, s.cfg.Logger, err)
		return
	}
	if !known {
		s.cfg.NotFound(w, r)
		return
	}
	h := w.Header()
	if hasCopy(w, r, hash+"-"+side) {
		return
	}
	mimeType, content, err := s.cfg.Store.Thumbnail(r.Context(), Scheme+hash, pixels)
	if err != nil {
		forgetCopy(h)
	}
	if errors.Is(err, assets.ErrNoThumbnail) {
		http.Redirect(w, r, "/files/"+r.PathValue("sig")+"/"+hash+"/picture", http.StatusTemporaryRedirect)
		return
	}
	if err != nil {
		s.cfg.Logger.Warn("a thumbnail can't be made", "hash", hash, "error", err)
		s.cfg.NotFound(w, r)
		return
	}
	h.Set("Content-Type", mimeType)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.Write(content)
}

// inlineTypes may be shown by a browser under our origin; everything else is a download, because a
// result can be HTML or SVG with scripts in it.
var inlineTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/webp": true, "image/gif": true, "image/avif": true, "image/apng": true, "image/vnd.mozilla.apng": true,
	"video/mp4": true, "video/webm": true, "audio/mpeg": true, "audio/flac": true, "audio/wav": true, "audio/ogg": true, "audio/mp4": true,
}

// mayRead reports whether the request's address is good for a file: it carries the signature of one of its owners, or that for
// services. What was taken down is served to its owner and to operators alone.
func (s *Server) mayRead(r *http.Request, hash string) (bool, error) {
	if hmac.Equal([]byte(r.PathValue("sig")), []byte(s.cfg.Links.sign("", hash))) {
		hidden, err := s.cfg.Store.Hidden(r.Context(), Scheme+hash)
		return !hidden, err
	}
	ok, err := s.opens(r, hash, assets.Reader{})
	if caller, known := door.Caller(r.Context()); known && !ok && err == nil {
		return s.opens(r, hash, assets.Reader{Account: caller.ID, Operator: caller.Operator})
	}
	return ok, err
}

// opens reports whether the address carries the signature of somebody whose file it is to a reader.
func (s *Server) opens(r *http.Request, hash string, reader assets.Reader) (bool, error) {
	sig := []byte(r.PathValue("sig"))
	owners, err := s.cfg.Store.OwnersOf(r.Context(), Scheme+hash, reader)
	return slices.ContainsFunc(owners, func(owner string) bool { return hmac.Equal(sig, []byte(s.cfg.Links.sign(owner, hash))) }), err
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("hash")
	if ok, err := s.mayRead(r, hash); err != nil {
		problem.Fail(w, r, s.cfg.Logger, err)
		return
	} else if !ok {
		s.cfg.NotFound(w, r)
		return
	}
	if hasCopy(w, r, hash) {
		return
	}
	if known, ok := s.small.Get(hash, s.cfg.Now()); ok {
		known.send(w, r)
		return
	}
	content, info, err := s.cfg.Store.OpenMedia(r.Context(), Scheme+hash)
	if err != nil {
		s.cfg.Logger.Warn("stored file can't be read", "hash", hash, "error", err)
		forgetCopy(w.Header())
		s.cfg.NotFound(w, r)
		return
	}
	defer content.Close()
	if info.Bytes > 0 && info.Bytes <= maxSmallFile {
		data, err := io.ReadAll(io.LimitReader(content, maxSmallFile))
		if err != nil {
			problem.Fail(w, r, s.cfg.Logger, err)
			return
		}
		small := smallFile{info.MIMEType, data}
		s.small.Put(hash, small, s.cfg.Now())
		small.send(w, r)
		return
	}
	if at, ok := content.(assets.Linked); ok && playsOrSaves(r) && s.mayBeLed(r, hash) {
		lead(w, r, s.cfg.Logger, at, info.MIMEType)
		return
	}
	sendFile(w, r, info.MIMEType, content)
}

// hasCopy says what a browser may do with a file, and reports whether it has that already, which it is told then. A copy is shown again only after we were
// asked whether it still may be read: files are deleted and taken down. All copies go when somebody signs out, see door.Door.Leave.
func hasCopy(w http.ResponseWriter, r *http.Request, content string) bool {
	h := w.Header()
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", `"`+content+`"`)
	if !door.HasTag(r, h.Get("ETag")) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// forgetCopy takes back what hasCopy said, of an answer that is not the file.
func forgetCopy(h http.Header) {
	h.Del("Cache-Control")
	h.Del("ETag")
}

// playsOrSaves reports whether a browser asks for a file to play, open or save it. Only then may it come from elsewhere: what
// scripts read and pictures that are drawn on have to be of our origin, and not every program goes where it is sent.
func playsOrSaves(r *http.Request) bool {
	return r.Method == http.MethodGet && slices.Contains([]string{"audio", "video", "document"}, r.Header.Get("Sec-Fetch-Dest"))
}

// mayBeLed reports whether who asks may get a file from where it is kept.
func (s *Server) mayBeLed(r *http.Request, hash string) bool {
	if !s.cfg.Reported {
		return true
	}
	caller, known := door.Caller(r.Context())
	if !known {
		return false
	}
	owners, err := s.cfg.Store.OwnersOf(r.Context(), Scheme+hash, assets.Reader{Account: caller.ID})
	return err == nil && slices.Contains(owners, caller.ID)
}

// lead sends a browser to where a file is kept, by an address that is good for a while.
func lead(w http.ResponseWriter, r *http.Request, log *slog.Logger, at assets.Linked, mimeType string) {
	h := w.Header()
	as := assets.Served{MIME: mimeType, Disposition: disposition(r, mimeType), CacheControl: h.Get("Cache-Control")}
	address, err := at.Link(r.Context(), as)
	if err != nil {
		problem.Fail(w, r, log, err)
		return
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Del("ETag")
	http.Redirect(w, r, address, http.StatusTemporaryRedirect)
}

// smallFile is a stored file that is kept in memory for a while: results are looked at more than once.
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

// describeFile says what a file is, and whether it is shown or stored. A script is a text: our pages may run what comes from here, and no browser runs a
// text, not even where it would store the file if it were opened.
func describeFile(w http.ResponseWriter, r *http.Request, mimeType string) {
	h := w.Header()
	if strings.Contains(mimeType, "javascript") {
		mimeType = "text/plain; charset=utf-8"
	}
	h.Set("Content-Type", mimeType)
	if d := disposition(r, mimeType); d != "" {
		h.Set("Content-Disposition", d)
	}
}

// disposition is that of a file which is to be stored, empty for one which is shown.
func disposition(r *http.Request, mimeType string) string {
	kind, _, _ := strings.Cut(mimeType, ";")
	if r.URL.RawQuery != "" && r.URL.Query().Has("download") || !inlineTypes[kind] {
		return mime.FormatMediaType("attachment", map[string]string{"filename": r.PathValue("name")})
	}
	return ""
}

// SendArchive sends a ZIP that nobody but who asks may keep.
func SendArchive(w http.ResponseWriter, r *http.Request, content io.ReadSeeker, name string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	http.ServeContent(w, r, "", time.Time{}, content)
}
