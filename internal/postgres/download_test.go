//go:build unix

package postgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/postgres/cluster"
)

func TestFetchedProgramsWork(t *testing.T) {
	t.Parallel()
	local := localBinaries(t)
	mirror := newMirror(t, archive(t, programs(local)...))
	dir := newDir(t)
	d := Download{MirrorURL: mirror.URL, CacheDir: filepath.Join(dir, "cache")}
	user := serverUser(t, dir)
	group, ctx := errgroup.WithContext(t.Context())
	var watched counter
	var size, begun atomic.Int64
	both := make(chan struct{})
	d.Progress = func(bytes int64) io.Writer {
		size.Store(bytes)
		if begun.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both: // neither has a result that the other could find
		case <-ctx.Done():
		}
		return &watched
	}

	// Two programs that start together may both fetch.
	for range 2 {
		group.Go(func() error {
			_, err := d.fetch(ctx, 0, user)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if watched.Len() < 2*len(mirror.archive) || size.Load() != int64(len(mirror.archive)) {
		t.Errorf("of two fetches of %d bytes %d were watched, said to be %d each", len(mirror.archive), watched.Len(), size.Load())
	}
	before := mirror.requests.Load()
	fetched, err := d.fetch(t.Context(), 0, user)
	if err != nil {
		t.Fatal(err)
	}
	if again := mirror.requests.Load() - before; again != 0 {
		t.Errorf("what is cached was fetched again with %d requests", again)
	}
	if fetched.Version != local.Version || !strings.HasPrefix(fetched.Dir, dir) {
		t.Errorf("got %+v, want version %s below %s", fetched, local.Version, dir)
	}
	c := &cluster.Cluster{Dir: dir, Binaries: fetched, User: user}
	if err := c.Init(t.Context()); err != nil {
		t.Errorf("initdb from the fetched programs: %v", err)
	}
	assertOnly(t, d.CacheDir, filepath.Base(filepath.Dir(fetched.Dir)))
}

// counter counts what is written to it.
type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// Len is how many bytes were written.
func (c *counter) Len() int { return int(c.n.Load()) }

func TestFetchRefusals(t *testing.T) {
	t.Parallel()
	good := []tar.Header{{Name: "bin/initdb", Mode: 0o755}}
	for _, tc := range []struct {
		name   string
		damage func(*mirror)
		files  []tar.Header
		want   string
	}{
		{"a damaged archive", func(m *mirror) { m.archive = append(m.archive, 0) }, good, "damaged"},
		{"no checksum", func(m *mirror) { m.sum = "" }, good, "404"},
		{"a page instead of a checksum", func(m *mirror) { m.sum = "<html>not found</html>" }, good, "no SHA-256"},
		{"no archive", func(m *mirror) { m.archive = nil }, good, "404"},
		{"no zip", func(m *mirror) { m.set([]byte("plain text")) }, good, "unpack"},
		{"a zip without programs", func(m *mirror) { m.set(zipped(t, "readme.txt", nil)) }, good, "no .txz"},
		{"a file outside", nil, []tar.Header{{Name: "../../evil", Mode: 0o755}}, "evil"},
		{"a file through a link", nil, []tar.Header{{Name: "out", Linkname: "/tmp", Typeflag: tar.TypeSymlink}, {Name: "out/evil", Mode: 0o755}}, "evil"},
		{"programs that do not run", nil, good, "initdb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			mirror := newMirror(t, archive(t, tc.files...))
			if tc.damage != nil {
				tc.damage(mirror)
			}
			dir := newDir(t)
			d := Download{MirrorURL: mirror.URL + "/", CacheDir: filepath.Join(dir, "cache")}
			_, err := d.fetch(t.Context(), 0, serverUser(t, dir))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("fetch: %v, want an error with %q", err, tc.want)
			}
			if tc.name != "programs that do not run" {
				assertOnly(t, d.CacheDir)
			}
			if _, err := os.Stat(filepath.Join(dir, "evil")); err == nil {
				t.Error("a file escaped")
			}
		})
	}
}

func TestNoBinariesAndNoNetworkIsOneLineWithThePackage(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	d := Download{MirrorURL: "http://" + unusedAddress(t), CacheDir: filepath.Join(dir, "cache")}
	_, err := d.insteadOf(t.Context(), cluster.ErrNoBinaries, 0, serverUser(t, dir))
	if !errors.Is(err, ErrNoBinaries) {
		t.Fatalf("got %v, want ErrNoBinaries", err)
	}
	for _, want := range []string{"install", "DATABASE_URL", "refused"} {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want one line with %q, got %q", want, err)
		}
	}
}

// A machine that moved on to another Postgres, as with a new release of the system.
func TestOtherVersionAndNoNetworkIsOneLineAboutTheData(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	d := Download{MirrorURL: "http://" + unusedAddress(t), CacheDir: filepath.Join(dir, "cache")}
	_, err := d.insteadOf(t.Context(), fmt.Errorf("%w of version 15 (found 17.10)", ErrNoBinaries), 15, serverUser(t, dir))
	if !errors.Is(err, ErrForeignVersion) {
		t.Fatalf("got %v, want ErrForeignVersion", err)
	}
	for _, want := range []string{"the data needs Postgres 15", "found 17.10", "refused", "install", "pg_upgrade"} {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want one line with %q, got %q", want, err)
		}
	}
	if strings.Contains(err.Error(), "DATABASE_URL") {
		t.Errorf("another database does not hold the data: %q", err)
	}
}

// mirror serves one archive under every name that ends in .jar.
type mirror struct {
	*httptest.Server
	archive  []byte // nil: not found
	sum      string // "": not found
	requests atomic.Int64
}

func newMirror(t *testing.T, archive []byte) *mirror {
	t.Helper()
	m := &mirror{}
	m.set(archive)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.requests.Add(1)
		switch {
		case !strings.HasPrefix(r.URL.Path, "/io/zonky/test/postgres/embedded-postgres-binaries-"):
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, ".jar") && m.archive != nil:
			w.Write(m.archive)
		case strings.HasSuffix(r.URL.Path, ".jar.sha256") && m.sum != "":
			w.Write([]byte(m.sum))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// set makes the mirror serve archive with its right checksum.
func (m *mirror) set(archive []byte) {
	sum := sha256.Sum256(archive)
	m.archive, m.sum = archive, hex.EncodeToString(sum[:])
}

// localBinaries are the programs of this machine.
func localBinaries(t *testing.T) cluster.Binaries {
	t.Helper()
	needBinaries(t)
	local, err := cluster.Find(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return local
}

// programs lists stand-ins for the archive's programs that call the local ones.
func programs(local cluster.Binaries) []tar.Header {
	var files []tar.Header
	for _, name := range []string{"initdb", "postgres"} {
		files = append(files, tar.Header{Name: "bin/" + name, Mode: 0o755, Linkname: local.Path(name)})
	}
	return append(files, tar.Header{Name: "share", Typeflag: tar.TypeDir},
		tar.Header{Name: "lib/link", Typeflag: tar.TypeSymlink, Linkname: "../bin/postgres"})
}

// archive packs files as the public builds are: tar in xz in zip. A file is a
// script that runs its Linkname.
func archive(t *testing.T, files ...tar.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, h := range files {
		var script string
		if h.Typeflag == 0 {
			script = "#!/bin/sh\nexec \"" + h.Linkname + "\" \"$@\"\n"
			h.Typeflag, h.Linkname, h.Size = tar.TypeReg, "", int64(len(script))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(script)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return zipped(t, "postgres-linux-x86_64.txz", xzStored(packed.Bytes()))
}

func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	f, err := w.Create(name)
	if err == nil {
		_, err = f.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// xzStored wraps content in the xz format (https://tukaani.org/xz/xz-file-format.txt)
// with one block of uncompressed LZMA2 chunks and a CRC-32.
func xzStored(content []byte) []byte {
	crc := func(b []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b)) }
	pad := func(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }
	flags := []byte{0, 1}
	out := append([]byte("\xfd7zXZ\x00"), flags...)
	out = append(out, crc(flags)...)

	header := []byte{2, 0, 0x21, 1, 0x10, 0, 0, 0}
	block := append(header, crc(header)...)
	control := byte(1)
	for rest := content; len(rest) > 0; control = 2 {
		n := min(len(rest), 1<<16)
		block = append(block, control, byte((n-1)>>8), byte(n-1))
		block = append(block, rest[:n]...)
		rest = rest[n:]
	}
	block = append(block, 0)
	unpadded := len(block) + 4
	out = append(out, append(pad(block), crc(content)...)...)

	index := binary.AppendUvarint([]byte{0, 1}, uint64(unpadded))
	index = pad(binary.AppendUvarint(index, uint64(len(content))))
	index = append(index, crc(index)...)
	footer := append(binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1)), flags...)
	out = append(append(out, index...), crc(footer)...)
	return append(append(out, footer...), 'Y', 'Z')
}

// assertOnly checks what a folder holds.
func assertOnly(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
