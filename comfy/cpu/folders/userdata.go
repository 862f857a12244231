package folders

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// Bounds of what a client may keep on the server.
const (
	maxUserFile  = 32 << 20
	maxUserBytes = 512 << 20
	maxUserFiles = 10_000
	maxSettings  = 1 << 20
)

const (
	userHome     = "default" // the one user's folder
	settingsFile = userHome + "/comfy.settings.json"
)

// User is what clients keep on the server: files and settings of one user. nil keeps nothing.
type User struct {
	root *os.Root
	log  *slog.Logger
	mu   sync.Mutex // held while something changes
}

// OpenUser opens the folder, and makes it where it is missing; without one it is nil.
func OpenUser(dir string, log *slog.Logger) (*User, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("user folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("user folder: %w", err)
	}
	return &User{root: root, log: log}, nil
}

// Close lets go of the folder.
func (u *User) Close() error {
	if u == nil {
		return nil
	}
	return u.root.Close()
}

// place cleans a name as a client sends it, perhaps escaped twice. ok is false when it leads out of the user's folder, and when no
// user data is kept.
func (u *User) place(name string) (full string, ok bool) {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if u == nil || strings.ContainsRune(name, 0) {
		return "", false
	}
	rel, ok := within(u.root, name)
	return path.Join(userHome, rel), ok
}

// below is a file's name as clients know it.
func below(full, dir string) string {
	return strings.TrimPrefix(strings.TrimPrefix(full, dir), "/")
}

var errUserDataFull = errors.New("the user folder is full")

// makeRoom makes the folders of a file of that size, or refuses. The lock is held.
func (u *User) makeRoom(full string, size int64) error {
	entries := 1 // folders count, too
	err := fs.WalkDir(u.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == full {
			return err
		}
		entries++
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			size += info.Size()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case size > maxUserBytes || entries > maxUserFiles:
		return errUserDataFull
	}
	return u.root.MkdirAll(path.Dir(full), 0o700)
}

// write puts a file in place as a whole. The lock is held.
func (u *User) write(full string, data []byte) error {
	if err := u.makeRoom(full, int64(len(data))); err != nil {
		return err
	}
	part := path.Join(path.Dir(full), "."+uuid.NewString()+".part")
	err := u.root.WriteFile(part, data, 0o600)
	if err == nil {
		err = u.root.Rename(part, full)
	}
	if err != nil {
		_ = u.root.Remove(part)
	}
	return err
}

// fileInfo is how clients see a file in a folder.
func fileInfo(info fs.FileInfo, name string) *pyval.Dict {
	at := info.ModTime().UnixMilli()
	return pyval.D("path", name, "size", info.Size(), "modified", at, "created", at)
}

// stored answers with the file that was written or moved.
func (u *User) stored(w http.ResponseWriter, r *http.Request, full string) error {
	name := below(full, userHome)
	if !strings.EqualFold(r.URL.Query().Get("full_info"), "true") {
		return reply.JSON(w, http.StatusOK, name)
	}
	info, err := u.root.Stat(full)
	if err != nil {
		return err
	}
	return reply.JSON(w, http.StatusOK, fileInfo(info, name))
}

// taken refuses to overwrite a file where the client does not want it.
func (u *User) taken(w http.ResponseWriter, r *http.Request, full string) bool {
	if r.URL.Query().Get("overwrite") != "false" {
		return false
	}
	if _, err := u.root.Stat(full); err != nil {
		return false
	}
	reply.Plain(w, http.StatusConflict, "File already exists")
	return true
}

// Users answers GET /users.
func (u *User) Users(w http.ResponseWriter, _ *http.Request) error {
	migrated := false
	if u != nil {
		_, err := u.root.Stat(userHome)
		migrated = err == nil
	}
	return reply.JSON(w, http.StatusOK, pyval.D("storage", "server", "migrated", migrated))
}

// List answers GET /userdata: it lists the files of a folder. Hidden ones are left out, as by glob.
func (u *User) List(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if q.Get("dir") == "" {
		reply.Plain(w, http.StatusBadRequest, "Directory not provided")
		return nil
	}
	dir, ok := u.place(q.Get("dir"))
	if !ok && u != nil {
		reply.Plain(w, http.StatusForbidden, "Invalid directory")
		return nil
	}
	if u == nil || !u.exists(dir) {
		reply.Plain(w, http.StatusNotFound, "Directory not found")
		return nil
	}
	is := func(name string) bool { return strings.EqualFold(q.Get(name), "true") }
	list := []any{}
	err := fs.WalkDir(u.root.FS(), dir, func(full string, d fs.DirEntry, err error) error {
		name := below(full, dir)
		switch {
		case err != nil:
			return err
		case name == "":
			return nil
		case d.IsDir() && (!is("recurse") || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "."):
			return nil
		case is("full_info"):
			info, err := d.Info()
			if err == nil {
				list = append(list, fileInfo(info, name))
			}
			return err
		case is("split"):
			list = append(list, pyval.Normalize(append([]string{name}, strings.Split(name, "/")...)))
		default:
			list = append(list, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return reply.JSON(w, http.StatusOK, list)
}

func (u *User) exists(full string) bool {
	_, err := u.root.Stat(full)
	return err == nil
}

// ListV2 answers GET /v2/userdata: it lists files and folders, folders first.
func (u *User) ListV2(w http.ResponseWriter, r *http.Request) error {
	dir, ok := u.place(r.URL.Query().Get("path"))
	if !ok && u != nil {
		reply.Plain(w, http.StatusBadRequest, "Invalid path requested")
		return nil
	}
	if u == nil || dir == userHome && !u.exists(dir) {
		return reply.EmptyList(w, r)
	}
	info, err := u.root.Stat(dir)
	switch {
	case err != nil:
		reply.Plain(w, http.StatusNotFound, "Requested path not found")
		return nil
	case !info.IsDir():
		reply.Plain(w, http.StatusBadRequest, "Requested path is not a directory")
		return nil
	}
	var folders, files []*pyval.Dict
	err = fs.WalkDir(u.root.FS(), dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == dir {
			return err
		}
		name := below(full, userHome)
		if d.IsDir() {
			folders = append(folders, pyval.D("name", d.Name(), "path", name, "type", "directory"))
			return nil
		}
		info, err := d.Info()
		if err == nil {
			files = append(files, pyval.D("name", d.Name(), "path", name, "type", "file", "size", info.Size(),
				"modified", float64(info.ModTime().UnixMicro())/1e6))
		}
		return err
	})
	if err != nil {
		return err
	}
	list := []any{}
	for _, kind := range [][]*pyval.Dict{folders, files} {
		slices.SortStableFunc(kind, func(a, b *pyval.Dict) int {
			return strings.Compare(strings.ToLower(pyval.Str(a.At("name"))), strings.ToLower(pyval.Str(b.At("name"))))
		})
		for _, entry := range kind {
			list = append(list, entry)
		}
	}
	return reply.JSON(w, http.StatusOK, list)
}

// Get answers GET /userdata/{file}.
func (u *User) Get(w http.ResponseWriter, r *http.Request) error {
	full, ok := u.place(r.PathValue("file"))
	if !ok {
		reply.Empty(w, http.StatusForbidden)
		return nil
	}
	f, info, err := fileRef{u.root, full}.open()
	if err != nil {
		return reply.NotFound(w, r)
	}
	defer func() { _ = f.Close() }()
	w.Header().Set("Content-Type", contentType(full))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.Header().Set("Content-Disposition", "attachment")
	http.ServeContent(w, r, "", info.ModTime(), f)
	return nil
}

// Post answers POST /userdata/{file}.
func (u *User) Post(w http.ResponseWriter, r *http.Request) error {
	full, ok := u.place(r.PathValue("file"))
	if !ok {
		reply.Empty(w, http.StatusForbidden)
		return nil
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUserFile))
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.taken(w, r, full) {
		return nil
	}
	switch err := u.write(full, data); {
	case errors.Is(err, errUserDataFull):
		reply.Plain(w, http.StatusInsufficientStorage, err.Error())
		return nil
	case err != nil:
		u.log.Debug("user data was not written", "error", err)
		reply.Plain(w, http.StatusBadRequest, `Invalid filename. Please avoid special characters like :\/*?"<>|`)
		return nil
	}
	return u.stored(w, r, full)
}

// Delete answers DELETE /userdata/{file}.
func (u *User) Delete(w http.ResponseWriter, r *http.Request) error {
	full, ok := u.place(r.PathValue("file"))
	if !ok {
		reply.Empty(w, http.StatusForbidden)
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	info, err := u.root.Lstat(full)
	if err != nil {
		return reply.NotFound(w, r)
	}
	if info.IsDir() {
		return errors.New("it is a folder")
	}
	if err := u.root.Remove(full); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Move answers POST /userdata/{file}/move/{dest}.
func (u *User) Move(w http.ResponseWriter, r *http.Request) error {
	from, ok := u.place(r.PathValue("file"))
	if !ok {
		reply.Empty(w, http.StatusForbidden)
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.exists(from) {
		return reply.NotFound(w, r)
	}
	to, ok := u.place(r.PathValue("dest"))
	if !ok || from == userHome {
		reply.Empty(w, http.StatusForbidden)
		return nil
	}
	if u.taken(w, r, to) {
		return nil
	}
	if err := u.makeRoom(to, 0); err != nil {
		return err
	}
	if err := u.root.Rename(from, to); err != nil {
		return err
	}
	return u.stored(w, r, to)
}

// settings are those that are stored.
func (u *User) settings() (*pyval.Dict, error) {
	if u == nil {
		return &pyval.Dict{}, nil
	}
	data, err := u.root.ReadFile(settingsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &pyval.Dict{}, nil
	}
	if err != nil {
		return nil, err
	}
	return reply.Dict(bytes.NewReader(data))
}

// GetSettings answers GET /settings.
func (u *User) GetSettings(w http.ResponseWriter, _ *http.Request) error {
	d, err := u.settings()
	if err != nil {
		return err
	}
	return reply.JSON(w, http.StatusOK, d)
}

// GetSetting answers GET /settings/{id}.
func (u *User) GetSetting(w http.ResponseWriter, r *http.Request) error {
	d, err := u.settings()
	if err != nil {
		return err
	}
	return reply.JSON(w, http.StatusOK, d.At(r.PathValue("id")))
}

// PostSettings answers POST /settings.
func (u *User) PostSettings(w http.ResponseWriter, r *http.Request) error {
	d, err := reply.DictBody(r)
	if err != nil {
		return err
	}
	return u.changeSettings(w, d)
}

// PostSetting answers POST /settings/{id}.
func (u *User) PostSetting(w http.ResponseWriter, r *http.Request) error {
	v, err := reply.Body(r)
	if err != nil {
		return err
	}
	return u.changeSettings(w, pyval.D(r.PathValue("id"), v))
}

func (u *User) changeSettings(w http.ResponseWriter, changes *pyval.Dict) error {
	if u == nil {
		reply.Empty(w, http.StatusForbidden)
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	d, err := u.settings()
	if err != nil {
		return err
	}
	for _, id := range changes.Keys() {
		d.Set(id, changes.At(id))
	}
	text := pyval.Dumps(d)
	if len(text) > maxSettings {
		return &http.MaxBytesError{Limit: maxSettings}
	}
	if err := u.write(settingsFile, []byte(text)); err != nil {
		return err
	}
	reply.Empty(w, http.StatusOK)
	return nil
}
