// Package folders serves what an engine stores: pictures that are put into its folders and looked at, and what clients keep there of their
// own, files and settings of one user.
package folders

import (
	"bytes"
	"image"
	"image/color"
	_ "image/gif" // formats that previews and channels of stored pictures are made from
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// contentTypes are the types of files nodes write or people upload, as the real server names them. Active content is not
// in the list, so that a browser downloads it instead of running it.
var contentTypes = map[string]string{
	".png": "image/png", ".apng": "image/apng", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif",
	".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff", ".svg": "image/svg+xml", ".txt": "text/plain",
	".json": "application/json", ".wav": "audio/x-wav", ".mp3": "audio/mpeg", ".flac": "audio/flac", ".ogg": "audio/ogg",
	".opus": "audio/ogg", ".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".csv": "text/csv", ".md": "text/markdown",
}

func contentType(name string) string {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := contentTypes[ext]; ok {
		return t
	}
	t := mime.TypeByExtension(ext)
	active := t == "" || strings.Contains(t, "html") || strings.Contains(t, "script") || strings.HasPrefix(t, "text/css") || strings.Contains(t, "xml")
	if active {
		return "application/octet-stream"
	}
	return t
}

// fileRef is a file named by a request: its folder and the name inside of it.
type fileRef struct {
	root *os.Root
	name string
}

// located finds the folder and the subfolder of a request's file name. status is 0 when it is allowed.
// Pictures are the files of the engine's folders over HTTP.
type Pictures struct {
	Files     *node.Files
	MaxPixels int // of a picture that is decoded
}

func (s Pictures) located(name, kind, subfolder string) (p fileRef, status int) {
	base, folder := node.Annotated(name, "")
	if base == "" || strings.HasPrefix(base, "/") || strings.Contains(base, "..") {
		return p, http.StatusBadRequest
	}
	if folder == "" {
		folder = node.Folder(kind)
	}
	root := s.Files.Root(folder)
	if root == nil {
		return p, http.StatusBadRequest
	}
	dir, ok := within(root, subfolder)
	if !ok {
		return p, http.StatusForbidden
	}
	return fileRef{root, path.Join(dir, path.Base(base))}, 0
}

// within cleans a subfolder, which may also lead out of the folder and back in, and refuses it when it ends outside.
func within(root *os.Root, subfolder string) (string, bool) {
	if path.IsAbs(subfolder) {
		return "", false
	}
	full := filepath.Join(root.Name(), filepath.FromSlash(subfolder))
	rel, err := filepath.Rel(root.Name(), full)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// open opens a regular file; a missing one, or a name no file system takes, is an error.
func (p fileRef) open() (*os.File, fs.FileInfo, error) {
	if strings.ContainsRune(p.name, 0) {
		return nil, nil, fs.ErrNotExist
	}
	f, err := p.root.Open(p.name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, nil, fs.ErrNotExist
	}
	return f, info, nil
}

// View answers GET /view: a file, a preview of it, or some of its channels.
func (s Pictures) View(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if !q.Has("filename") {
		return reply.NotFound(w, r)
	}
	name, kind := q.Get("filename"), "output"
	if strings.HasPrefix(name, "blake3:") {
		return reply.NotFound(w, r) // assets are not kept here
	}
	if q.Has("type") {
		kind = q.Get("type")
	}
	p, status := s.located(name, kind, q.Get("subfolder"))
	if status != 0 {
		reply.Empty(w, status)
		return nil
	}
	f, info, err := p.open()
	if err != nil {
		return reply.NotFound(w, r)
	}
	defer func() { _ = f.Close() }()

	base := path.Base(p.name)
	w.Header().Set("Content-Disposition", "filename=\""+strings.NewReplacer(`"`, `\"`, "\r", "", "\n", "").Replace(base)+"\"")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "sandbox")
	switch channel := q.Get("channel"); {
	case q.Has("preview"):
		return s.preview(w, f, q.Get("preview"), channel)
	case channel == "rgb" || channel == "a":
		return s.channel(w, f, channel)
	}
	w.Header().Set("Content-Type", contentType(base))
	http.ServeContent(w, r, base, info.ModTime(), f)
	return nil
}

// decode reads a picture, refusing before memory is taken what is larger than the engine allows.
func (s Pictures) decode(r io.ReadSeeker) (image.Image, error) {
	c, _, err := image.DecodeConfig(r)
	if err != nil {
		return nil, err
	}
	if c.Width > s.MaxPixels || c.Height > s.MaxPixels/max(c.Width, 1) {
		return nil, node.ValueError("a picture of %d x %d pixels is larger than this engine allows", c.Width, c.Height)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	img, format, err := image.Decode(r)
	if err == nil && format == "webp" {
		img = codec.Studio(img)
	}
	return img, err
}

// preview sends a picture as WebP or JPEG; the parameter is "format;quality". WebP is written without loss, whatever the
// quality.
func (s Pictures) preview(w http.ResponseWriter, f *os.File, want, channel string) error {
	img, err := s.decode(f)
	if err != nil {
		return err
	}
	parts := strings.Split(want, ";")
	asJPEG := parts[0] == "jpeg" && !strings.Contains(channel, "a")
	quality := 90
	if n, err := strconv.Atoi(parts[len(parts)-1]); err == nil && n >= 0 {
		quality = n
	}
	if asJPEG || channel == "rgb" {
		img = opaque(img)
	}
	var b bytes.Buffer
	format := "image/webp"
	if asJPEG {
		format = "image/jpeg"
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: min(max(quality, 1), 100)})
	} else {
		err = codec.EncodeStillWebP(&b, img)
	}
	return sendPicture(w, format, b.Bytes(), err)
}

// channel sends a picture without its alpha, or its alpha alone over black.
func (s Pictures) channel(w http.ResponseWriter, f *os.File, channel string) error {
	img, err := s.decode(f)
	if err != nil {
		return err
	}
	if channel == "rgb" {
		img = opaque(img)
	} else {
		img = codec.KeepAlpha(onlyAlpha(img))
	}
	var b bytes.Buffer
	err = png.Encode(&b, img)
	return sendPicture(w, "image/png", b.Bytes(), err)
}

func sendPicture(w http.ResponseWriter, format string, data []byte, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", format)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // an error means that the client is gone
	return nil
}

// straight gives a picture's colours as they stand in the file, not multiplied by alpha.
func straight(img image.Image) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			out.SetNRGBA(x, y, color.NRGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA))
		}
	}
	return out
}

// opaque drops the alpha of a picture that has one; colours under full transparency survive in the file's own form.
func opaque(img image.Image) *image.NRGBA {
	var out *image.NRGBA
	if n, ok := img.(*image.NRGBA); ok {
		out = &image.NRGBA{Pix: append([]byte(nil), n.Pix...), Stride: n.Stride, Rect: n.Rect}
	} else {
		out = straight(img)
	}
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = 255
	}
	return out
}

// onlyAlpha gives black pixels with the picture's alpha.
func onlyAlpha(img image.Image) *image.NRGBA {
	out := straight(img)
	for i := 0; i < len(out.Pix); i += 4 {
		out.Pix[i], out.Pix[i+1], out.Pix[i+2] = 0, 0, 0
	}
	return out
}
