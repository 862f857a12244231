package assets_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/comfy/cpu/codec"
	"github.com/signalbox/signalbox/comfy/cpu/tensor"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

// bundle is a store with what is under it.
type bundle struct {
	store *assets.Store
	pool  *pgxpool.Pool
	dir   string
}

func setup(t *testing.T, maxBytes int64) bundle {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "assets")
	folder, err := assets.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	pool := postgrestest.New(t)
	return bundle{assets.New(pool, folder, maxBytes), pool, dir}
}

func TestPutTellsWhatContentIs(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	picture := image.NewGray(image.Rect(0, 0, 7, 5))
	for _, tc := range []struct {
		name    string
		content []byte
		want    assets.Info
	}{
		{"photo.png", encode(t, func(w io.Writer) error { return png.Encode(w, picture) }),
			assets.Info{MIME: "image/png", Width: 7, Height: 5}},
		{"photo.jpg", encode(t, func(w io.Writer) error { return jpeg.Encode(w, picture, nil) }),
			assets.Info{MIME: "image/jpeg", Width: 7, Height: 5}},
		{"named.png but a gif", encode(t, func(w io.Writer) error { return gif.Encode(w, picture, nil) }),
			assets.Info{MIME: "image/gif", Width: 7, Height: 5}},
		{"moving.png", encode(t, func(w io.Writer) error {
			return codec.EncodeAPNG(w, &tensor.Image{B: 2, W: 7, H: 5, C: 3, Pix: make([]float32, 2*7*5*3)}, 4, 6, nil)
		}), assets.Info{MIME: "image/apng", Width: 7, Height: 5}},
		{"bomb.png", hugePNG(), assets.Info{MIME: "image/png", Width: 1 << 20, Height: 1 << 20}},
		{"cut.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"), assets.Info{MIME: "image/png"}},
		{"note.txt", []byte("příliš žluťoučký kůň"), assets.Info{MIME: "text/plain; charset=utf-8"}},
		{"model.glb", []byte("glTF\x02\x00\x00\x00\x0c\x00\x00\x00"), assets.Info{MIME: "model/gltf-binary"}},
		{"unknown", []byte{0, 1, 2, 3}, assets.Info{MIME: "application/octet-stream"}},
		{"empty", []byte{}, assets.Info{MIME: "text/plain"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ref := put(t, b.store, tc.content, tc.name)
			got, err := b.store.Stat(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Ref, tc.want.Size, tc.want.Name = ref, int64(len(tc.content)), tc.name
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(assets.Info{}, "CreatedAt")); diff != "" {
				t.Errorf("Stat (-want +got):\n%s", diff)
			}
			if age := time.Since(got.CreatedAt); age < -time.Minute || age > time.Minute {
				t.Errorf("created %v ago", age)
			}
			if content := read(t, b.store, ref); !bytes.Equal(content, tc.content) {
				t.Errorf("Open gives %d bytes, want %d", len(content), len(tc.content))
			}
		})
	}
}

func TestPutOfEqualContentStoresItOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	content := bytes.Repeat([]byte("equal"), 10_000)
	var group errgroup.Group
	refs := make([]assets.Ref, 8)
	for i := range refs {
		group.Go(func() (err error) {
			refs[i], err = b.store.Put(t.Context(), bytes.NewReader(content), assets.Meta{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		if ref != refs[0] {
			t.Fatalf("references %v, want one", refs)
		}
	}
	if want := fmt.Sprintf("asset:%x", sha256.Sum256(content)); string(refs[0]) != want {
		t.Errorf("reference %s, want %s", refs[0], want)
	}
	if files := filesIn(t, b.dir); len(files) != 1 || files[0] != onDisk(refs[0]) {
		t.Errorf("the folder holds %v, want only %s", files, onDisk(refs[0]))
	}
}

func TestPutLeavesNothingBehindOnFailure(t *testing.T) {
	t.Parallel()
	b := setup(t, 100)
	broken := errors.New("connection lost")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name    string
		ctx     context.Context
		content io.Reader
		want    error
	}{
		{"too large", t.Context(), strings.NewReader(strings.Repeat("x", 101)), assets.ErrTooLarge},
		{"the sender fails", t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), broken},
		{"cancelled", cancelled, strings.NewReader("x"), context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := b.store.Put(tc.ctx, tc.content, assets.Meta{}); !errors.Is(err, tc.want) {
				t.Errorf("Put: %v, want %v", err, tc.want)
			}
			if files := filesIn(t, b.dir); len(files) != 0 {
				t.Errorf("the folder holds %v", files)
			}
		})
	}
	t.Run("just at the limit", func(t *testing.T) {
		put(t, b.store, bytes.Repeat([]byte("x"), 100), "")
	})
}

func TestMissingContent(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	for _, ref := range []assets.Ref{
		"asset:" + assets.Ref(strings.Repeat("0", 64)), "", "asset:", "asset:../../etc/passwd", "asset:" + assets.Ref(strings.Repeat("A", 64)),
	} {
		if _, err := b.store.Open(t.Context(), ref); !errors.Is(err, assets.ErrNotFound) {
			t.Errorf("Open(%q): %v, want ErrNotFound", ref, err)
		}
		if _, err := b.store.Stat(t.Context(), ref); !errors.Is(err, assets.ErrNotFound) {
			t.Errorf("Stat(%q): %v, want ErrNotFound", ref, err)
		}
	}
}

func TestSweepFreesBytes(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	ref := put(t, b.store, []byte("short-lived"), "")
	reader, err := b.store.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	b.age(t)
	if freed, err := b.store.Sweep(t.Context()); err != nil || freed != (assets.Space{Files: 1, Bytes: 11}) {
		t.Fatalf("freed %v, %v", freed, err)
	}
	if _, err := b.store.Stat(t.Context(), ref); !errors.Is(err, assets.ErrNotFound) {
		t.Errorf("Stat after Delete: %v", err)
	}
	if files := filesIn(t, b.dir); len(files) != 0 {
		t.Errorf("the folder holds %v after Delete", files)
	}
	if rest, err := io.ReadAll(reader); err != nil || string(rest) != "short-lived" {
		t.Errorf("an open reader gets %q, %v", rest, err)
	}
	if again := put(t, b.store, []byte("short-lived"), ""); again != ref {
		t.Errorf("stored again as %s, want %s", again, ref)
	}
}

func TestPutAndSweepRace(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	content := []byte("contended")
	ref := put(t, b.store, content, "")
	var group errgroup.Group
	for i := range 40 {
		group.Go(func() error {
			if i%2 == 0 {
				if _, err := b.pool.Exec(t.Context(), `UPDATE assets SET put_at = '-infinity' WHERE hash = $1`, ref.Hash()); err != nil {
					return err
				}
				_, err := b.store.Collect(t.Context())
				return err
			}
			_, err := b.store.Put(t.Context(), bytes.NewReader(content), assets.Meta{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	_, err := b.store.Stat(t.Context(), ref)
	row := err == nil
	if files := filesIn(t, b.dir); row && len(files) == 0 {
		t.Error("the row is there but its bytes are not")
	}
}

func TestPutMendsLostBytes(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	ref := put(t, b.store, []byte("precious"), "")
	if err := os.Remove(filepath.Join(b.dir, onDisk(ref))); err != nil {
		t.Fatal(err)
	}
	put(t, b.store, []byte("precious"), "")
	if got := read(t, b.store, ref); string(got) != "precious" {
		t.Errorf("read %q", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	b := setup(t, 0)
	for i, tc := range []struct{ given, want string }{
		{"", ""},
		{"plain.png", "plain.png"},
		{"../../etc/passwd", "passwd"},
		{`C:\Users\me\pic.png`, "pic.png"},
		{"line\nbreak\x00.png", "linebreak.png"},
		{"bad\xffutf8.png", "badutf8.png"},
		{"..", ""},
		{"/", ""},
		{strings.Repeat("ž", 200) + ".png", strings.Repeat("ž", 125) + ".png"},
	} {
		ref := put(t, b.store, []byte{byte(i)}, tc.given)
		info, err := b.store.Stat(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if info.Name != tc.want {
			t.Errorf("name %q is kept as %q, want %q", tc.given, info.Name, tc.want)
		}
	}
}

func TestOpenFolderClearsOnlyStaleLeftovers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	staging := filepath.Join(dir, "tmp")
	if err := os.Mkdir(staging, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, age := range map[string]time.Duration{"old": 48 * time.Hour, "new": time.Minute} {
		path := filepath.Join(staging, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := assets.OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join("tmp", "new")}, filesIn(t, dir)); diff != "" {
		t.Errorf("left in the folder (-want +got):\n%s", diff)
	}
}

func TestParseRef(t *testing.T) {
	t.Parallel()
	good := "asset:" + strings.Repeat("0123456789abcdef", 4)
	if ref, err := assets.ParseRef(good); err != nil || string(ref) != good || ref.Hash() != good[6:] {
		t.Errorf("ParseRef(%q): %q, %v", good, ref, err)
	}
	for _, bad := range []string{"", "asset:", good[:69], good + "0", strings.ToUpper(good), good[6:], "asset:" + strings.Repeat("../", 21) + "a"} {
		if _, err := assets.ParseRef(bad); err == nil {
			t.Errorf("ParseRef(%q) gives no error", bad)
		}
	}
}

func put(t *testing.T, store *assets.Store, content []byte, name string) assets.Ref {
	t.Helper()
	ref, err := store.Put(t.Context(), bytes.NewReader(content), assets.Meta{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func read(t *testing.T, store *assets.Store, ref assets.Ref) []byte {
	t.Helper()
	content, err := store.Open(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	all, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func encode(t *testing.T, f func(io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := f(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hugePNG claims a size whose pixels no machine could hold.
func hugePNG() []byte {
	header := []byte("IHDR\x00\x10\x00\x00\x00\x10\x00\x00\x08\x06\x00\x00\x00")
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(header))
}

func onDisk(ref assets.Ref) string {
	hash := ref.Hash()
	return filepath.Join(hash[:2], hash[2:4], hash)
}

// filesIn lists all files below dir.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWordsOfASize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{101: "101 bytes", 641_575: "626 kB", 5 << 20: "5 MB", 3 << 29: "1.5 GB"} {
		if got := assets.Words(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
