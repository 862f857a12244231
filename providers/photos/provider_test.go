package photos_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/providers/photos"
	"github.com/signalbox/signalbox/providers/photos/photostest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// store names files by their content, as ours does.
type store struct{}

func (store) Keep(_ context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return fmt.Sprintf("asset:%x", h.Sum(nil)), registry.MediaInfo{Name: meta.Name, MIMEType: "image/jpeg", Bytes: n, Width: 16, Height: 12}, err
}

func house(t *testing.T, change ...func(*photos.Config)) (*photos.Provider, *photostest.Server) {
	t.Helper()
	server := photostest.New(t)
	cfg := photos.Config{
		UnsplashKey: photostest.UnsplashKey, UnsplashURL: server.UnsplashURL(), PexelsKey: photostest.PexelsKey, PexelsURL: server.PexelsURL(),
		Store: store{}, Guard: outbound.NewClient([]string{"127.0.0.1"}),
		Link: func(_ string, ref registry.Media, name string) string {
			return "/uploads/" + strings.TrimPrefix(ref, "asset:") + "/" + name
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	p, err := photos.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p, server
}

func noUnsplash(c *photos.Config) { c.UnsplashKey = "" }
func noPexels(c *photos.Config)   { c.PexelsKey = "" }

// find gives a tool, or fails.
func find(t *testing.T, p *photos.Provider, id string) registry.Tool {
	t.Helper()
	tools, err := p.Load(t.Context())
	i := slices.IndexFunc(tools, func(one registry.Tool) bool { return one.ToolID == id })
	if err != nil || i < 0 {
		t.Fatalf("there is no tool %s: %v", id, err)
	}
	return tools[i]
}

func call(t *testing.T, p *photos.Provider, id string, inputs map[string]any) (registry.Result, error) {
	t.Helper()
	return p.Call(t.Context(), registry.Call{RunID: "r", Tool: find(t, p, id), Inputs: inputs})
}

// output reads the text of an output.
func output(t *testing.T, r registry.Result, name string) string {
	t.Helper()
	i := slices.IndexFunc(r.Outputs, func(o registry.Output) bool { return o.Name == name })
	if i < 0 {
		t.Fatalf("there is no output %s", name)
	}
	return r.Outputs[i].Text
}

func items(t *testing.T, p *photos.Provider, id string, inputs map[string]any) []photos.Item {
	t.Helper()
	r, err := call(t, p, id, inputs)
	if err != nil {
		t.Fatal(err)
	}
	var list []photos.Item
	text := output(t, r, "items")
	if err := json.Unmarshal([]byte(text), &list); err != nil || !strings.HasPrefix(text, "[") {
		t.Fatalf("no array: %s, %v", text, err)
	}
	return list
}

func TestContracts(t *testing.T) {
	t.Parallel()
	registrytest.TestLoader(t, func(t *testing.T) registrytest.LoaderSetup {
		p, _ := house(t)
		return registrytest.LoaderSetup{Loader: p}
	})
	registrytest.TestCaller(t, func(t *testing.T) registrytest.CallerSetup {
		line := registrytest.NewLine(t, nil)
		p, server := house(t, func(c *photos.Config) { c.HTTP = line.Client() })
		return registrytest.CallerSetup{
			Caller: p, Line: line, Secret: photostest.UnsplashKey, Received: func() int { return len(server.Searches()) },
			Call: func() registry.Call {
				return registry.Call{RunID: "r", Tool: find(t, p, "unsplash.search"), Inputs: map[string]any{"query": "bicycle"}}
			},
		}
	})
}

func TestPresence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change []func(*photos.Config)
		want   []string
	}{
		"B3 a key for Unsplash": {[]func(*photos.Config){noPexels}, []string{"unsplash.search", "browseImages", "importImage"}},
		"a key for Pexels":      {[]func(*photos.Config){noUnsplash}, []string{"browseImages", "importImage"}},
		"no key":                {[]func(*photos.Config){noUnsplash, noPexels}, []string{"browseImages", "importImage"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := house(t, c.change...)
			tools, err := p.Load(t.Context())
			var got []string
			for _, tool := range tools {
				got = append(got, tool.ToolID)
				if unavailable := tool.State() == registry.StateUnavailable; unavailable != (name == "no key") {
					t.Errorf("%s is unavailable: %v", tool.ToolID, unavailable)
				}
				if !strings.Contains(tool.Description, "bulk") {
					t.Errorf("B48 %s does not say what is not allowed", tool.ToolID)
				}
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	t.Run("B38 limit is clamped to 1 to 5, three where nobody says", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		for given, want := range map[any]int{nil: 3, json.Number("4"): 4, json.Number("50"): 5, json.Number("0"): 1, json.Number("-3"): 1, json.Number("99999999999999999999"): 5} {
			field, _ := find(t, p, "unsplash.search").InputSchema.Get("limit")
			if _, refused := registry.CheckValue(field, given); given != nil && refused != nil {
				t.Errorf("%v is refused: %v", given, refused)
			}
			if got := items(t, p, "unsplash.search", map[string]any{"query": "x", "limit": given}); len(got) != want {
				t.Errorf("limit %v gives %d photos, want %d", given, len(got), want)
			}
		}
	})
	t.Run("B38 a missing query is refused", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		field, _ := find(t, p, "unsplash.search").InputSchema.Get("query")
		if _, refused := registry.CheckValue(field, nil); refused == nil {
			t.Error("accepted")
		}
	})
	t.Run("B39 nothing found is an empty array", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		if got := items(t, p, "unsplash.search", map[string]any{"query": "nothing"}); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("B40 B41 B42 B43 B44 B45 D92 what a photo comes with", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		got := items(t, p, "unsplash.search", map[string]any{"query": "bicycle", "limit": json.Number("4")})
		want := photos.Item{
			Untrusted: true,
			ID:        "a0", Provider: "unsplash", Alt: "a bicycle at a wall", Author: "Ann Lens", Width: 4000, Height: 3000,
			ImageURL: server.URL + "/images/a0.jpg?ixid=a0track&w=1080", ThumbURL: server.URL + "/images/a0.jpg?ixid=a0track&w=400",
			AuthorURL: "https://unsplash.com/@ann?utm_medium=referral&utm_source=signalbox", SourceURL: "https://unsplash.com/photos/a0?utm_medium=referral&utm_source=signalbox",
		}
		if got[0] != want {
			t.Errorf("got %+v\nwant %+v", got[0], want)
		}
		if got[1].Alt != "Photo by Ann Lens on Unsplash" || got[2].Author != `<b>"Bo" & Co</b>` || got[3].Author != "Unsplash" {
			t.Errorf("got %+v", got[1:])
		}
		res, err := http.Get(got[0].ImageURL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.Header.Get("Content-Type") != "image/jpeg" {
			t.Errorf("the address gives %s", res.Header.Get("Content-Type"))
		}
	})
	t.Run("a used-up quota is no wrong key", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Fail("unsplash", photostest.OverQuota)
		_, err := call(t, p, "unsplash.search", map[string]any{"query": "x"})
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeRateLimited || !e.Retryable {
			t.Errorf("got %v", err)
		}
	})
}

func TestBrowse(t *testing.T) {
	t.Parallel()
	t.Run("D5 D81 both sources are mixed where none is named", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		var ids []string
		for _, item := range items(t, p, "browseImages", map[string]any{"query": "x", "limit": json.Number("5")}) {
			ids = append(ids, item.Provider+" "+item.ID)
		}
		if want := []string{"unsplash a0", "pexels 100", "unsplash a1", "pexels 101", "unsplash a2"}; !slices.Equal(ids, want) {
			t.Errorf("got %v", ids)
		}
		if got := items(t, p, "browseImages", map[string]any{"query": "x", "limit": json.Number("99")}); len(got) != 24 {
			t.Errorf("got %d of 24", len(got))
		}
	})
	t.Run("D82 D190 D192 only the source that is named; others are refused", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		for _, name := range []string{"unsplash", "pexels"} {
			for _, item := range items(t, p, "browseImages", map[string]any{"query": "x", "provider": name}) {
				if item.Provider != name || item.Alt == "" {
					t.Errorf("%s: %+v", name, item)
				}
			}
		}
		_, err := call(t, p, "browseImages", map[string]any{"query": "x", "provider": "flickr"})
		if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput || e.Field != "provider" || len(server.Searches()) != 2 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("D83 shape and colour in each source's own words", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		tool := find(t, p, "browseImages")
		colors, _ := tool.InputSchema.Get("color")
		shapes, _ := tool.InputSchema.Get("orientation")
		for _, c := range colors.Choices { // the services refuse words that they don't know
			for _, s := range shapes.Choices {
				r, err := call(t, p, "browseImages", map[string]any{"query": "x", "color": c.Value, "orientation": s.Value})
				if err != nil || output(t, r, "notes") != "" {
					t.Fatalf("%v %v: %v, %+v", c.Value, s.Value, err, r)
				}
			}
		}
		var words []string
		for _, q := range server.Searches() {
			words = append(words, q.Get("orientation"), q.Get("color"))
		}
		for _, word := range []string{"squarish", "square", "magenta", "pink", "teal", "turquoise", "purple", "violet", "gray", "black_and_white"} {
			if !slices.Contains(words, word) {
				t.Errorf("%s was never sent", word)
			}
		}
	})
	t.Run("D84 one source that fails is noted", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Fail("pexels", photostest.Answer(429, "slow down"))
		r, err := call(t, p, "browseImages", map[string]any{"query": "x"})
		if err != nil || !strings.Contains(output(t, r, "notes"), "Pexels") || !strings.Contains(output(t, r, "items"), `"a0"`) {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("D84 both failing is an error", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Fail("pexels", photostest.Answer(500, ""))
		server.Fail("unsplash", photostest.Answer(500, ""))
		if r, err := call(t, p, "browseImages", map[string]any{"query": "x"}); err == nil {
			t.Errorf("got %+v", r)
		}
	})
}

func TestImport(t *testing.T) {
	t.Parallel()
	t.Run("D85 D191 D193 a local id and address, the same when repeated, by number or text", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		field, _ := find(t, p, "importImage").InputSchema.Get("photoId")
		if _, refused := registry.CheckValue(field, json.Number("101")); refused != nil {
			t.Errorf("a number is refused: %v", refused)
		}
		for _, ids := range [][]any{{"unsplash", "a0", "a0"}, {"pexels", json.Number("101"), "101"}} {
			var seen []string
			for _, id := range ids[1:] {
				r, err := call(t, p, "importImage", map[string]any{"provider": ids[0], "photoId": id})
				if err != nil {
					t.Fatal(err)
				}
				address := output(t, r, "url")
				if !strings.HasPrefix(address, "/uploads/") || !strings.HasSuffix(address, fmt.Sprint(ids[0], "-", id, ".jpg")) || r.Outputs[0].Info.Width != 16 {
					t.Errorf("got %s, %+v", address, r.Outputs[0].Info)
				}
				seen = append(seen, output(t, r, "imageId"))
			}
			if seen[0] != seen[1] || !strings.HasPrefix(seen[0], "asset:") {
				t.Errorf("ids %v", seen)
			}
		}
	})
	t.Run("B46 B47 D86 a use is counted once, and the credit names and links both", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		items(t, p, "browseImages", map[string]any{"query": "x"})
		if n := len(server.Downloads()); n != 0 {
			t.Errorf("looking was counted %d times", n)
		}
		r, err := call(t, p, "importImage", map[string]any{"provider": "unsplash", "photoId": "a2"})
		if err != nil || !slices.Equal(server.Downloads(), []string{"a2"}) {
			t.Fatalf("counted %v, %v", server.Downloads(), err)
		}
		var credit photos.Attribution
		if err := json.Unmarshal([]byte(output(t, r, "attribution")), &credit); err != nil {
			t.Fatal(err)
		}
		const tags = "?utm_medium=referral&utm_source=signalbox"
		html := `Photo by <a href="https://unsplash.com/@ann?utm_medium=referral&amp;utm_source=signalbox">&lt;b&gt;&#34;Bo&#34; &amp; Co&lt;/b&gt;</a> on <a href="https://unsplash.com/?utm_medium=referral&amp;utm_source=signalbox">Unsplash</a>`
		want := photos.Attribution{
			Provider: "unsplash", PhotoID: "a2", Author: `<b>"Bo" & Co</b>`, AuthorURL: "https://unsplash.com/@ann" + tags, ProviderURL: "https://unsplash.com/" + tags,
			SourceURL: "https://unsplash.com/photos/a2" + tags, HTML: html,
			Text: `Photo by <b>"Bo" & Co</b> (https://unsplash.com/@ann` + tags + `) on Unsplash (https://unsplash.com/` + tags + `)`,
		}
		if credit != want {
			t.Errorf("got %+v\nwant %+v", credit, want)
		}
	})
	t.Run("D86 who keeps photos is told of each import with its credit, before its use is counted", func(t *testing.T) {
		t.Parallel()
		var told []photos.Imported
		var account string
		broken := errors.New("no room")
		p, server := house(t, func(c *photos.Config) {
			c.Imported = func(_ context.Context, who string, photo photos.Imported) error {
				account, told = who, append(told, photo)
				if len(told) == 1 {
					return broken
				}
				return nil
			}
		})
		for i, want := range []error{broken, nil} {
			_, err := p.Call(t.Context(), registry.Call{UserID: "ann", Tool: find(t, p, "importImage"), Inputs: map[string]any{"provider": "unsplash", "photoId": "a0"}})
			if !errors.Is(err, want) || len(server.Downloads()) != i {
				t.Errorf("got %v, counted %v", err, server.Downloads())
			}
		}
		if len(told) != 2 || account != "ann" || !strings.HasPrefix(told[0].Ref, "asset:") || !strings.Contains(told[0].Credit.HTML, "Photo by") || told[0].Alt == "" {
			t.Errorf("told %+v of %s", told, account)
		}
	})
	t.Run("what fails is not counted", func(t *testing.T) {
		t.Parallel()
		p, server := house(t)
		server.Fail("images", photostest.Answer(500, ""), photostest.Answer(200, "<html>no picture</html>"))
		for _, want := range []registry.Code{registry.CodeProvider, registry.CodeBadOutput} {
			_, err := call(t, p, "importImage", map[string]any{"provider": "unsplash", "photoId": "a0"})
			if e := registry.AsError(err); e == nil || e.Code != want || len(server.Downloads()) != 0 {
				t.Errorf("got %v, counted %v", err, server.Downloads())
			}
		}
	})
	t.Run("a photo that is not there", func(t *testing.T) {
		t.Parallel()
		p, _ := house(t)
		for _, ids := range [][2]string{{"unsplash", "a99"}, {"unsplash", "../stats"}, {"pexels", "1"}, {"pexels", "a0"}, {"flickr", "1"}} {
			_, err := call(t, p, "importImage", map[string]any{"provider": ids[0], "photoId": ids[1]})
			if e := registry.AsError(err); e == nil || e.Code != registry.CodeInvalidInput {
				t.Errorf("%v: got %v", ids, err)
			}
		}
	})
}
