package files

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// elsewhere is content that its store gives out, too.
type elsewhere struct{ *bytes.Reader }

func (elsewhere) Close() error { return nil }

func (elsewhere) Link(_ context.Context, as assets.Served) (string, error) {
	return "https://store.example/x?disposition=" + strings.ReplaceAll(as.Disposition, " ", "") + "&type=" + as.MIME, nil
}

// one is a Store with one large file.
type one struct{ mimeType string }

func (o one) OpenMedia(context.Context, registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return elsewhere{bytes.NewReader(make([]byte, maxSmallFile+1))}, registry.MediaInfo{MIMEType: o.mimeType, Bytes: maxSmallFile + 1}, nil
}

func (one) Thumbnail(context.Context, registry.Media, int) (string, []byte, error) {
	return "", nil, assets.ErrNoThumbnail
}

func (one) OwnersOf(context.Context, registry.Media, assets.Reader) ([]string, error) {
	return []string{"ann"}, nil
}

func (one) Hidden(context.Context, registry.Media) (bool, error) { return false, nil }

// A browser that plays or saves a large file gets it from where it is kept; scripts, pictures and programs get it from here,
// and a stranger's address leads nowhere.
func TestLargeFilesLeadToTheirStore(t *testing.T) {
	t.Parallel()
	links := Links{Key: []byte("0123456789abcdef")}
	for _, tc := range []struct{ mimeType, dest, query, want string }{
		{"video/mp4", "video", "", "https://store.example/x?disposition=&type=video/mp4"},
		{"video/mp4", "document", "?download", "https://store.example/x?disposition=attachment;filename=a.bin&type=video/mp4"},
		{"text/html", "document", "", "https://store.example/x?disposition=attachment;filename=a.bin&type=text/html"},
		{"image/png", "image", "", ""},
		{"video/mp4", "empty", "", ""},
		{"video/mp4", "", "", ""},
	} {
		mux := http.NewServeMux()
		s := New(Config{Links: links, Store: one{tc.mimeType}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, NotFound: http.NotFound})
		for _, r := range s.Routes() {
			mux.HandleFunc(r.Pattern, func(w http.ResponseWriter, q *http.Request) { r.Handler(w, q, users.Account{}) })
		}
		ask := func(path string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+tc.query, nil)
			r.Header.Set("Sec-Fetch-Dest", tc.dest)
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			return w
		}
		path := links.File("ann", "asset:"+strings.Repeat("ab", 32), "a.bin")
		w := ask(path)
		if got := w.Header().Get("Location"); got != tc.want {
			t.Errorf("%s as %q%s: to %q, want %q", tc.mimeType, tc.dest, tc.query, got, tc.want)
		}
		if tc.want == "" && (w.Code != http.StatusOK || w.Body.Len() != maxSmallFile+1) {
			t.Errorf("%s as %q: %d with %d bytes", tc.mimeType, tc.dest, w.Code, w.Body.Len())
		}
		if tc.want != "" && w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("the way there is kept: %q", w.Header().Get("Cache-Control"))
		}
		if w := ask(links.File("bob", "asset:"+strings.Repeat("ab", 32), "a.bin")); w.Code != http.StatusNotFound {
			t.Errorf("with a stranger's address: %d", w.Code)
		}
	}
}

// keys knows the key of each account: its id.
type keys struct{ door.Secrets }

func (keys) KeyOf(_ context.Context, key string) (users.Account, users.Key, error) {
	return users.Account{ID: key}, users.Key{ID: 1}, nil
}

// An address at the store works on for a while after a file was taken down, so where that may be, only who has the file gets one.
func TestWhatMayBeTakenDownComesFromHere(t *testing.T) {
	t.Parallel()
	links := Links{Key: []byte("0123456789abcdef")}
	d, err := door.New(door.Config{Site: door.Site{Public: &url.URL{Scheme: "http", Host: "bot.example"}}, Secrets: keys{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Key: links.Key})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{Links: links, Store: one{"video/mp4"}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, NotFound: http.NotFound, Reported: true})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /files/{sig}/{hash}/{name}", s.file)
	for who, want := range map[string]int{"ann": http.StatusTemporaryRedirect, "bob": http.StatusOK, "": http.StatusOK} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://bot.example"+links.File("ann", "asset:"+strings.Repeat("ab", 32), "a.mp4"), nil)
		r.Header.Set("Sec-Fetch-Dest", "video")
		if who != "" {
			r.Header.Set("Authorization", "Bearer "+who)
		}
		w := httptest.NewRecorder()
		d.Guard(mux).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", who, w.Code, want)
		}
	}
}

// small is a Store with one small file.
type small struct {
	one
	content string
}

func (s small) OpenMedia(context.Context, registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return io.NopCloser(strings.NewReader(s.content)), registry.MediaInfo{MIMEType: s.mimeType, Bytes: int64(len(s.content))}, nil
}

// asText are what scripts are sent as, which browsers run from our origin otherwise wherever a page names them.
var asText = map[string]string{"text/javascript": "text/plain; charset=utf-8", "application/javascript": "text/plain; charset=utf-8"}

// What could run under our origin is stored by browsers and not shown, whatever its name says.
func TestOnlyPicturesAndMediaAreShown(t *testing.T) {
	t.Parallel()
	links := Links{Key: []byte("0123456789abcdef")}
	for mimeType, shown := range map[string]bool{
		"image/png": true, "image/jpeg": true, "video/mp4": true, "application/javascript": false, "image/svg+xml": false, "text/html; charset=utf-8": false, "application/pdf": false, "text/xml; charset=utf-8": false, "text/javascript": false, "": false,
	} {
		mux := http.NewServeMux()
		s := New(Config{Links: links, Store: small{one{mimeType}, "<script>alert(1)</script>"}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, NotFound: http.NotFound})
		for _, r := range s.Routes() {
			mux.HandleFunc(r.Pattern, func(w http.ResponseWriter, q *http.Request) { r.Handler(w, q, users.Account{}) })
		}
		for range 2 { // the second time it is kept in memory
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, links.File("ann", "asset:"+strings.Repeat("cd", 32), "picture.png"), nil))
			if attached := strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment"); w.Code != http.StatusOK || attached == shown || w.Header().Get("Content-Type") != cmp.Or(asText[mimeType], mimeType) {
				t.Errorf("%q: %d %v", mimeType, w.Code, w.Header())
			}
		}
	}
}
