package webchat_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	w := chattest.NewWorld(t, h, chattest.Tools()...)
	anna := chattest.Person{ID: "1001", Name: "Anna", Language: "en"}
	room, b := h.Private(anna), h.browser(anna)
	open := func() (next func() event) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+"/chat/events?after=0", nil)
		check(err)
		res, err := b.http.Do(req)
		check(err)
		t.Cleanup(func() { res.Body.Close() })
		got := make(chan event)
		go func() {
			defer close(got)
			for e := range events(res.Body) {
				select {
				case got <- e:
				case <-t.Context().Done():
					return
				}
			}
		}()
		return func() event { return <-got }
	}
	first, second := open(), open()
	for _, next := range []func() event{first, second} {
		if e := next(); e.name != "current" {
			t.Fatalf("a new conversation begins with %+v", e)
		}
	}
	t.Run("each open page hears what is said, as it is said", func(t *testing.T) {
		h.Post(t, chattest.Post{From: anna, In: room, Text: "/painter a cat"})
		for _, next := range []func() event{first, second} {
			for seen := ""; !strings.Contains(seen, "/painter a cat") || !strings.Contains(seen, "Cancel"); {
				e := next()
				if e == (event{}) {
					t.Fatalf("the stream ended after %s", seen)
				}
				seen += e.data
			}
		}
	})
	t.Run("a form that is sent twice is one message and one run", func(t *testing.T) {
		h.Repeat(t)
		w.Handled()
		if n := w.CountRuns(); n != 1 {
			t.Errorf("%d runs", n)
		}
		mine := 0
		for _, l := range b.look(t) {
			if l.mine {
				mine++
			}
		}
		if mine != 1 {
			t.Errorf("%d messages of the person", mine)
		}
	})
}

func TestStrangersReachNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	w := chattest.NewWorld(t, h, chattest.Tools()...)
	anna, ben := chattest.Person{ID: "1001", Name: "Anna", Language: "en"}, chattest.Person{ID: "1002", Name: "Ben", Language: "en"}
	room := h.Private(anna)
	h.Post(t, chattest.Post{From: anna, In: room, Text: "/painter a cat"})
	m := w.Await(room, "Cancel", func(m chattest.Seen) bool { return m.Has("Cancel") })
	stranger := h.browser(ben)
	form := url.Values{"csrf__token": {stranger.csrf(t)}, "message__": {m.ID}, "data": {"x"}, "use": {"enlarge"}}
	for _, path := range []string{"/chat/press", "/chat/form", "/chat/use"} {
		res, err := stranger.http.PostForm(h.server.URL+path, form)
		check(err)
		res.Body.Close()
		if res.StatusCode < 400 || res.StatusCode >= 500 {
			t.Errorf("%s of somebody else's message: %s", path, res.Status)
		}
	}
	t.Run("deleting somebody else's message deletes nothing", func(t *testing.T) {
		res, err := stranger.http.PostForm(h.server.URL+"/chat/delete", form)
		check(err)
		res.Body.Close()
		if len(h.Messages(t, room)) != 1 {
			t.Error("the message is gone")
		}
	})
	t.Run("a form from elsewhere is refused", func(t *testing.T) {
		res, err := stranger.http.PostForm(h.server.URL+"/chat/say", url.Values{"text": {"/painter a dog"}})
		check(err)
		res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("without the token: %s", res.Status)
		}
	})
	if n := len(stranger.look(t)); n != 0 {
		t.Errorf("the stranger sees %d messages", n)
	}
}

func TestMarkup(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	a := h.connect(t)
	anna := chattest.Person{ID: "1001", Name: "Anna", Language: "en"}
	room := h.Private(anna)
	_, err := a.Send(t.Context(), chat.Message{To: chat.Place{Chat: room.ID}, Text: chat.Text{
		{Text: "<script>alert(1)</script>"}, {Style: chat.StyleBold, Text: "b<"}, {Style: chat.StyleLink, Text: "bad", URL: "javascript:alert(1)"},
		{Style: chat.StyleLink, Text: "good", URL: `https://example.org/?a="b"`},
		{Style: chat.StyleGone, Text: "old"}, {Style: chat.StyleNew, Text: "new"},
		{Text: "1. <b>\nhttps://example.org/a?b=1&c=\"d\n(http://example.org/e), javascript:f http:// HTTPS://example.org/g."},
		{Style: chat.StyleCode, Text: "curl https://example.org/"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	html := h.browser(anna).look(t)[0].html
	want := `&lt;script&gt;alert(1)&lt;/script&gt;<strong>b&lt;</strong>bad<a href="https://example.org/?a=&#34;b&#34;" rel="noopener">good</a><del>old</del><ins>new</ins>` +
		"1. &lt;b&gt;\n" + `<a href="https://example.org/a?b=1&amp;c=" rel="noopener">https://example.org/a?b=1&amp;c=</a>&#34;d` +
		"\n" + `(<a href="http://example.org/e" rel="noopener">http://example.org/e</a>), javascript:f http:// HTTPS://example.org/g.<code>curl https://example.org/</code>`
	if !strings.Contains(html, want) {
		t.Errorf("the message is drawn as\n%s", html)
	}
}
