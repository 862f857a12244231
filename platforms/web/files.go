package web

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
)

const assetScheme = "asset:"

// FilePath is the path under which a stored file of an account can be read by whoever has it: it is signed, so that
// nobody can guess one, and needs no cookie, so that it works in a chat or a script. It works as long as the account
// has the file; without an owner, for services, as long as anybody has.
func (s *Server) FilePath(owner string, ref registry.Media, name string) string {
	return s.signedPath("/files/", owner, ref, name)
}

// UploadPath is another address of the same file, under which tools that manage content know what they keep (D85). It
// opens to nobody whom FilePath's does not.
func (s *Server) UploadPath(owner string, ref registry.Media, name string) string {
	return s.signedPath("/uploads/", owner, ref, name)
}

func (s *Server) signedPath(under, owner string, ref registry.Media, name string) string {
	hash := strings.TrimPrefix(ref, assetScheme)
	if name == "" {
		name = "file"
	}
	return under + s.sign(owner, hash) + "/" + hash + "/" + url.PathEscape(path.Base(name))
}

// Sides of thumbnails: of the tiles of a list, and of a card or message. They are as large as a screen of fine pixels shows them.
const (
	tileSide = 128
	cardSide = 512
)

// ThumbPath is the path of a small version of a stored picture, for lists. It opens to nobody whom FilePath's does not.
func (s *Server) ThumbPath(owner string, ref registry.Media) string {
	return s.thumbPath(owner, ref, cardSide)
}

func (s *Server) thumbPath(owner string, ref registry.Media, side int) string {
	hash := strings.TrimPrefix(ref, assetScheme)
	return "/thumbs/" + s.sign(owner, hash) + "/" + hash + "/" + strconv.Itoa(side)
}

// thumbnail serves a small version of a picture, or leads to the original where there is none.
func (s *Server) thumbnail(w http.ResponseWriter, r *http.Request) {
	hash, side := r.PathValue("hash"), r.PathValue("side")
	pixels, err := strconv.Atoi(side)
	known := err == nil && (pixels == tileSide || pixels == cardSide)
	if known {
		known, err = s.mayRead(r, hash)
	} else {
		err = nil
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !known {
		s.notFound(w, r)
		return
	}
	h := w.Header()
	tag := `"` + hash + "-" + side + `"`
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	mimeType, content, err := s.cfg.Runs.Thumbnail(r.Context(), assetScheme+hash, pixels)
	if errors.Is(err, assets.ErrNoThumbnail) {
		http.Redirect(w, r, "/files/"+r.PathValue("sig")+"/"+hash+"/picture", http.StatusTemporaryRedirect)
		return
	}
	if err != nil {
		s.cfg.Logger.Warn("a thumbnail can't be made", "hash", hash, "error", err)
		s.notFound(w, r)
		return
	}
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("ETag", tag)
	h.Set("Content-Type", mimeType)
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.Write(content)
}

// FileURL is FilePath under PUBLIC_URL; empty when there is none.
func (s *Server) FileURL(owner string, ref registry.Media, name string) string {
	if s.cfg.Public == nil {
		return ""
	}
	return s.absolute(nil, s.FilePath(owner, ref, name))
}

func (s *Server) sign(owner, hash string) string {
	mac := hmac.New(sha256.New, s.cfg.LinkKey)
	io.WriteString(mac, "file:"+owner+":"+hash)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// inlineTypes may be shown by a browser under our origin; everything else is a download, because a
// result can be HTML or SVG with scripts in it.
var inlineTypes = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/webp": true, "image/gif": true, "image/avif": true, "image/apng": true, "image/vnd.mozilla.apng": true,
	"video/mp4": true, "video/webm": true, "audio/mpeg": true, "audio/flac": true, "audio/wav": true, "audio/ogg": true, "audio/mp4": true,
}

// mayRead reports whether the request's address is good for a file: it carries the signature of one of its owners.
func (s *Server) mayRead(r *http.Request, hash string) (bool, error) {
	sig := []byte(r.PathValue("sig"))
	if hmac.Equal(sig, []byte(s.sign("", hash))) {
		return true, nil
	}
	owners, err := s.cfg.Runs.OwnersOf(r.Context(), assetScheme+hash)
	return slices.ContainsFunc(owners, func(owner string) bool { return hmac.Equal(sig, []byte(s.sign(owner, hash))) }), err
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("hash")
	if ok, err := s.mayRead(r, hash); err != nil {
		s.fail(w, r, err)
		return
	} else if !ok {
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
