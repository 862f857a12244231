package bucket_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/assets/bucket"
	"github.com/signalbox/signalbox/internal/assets/bucket/buckettest"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
)

func open(t *testing.T, s *buckettest.Store, change func(*bucket.Config)) (*bucket.Bucket, error) {
	t.Helper()
	folder, err := assets.OpenFolder(filepath.Join(t.TempDir(), "assets"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := bucket.Config{
		Endpoint: s.URL, PublicEndpoint: s.URL, Bucket: buckettest.Bucket, Region: buckettest.Region,
		AccessKeyID: buckettest.AccessKeyID, SecretAccessKey: buckettest.SecretAccessKey, Staging: folder,
	}
	if change != nil {
		change(&cfg)
	}
	return bucket.Open(t.Context(), cfg)
}

func mustOpen(t *testing.T, s *buckettest.Store) *bucket.Bucket {
	t.Helper()
	b, err := open(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// put commits content and returns its hash.
func put(t *testing.T, b assets.Backend, content []byte) (string, error) {
	t.Helper()
	staged, err := b.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer staged.Discard()
	if _, err := staged.Write(content); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	return hash, staged.Commit(t.Context(), hash)
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func TestContentComesBack(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	b := mustOpen(t, s)
	for _, size := range []int{0, 1, 3 << 10, 16<<20 + 1, 33 << 20} {
		content := noise(size)
		hash, err := put(t, b, content)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		c, err := b.Open(t.Context(), hash)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		got, err := io.ReadAll(c)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %d came back, %v", size, len(got), err)
		}
		if size > 10 {
			c.Seek(-10, io.SeekEnd)
			if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, content[size-10:]) {
				t.Errorf("the last 10 of %d bytes: %d came back, %v", size, len(got), err)
			}
		}
		c.Close()
		if err := b.Delete(t.Context(), hash); err != nil {
			t.Error(err)
		}
		if _, err := b.Open(t.Context(), hash); !errors.Is(err, assets.ErrNotFound) {
			t.Errorf("after it was deleted: %v", err)
		}
	}
	if parts := s.Parts(); parts != 2+3 {
		t.Errorf("content of 16 and 33 MB took %d parts, want 2 and 3", parts)
	}
	if _, err := b.Open(t.Context(), "../house"); !errors.Is(err, assets.ErrNotFound) {
		t.Errorf("what is no hash: %v", err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	for want, change := range map[string]func(*bucket.Config){
		"S3_SECRET_ACCESS_KEY": func(c *bucket.Config) { c.SecretAccessKey = "guessed" },
		"S3_ACCESS_KEY_ID":     func(c *bucket.Config) { c.AccessKeyID = "AKOTHER" },
		"S3_BUCKET":            func(c *bucket.Config) { c.Bucket = "elsewhere" },
	} {
		_, err := open(t, s, change)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "guessed") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A store that is slow down, breaks off or falls silent costs time, and neither content nor a wrong byte.
func TestFaultsOfTheStore(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	b := mustOpen(t, s)
	content := noise(1 << 20)
	var asked atomic.Int64
	s.Fail(func(r *http.Request) buckettest.Fault {
		if asked.Add(1)%2 == 1 {
			return buckettest.Fault{Status: http.StatusServiceUnavailable}
		}
		return buckettest.Fault{Cut: 300 << 10}
	})
	hash, err := put(t, b, content)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("content that is broken off again and again: %d of %d bytes, %v", len(got), len(content), err)
	}
	c.Close()

	s.Fail(func(*http.Request) buckettest.Fault { return buckettest.Fault{Status: http.StatusForbidden} })
	if _, err := put(t, b, noise(10)); err == nil {
		t.Error("content that the store refuses counts as kept")
	}
	if names := s.Names(); !slices.Equal(names, []string{"assets/" + hash}) {
		t.Errorf("the store has %v", names)
	}
}

// An object that is another than the one that was opened is not mixed with it.
func TestContentOfOneVersion(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	b := mustOpen(t, s)
	hash, err := put(t, b, noise(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s.Change("assets/"+hash, noise(1<<20))
	if got, err := io.ReadAll(c); err == nil {
		t.Errorf("%d bytes of another version", len(got))
	}
}

func TestLinksOpenAtTheStore(t *testing.T) {
	t.Parallel()
	s := buckettest.New(t)
	b := mustOpen(t, s)
	hash, err := put(t, b, []byte("<b>hello</b>"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	link, err := c.(assets.Linked).Link(t.Context(), assets.Served{MIME: "text/html", Disposition: `attachment; filename="a b.html"`})
	if err != nil {
		t.Fatal(err)
	}
	res, got := get(t, link)
	if res.StatusCode != http.StatusOK || got != "<b>hello</b>" || res.Header.Get("Content-Type") != "text/html" || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%s %q %v", res.Status, got, res.Header)
	}
	if res, _ := get(t, strings.Replace(link, "attachment", "inline", 1)); res.StatusCode != http.StatusForbidden {
		t.Errorf("with another disposition than the signed one: %s", res.Status)
	}

	for as, want := range map[assets.Served]string{{MIME: "video/mp4"}: "3600", {MIME: "video/mp4", Disposition: "attachment"}: "300"} {
		link, err := c.(assets.Linked).Link(t.Context(), as)
		if at, _ := url.Parse(link); err != nil || at.Query().Get("X-Amz-Expires") != want {
			t.Errorf("%+v: %s, %v", as, link, err)
		}
	}

	inner, err := open(t, s, func(c *bucket.Config) { c.PublicEndpoint = nil })
	if err != nil {
		t.Fatal(err)
	}
	c, err = inner.Open(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, can := c.(assets.Linked); can {
		t.Error("content of a store that browsers do not reach has an address")
	}
}

func get(t *testing.T, address string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(content)
}

// Files move to the bucket and back; a move that breaks off goes on, and damage is told and not carried along.
func TestMoveAll(t *testing.T) {
	t.Parallel()
	folder, err := assets.OpenFolder(filepath.Join(t.TempDir(), "assets"))
	if err != nil {
		t.Fatal(err)
	}
	s := buckettest.New(t)
	b, pool := mustOpen(t, s), postgrestest.New(t)
	before := assets.New(pool, folder, 0)
	files := map[assets.Ref][]byte{}
	for range 20 {
		content := noise(4 << 10)
		ref, err := before.Put(t.Context(), bytes.NewReader(content), assets.Meta{})
		if err != nil {
			t.Fatal(err)
		}
		files[ref] = content
	}
	all := func(place assets.Backend) {
		t.Helper()
		for ref, content := range files {
			c, err := assets.New(pool, place, 0).Open(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes, %v", ref, len(got), err)
			}
			c.Close()
		}
	}
	var puts atomic.Int64
	s.Fail(func(r *http.Request) buckettest.Fault {
		if r.Method == http.MethodPut && puts.Add(1) > 7 {
			return buckettest.Fault{Status: http.StatusForbidden}
		}
		return buckettest.Fault{}
	})
	first, err := assets.MoveAll(t.Context(), pool, folder, b)
	if err == nil || first.Moved.Files == 0 {
		t.Fatalf("a move that the store broke off: %+v, %v", first, err)
	}
	all(assets.Both{First: b, Second: folder})
	s.Fail(nil)
	second, err := assets.MoveAll(t.Context(), pool, folder, b)
	if err != nil || second.Moved.Files+second.There != int64(len(files)) || len(second.Missing) > 0 {
		t.Fatalf("%+v, then %+v, %v", first, second, err)
	}
	all(b)
	for ref := range files {
		if _, err := folder.Open(t.Context(), ref.Hash()); !errors.Is(err, assets.ErrNotFound) {
			t.Errorf("%s is still in the folder: %v", ref, err)
		}
	}

	var damaged assets.Ref
	for ref := range files {
		damaged = ref
	}
	s.Change("assets/"+damaged.Hash(), noise(4<<10))
	if _, err := assets.MoveAll(t.Context(), pool, b, folder); err == nil || !strings.Contains(err.Error(), string(damaged)) {
		t.Errorf("damaged content: %v", err)
	}
	if _, err := folder.Open(t.Context(), damaged.Hash()); !errors.Is(err, assets.ErrNotFound) {
		t.Errorf("damaged content was taken: %v", err)
	}
	s.Change("assets/"+damaged.Hash(), files[damaged])
	if _, err := assets.MoveAll(t.Context(), pool, b, folder); err != nil {
		t.Fatal(err)
	}
	all(folder)
	if names := s.Names(); len(names) != 0 {
		t.Errorf("left in the bucket: %v", names)
	}
}
