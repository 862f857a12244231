package folders

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// formMemory is how much of an upload is held in memory; the rest goes to temporary files.
const formMemory = 8 << 20

// upload is a parsed upload request.
type upload struct {
	form      *multipart.Form
	data      []byte
	name      string // as the client sent it, a path perhaps
	folder    node.Folder
	root      *os.Root
	dir       string // subfolder, cleaned
	subfolder string // subfolder, as sent
	overwrite bool
}

func (u *upload) value(name string) (string, bool) {
	if v := u.form.Value[name]; len(v) > 0 {
		return v[0], true
	}
	return "", false
}

// readUpload parses the form. status is 400 when there is no usable file, else 0; an error is a 500.
func (s Pictures) readUpload(r *http.Request) (u *upload, status int, err error) {
	if err := r.ParseMultipartForm(formMemory); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, 0, err
		}
		return nil, http.StatusBadRequest, nil
	}
	u = &upload{form: r.MultipartForm, folder: node.InFolder}
	defer func(form *multipart.Form) { _ = form.RemoveAll() }(u.form)
	if kind, given := u.value("type"); given {
		u.folder = node.Folder(kind)
	}
	if u.root = s.Files.Root(u.folder); u.root == nil {
		return nil, 0, fmt.Errorf("unknown folder type %q", u.folder)
	}
	files := u.form.File["image"]
	if len(files) == 0 {
		if text, given := u.value("image"); given && text != "" {
			return nil, 0, errors.New("image is a text, not a file")
		}
		return nil, http.StatusBadRequest, nil
	}
	u.name = sentName(files[0])
	if overwrite, _ := u.value("overwrite"); overwrite == "true" || overwrite == "1" {
		u.overwrite = true
	}
	if u.data, err = content(files[0]); err != nil {
		return nil, 0, err
	}
	u.subfolder, _ = u.value("subfolder")
	if !u.placed() {
		return nil, http.StatusBadRequest, nil
	}
	return u, 0, nil
}

// sentName is the file name of a part with its folders, which mime/multipart cuts off. Backslashes only escape the character after
// them.
func sentName(f *multipart.FileHeader) string {
	quoted := quotedName.FindStringSubmatch(f.Header.Get("Content-Disposition"))
	if quoted == nil {
		return f.Filename
	}
	return escape.ReplaceAllString(strings.TrimLeft(quoted[1], `\/`), "$1")
}

var (
	quotedName = regexp.MustCompile(`filename="((?:[^"\\]|\\.)*)"`)
	escape     = regexp.MustCompile(`\\([\x00-\x7f])`)
)

func content(f *multipart.FileHeader) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r) // the body was bounded
}

// placed settles subfolder and name; they must not lead out of the folder.
func (u *upload) placed() bool {
	dir, ok := within(u.root, u.subfolder)
	if !ok {
		return false
	}
	full, ok := within(u.root, path.Join(dir, u.name))
	if !ok || full == "." || strings.ContainsRune(full, 0) {
		return false
	}
	u.dir = dir
	return true
}

// store writes the file, unless it is there already with the same bytes, and gives the name that was used: a taken name
// gets a number. write makes the bytes; nil means those uploaded.
func (u *upload) store(write func() ([]byte, error)) (string, error) {
	if err := u.root.MkdirAll(u.dir, 0o700); err != nil {
		return "", err
	}
	ext := path.Ext(u.name)
	name := u.name
	for i := 1; !u.overwrite; i++ {
		there, err := u.root.ReadFile(path.Join(u.dir, name))
		if err != nil {
			break
		}
		if bytes.Equal(there, u.data) {
			now := time.Now()
			_ = u.root.Chtimes(path.Join(u.dir, name), now, now) // it is needed anew
			return name, nil
		}
		name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(u.name, ext), i, ext)
	}
	data := u.data
	if write != nil {
		var err error
		if data, err = write(); err != nil || data == nil {
			return name, err
		}
	}
	return name, u.root.WriteFile(path.Join(u.dir, name), data, 0o600)
}

// Upload answers POST /upload/image.
func (s Pictures) Upload(w http.ResponseWriter, r *http.Request) error {
	return s.postUpload(w, r, nil)
}

// UploadMask answers POST /upload/mask: it puts the alpha of the uploaded picture on the original it names. As on the real server, an original that
// is not there or not allowed leaves no file and is not reported.
func (s Pictures) UploadMask(w http.ResponseWriter, r *http.Request) error {
	return s.postUpload(w, r, s.masked)
}

func (s Pictures) postUpload(w http.ResponseWriter, r *http.Request, make func(u *upload) ([]byte, error)) error {
	u, status, err := s.readUpload(r)
	if err != nil {
		return err
	}
	if status != 0 {
		reply.Empty(w, status)
		return nil
	}
	var write func() ([]byte, error)
	if make != nil {
		write = func() ([]byte, error) { return make(u) }
	}
	name, err := u.store(write)
	if err != nil {
		return err
	}
	return reply.JSON(w, http.StatusOK, pyval.D("name", name, "subfolder", u.subfolder, "type", string(u.folder)))
}

// masked gives the original picture with the alpha of the uploaded one, or nil when there is no such original.
func (s Pictures) masked(u *upload) ([]byte, error) {
	text, _ := u.value("original_ref")
	parsed, err := pyval.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("original_ref: %w", err)
	}
	ref, ok := parsed.(*pyval.Dict)
	if !ok {
		return nil, errors.New("original_ref is not an object")
	}
	name, isText := ref.At("filename").(string)
	if !isText {
		return nil, errors.New("original_ref has no filename")
	}
	kind := "output"
	if k, given := ref.Get("type"); given {
		kind = pyval.Str(k)
	}
	subfolder, _ := ref.At("subfolder").(string)
	p, status := s.located(name, kind, subfolder)
	if status != 0 {
		return nil, nil
	}
	f, _, err := p.open()
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	original, err := s.decode(f)
	if err != nil {
		return nil, err
	}
	mask, err := s.decode(bytes.NewReader(u.data))
	if err != nil {
		return nil, err
	}
	if original.Bounds().Size() != mask.Bounds().Size() {
		return nil, errors.New("images do not match")
	}
	var b bytes.Buffer
	err = png.Encode(&b, codec.KeepAlpha(withAlpha(original, mask)))
	return slices.Clip(b.Bytes()), err
}

func withAlpha(img, mask image.Image) *image.NRGBA {
	out, alpha := opaque(img), straight(mask)
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = alpha.Pix[i]
	}
	return out
}
