package telegramtest

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // decode sizes of uploaded pictures
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"path"
	"strings"

	_ "golang.org/x/image/webp" // likewise
)

const (
	maxPhoto     = 10 << 20
	maxDownload  = 20 << 20
	maxURLFile   = 20 << 20
	maxURLPhoto  = 5 << 20
	maxThumbnail = 200 << 10
)

// file is a stored file with the identifiers the bot knows it by.
type file struct {
	kind      string
	id        string
	unique    string
	path      string
	name      string
	mime      string
	data      []byte
	width     int
	height    int
	duration  int
	title     string
	performer string
	thumbnail *file
	small     *file // the smaller size of a photo
}

// newFile stores data and needs s.mu.
func (s *Server) newFile(kind, name string, data []byte) *file {
	n := s.nextSeq()
	f := &file{
		kind: kind, name: name, data: data, mime: mimeOf(name, data),
		id: fmt.Sprintf("AgAD%s%08d", kind[:2], n), unique: fmt.Sprintf("AQAD%08d", n),
		path: fmt.Sprintf("%ss/file_%d%s", kind, n, path.Ext(name)),
	}
	if kind != "audio" && kind != "voice" && kind != "document" {
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
			f.width, f.height = cfg.Width, cfg.Height
		}
	}
	s.files[f.id] = f
	return f
}

func mimeOf(name string, data []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".ogg", ".oga", ".opus":
		return "audio/ogg"
	case ".mp3":
		return "audio/mpeg"
	case ".mp4":
		return "video/mp4"
	case ".glb":
		return "model/gltf-binary"
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return kind
}

func (f *file) snapshot() Media {
	m := Media{
		Kind: f.kind, Name: f.name, MIME: f.mime, Bytes: bytes.Clone(f.data), FileID: f.id, Width: f.width, Height: f.height,
		Title: f.title, Performer: f.performer, Duration: f.duration,
	}
	if f.thumbnail != nil {
		m.Thumbnail = bytes.Clone(f.thumbnail.data)
	}
	return m
}

func (f *file) photo() wPhoto {
	return wPhoto{FileID: f.id, FileUniqueID: f.unique, Width: f.width, Height: f.height, FileSize: len(f.data)}
}

func (f *file) wire() *wFile {
	w := &wFile{FileID: f.id, FileUniqueID: f.unique, FileSize: len(f.data), FileName: f.name, MimeType: f.mime}
	if f.thumbnail != nil {
		thumb := f.thumbnail.photo()
		w.Thumbnail = &thumb
	}
	switch f.kind {
	case "video", "animation":
		w.Width, w.Height, w.Duration = max(1, f.width), max(1, f.height), &f.duration
	case "audio":
		w.Duration, w.Title, w.Performer = &f.duration, f.title, f.performer
	case "voice":
		w.Duration, w.FileName = &f.duration, ""
	}
	return w
}

// wireInto puts the file where its kind belongs.
func (f *file) wireInto(w *wMessage) {
	switch f.kind {
	case "photo":
		if f.small != nil {
			w.Photo = append(w.Photo, f.small.photo())
		}
		w.Photo = append(w.Photo, f.photo())
	case "video":
		w.Video = f.wire()
	case "animation":
		w.Animation = f.wire()
		w.Document = &wFile{FileID: f.id, FileUniqueID: f.unique, FileSize: len(f.data), FileName: f.name, MimeType: f.mime}
	case "audio":
		w.Audio = f.wire()
	case "voice":
		w.Voice = f.wire()
	default:
		w.Document = f.wire()
	}
}

// inputFile resolves a file parameter: an upload under the field's own name, attach://part, an address
// the test serves, or a file_id.
func (s *Server) inputFile(req *request, kind, field, value string) (*file, *apiError) {
	if up, ok := req.files[field]; ok && value == "" {
		req.used[field] = true
		return s.uploaded(kind, up)
	}
	if part, ok := strings.CutPrefix(value, "attach://"); ok {
		up, ok := req.files[part]
		if !ok {
			return nil, badRequest("wrong file identifier/HTTP URL specified")
		}
		req.used[part] = true
		return s.uploaded(kind, up)
	}
	if strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://") {
		return s.fromURL(kind, value)
	}
	known, ok := s.files[value]
	if !ok {
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	}
	if known.kind != kind {
		return nil, badRequest("can't use file of type %s as %s", title(known.kind), title(kind))
	}
	return known, nil
}

func title(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }

func (s *Server) uploaded(kind string, up Upload) (*file, *apiError) {
	if len(up.Bytes) == 0 {
		return nil, badRequest("file must be non-empty")
	}
	if kind == "photo" {
		if err := checkPhoto(up.Bytes); err != nil {
			return nil, err
		}
	}
	return s.newFile(kind, up.Name, up.Bytes), nil
}

func checkPhoto(data []byte) *apiError {
	if len(data) > maxPhoto {
		return badRequest("file of size %d bytes is too big for a photo; the maximum size is %d bytes", len(data), maxPhoto)
	}
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return badRequest("IMAGE_PROCESS_FAILED")
	}
	w, h := cfg.Width, cfg.Height
	if w+h > 10000 || w > 20*h || h > 20*w {
		return badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

func (s *Server) fromURL(kind, address string) (*file, *apiError) {
	data, ok := s.served[address]
	limit := maxURLFile
	if kind == "photo" {
		limit = maxURLPhoto
	}
	if !ok || len(data) > limit {
		return nil, badRequest("failed to get HTTP URL content")
	}
	if kind == "photo" && checkPhoto(data) != nil {
		return nil, badRequest("wrong type of the web page content")
	}
	return s.newFile(kind, path.Base(address), data), nil
}

// ServeURL makes the service find data at a public address when the bot sends it by URL.
func (s *Server) ServeURL(address string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served[address] = data
}

// thumbnail reads an uploaded preview: JPEG, at most 320 a side, under 200 kB, never by file_id.
func (s *Server) thumbnail(req *request, value string) (*file, *apiError) {
	field := "thumbnail"
	if _, old := req.files["thumb"]; old {
		field = "thumb"
	}
	if part, ok := strings.CutPrefix(value, "attach://"); ok {
		field = part
	} else if value != "" {
		return nil, nil // thumbnails cannot be reused: the service ignores the identifier
	}
	up, ok := req.files[field]
	if !ok {
		if value != "" {
			return nil, badRequest("wrong file identifier/HTTP URL specified")
		}
		return nil, nil
	}
	req.used[field] = true
	cfg, format, err := image.DecodeConfig(bytes.NewReader(up.Bytes))
	if err != nil || format != "jpeg" || cfg.Width > 320 || cfg.Height > 320 || len(up.Bytes) >= maxThumbnail {
		s.violation("thumbnail: JPEG of at most 320x320 and under 200 kB expected, got %s %dx%d of %d bytes", format, cfg.Width, cfg.Height, len(up.Bytes))
		return nil, nil
	}
	return s.newFile("photo", up.Name, up.Bytes), nil
}

// getFile needs s.mu.
func (s *Server) getFile(req *request) (any, *apiError) {
	f, ok := s.files[req.params["file_id"]]
	if !ok {
		return nil, badRequest("wrong file_id or the file is temporarily unavailable")
	}
	if len(f.data) > maxDownload {
		return nil, badRequest("file is too big")
	}
	return wFile{FileID: f.id, FileUniqueID: f.unique, FileSize: len(f.data), FilePath: f.path}, nil
}

// serveFile answers /file/bot<token>/<path>.
func (s *Server) serveFile(w http.ResponseWriter, name string) {
	s.mu.Lock()
	var data []byte
	for _, f := range s.files {
		if f.path == name {
			data = f.data
		}
	}
	s.mu.Unlock()
	if data == nil {
		writeError(w, &apiError{code: 404, description: "Not Found"})
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data)
}
