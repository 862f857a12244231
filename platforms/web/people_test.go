package web_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// reader is somebody at this machine whose browser runs no scripts.
func (h *house) reader() *client {
	v := h.visitor()
	v.do("GET", "/", "", nil)
	return v
}

// page reads a page that must be there.
func (c *client) page(path string, header ...string) string {
	c.t.Helper()
	res := c.do("GET", path, "", nil, header...)
	if res.StatusCode != http.StatusOK {
		c.t.Fatalf("GET %s: %d", path, res.StatusCode)
	}
	return readAll(c.t, res.Body)
}

// has fails the test for each part that a page lacks.
func has(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

// studioHouse is a house with the studio in it, which answers at once.
func studioHouse(t *testing.T, options ...option) *house {
	t.Helper()
	h := newHouse(t, options...)
	h.fakes.Set(studio())
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) { return studioResult(t), nil })
	return h
}

// started sends a tool's form and gives the run it began.
func (h *house) started(v *client, toolID string, fields url.Values) runs.Run {
	h.t.Helper()
	res := v.form("/tool/"+toolID, fields)
	id, ok := strings.CutPrefix(res.Header.Get("Location"), "/run/")
	if !ok {
		h.t.Fatalf("%d: %s", res.StatusCode, readAll(h.t, res.Body))
	}
	v.finished(id)
	run, err := h.runs.Get(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

func TestReceiptsNameMargins(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	dear := studio()
	dear.CostingModel.Markup, dear.CostingModel.MinimumUSD = "0.25", "0.05"
	h.fakes.Set(dear)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := h.reader()
	run := h.started(v, "studio", url.Values{"prompt": {"a pier"}})
	has(t, v.page("/prices"), "$0.02 a run, at least $0.05")
	has(t, v.page("/run/"+run.ID), "Markup in it</dt><dd>25%", "Least price</dt><dd>$0.05", "$0.02")
}

func TestListsArePeoples(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	inModels := func(id string, costs *registry.CostingModel) registry.Tool {
		return registrytest.Tool(id, func(t *registry.Tool) {
			t.Metadata, t.CostingModel, t.Localized = map[string]any{"menu": false}, costs, map[string]registry.Words{"de": {DisplayName: "Auf Deutsch " + id}}
		})
	}
	h.fakes.Set(studio(), inModels("nudge", nil), inModels("lookup", studio().CostingModel))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := h.reader()
	run := h.started(v, "studio", url.Values{"prompt": {"a pier"}})
	for _, path := range []string{"/prices", "/history", "/gallery"} {
		page := v.page(path, "Accept-Language", "de")
		has(t, page, "Studio", "Auf Deutsch lookup")
		if strings.Contains(page, "Auf Deutsch nudge") {
			t.Errorf("%s lists a free step of models", path)
		}
	}
	if page := v.page("/run/" + run.ID); strings.Contains(page, "/tool/nudge") {
		t.Error("a result is offered to a step of models")
	}
}

func TestSettingsAndPresets(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	form := url.Values{"prompt": {"a pier"}, "style": {"clay"}, "mood": {"calm"}, "strength": {"0.6"}, "transparent__shown": {"1"}}

	t.Run("A70 settings kept in a form are those of the chats, and what is the tool's own is not kept", func(t *testing.T) {
		res := v.form("/tool/studio/settings", url.Values{"style": {"clay"}, "mood": {"calm"}, "strength": {"0.60"}})
		if res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%d: %s", res.StatusCode, readAll(t, res.Body))
		}
		has(t, v.page(res.Header.Get("Location")), "this is how the tool starts for you", `value="clay" checked`, "your settings")
		me, err := h.users.ByIdentity(t.Context(), "web", "local")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := h.users.PreferencesFor(t.Context(), me.ID, registry.Tool{ToolID: "studio"})
		if err != nil || len(kept) != 1 || kept["style"] != "clay" {
			t.Errorf("kept %v %v", kept, err)
		}
	})
	t.Run("a run of an untouched form remembers where its values came from", func(t *testing.T) {
		run := h.started(v, "studio", form)
		for name, want := range map[string]runs.Source{"prompt": runs.FromArgument, "style": runs.FromPreference, "mood": runs.FromDefault, "strength": runs.FromDefault, "transparent": runs.FromDefault, "seed": runs.FromRandom} {
			if run.Sources[name] != want {
				t.Errorf("%s came from %s, want %s", name, run.Sources[name], want)
			}
		}
	})
	t.Run("a value that does not fit is kept nowhere, and its reason is shown", func(t *testing.T) {
		res := v.form("/tool/studio/settings", url.Values{"strength": {"7"}})
		if page := readAll(t, res.Body); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(page, `value="7"`) || !strings.Contains(page, `class="problem"`) {
			t.Errorf("%d", res.StatusCode)
		}
	})
	t.Run("the reason is in the reader's language", func(t *testing.T) {
		v.form("/account/language", url.Values{"language": {"de"}})
		defer v.form("/account/language", url.Values{"language": {""}})
		has(t, readAll(t, v.form("/tool/studio/settings", url.Values{"strength": {"7"}}).Body), "Das passt nicht zu", "Schick eine Zahl")
		has(t, readAll(t, v.form("/tool/studio", url.Values{"prompt": {""}}).Body), "Studio braucht: Scene")
	})
	t.Run("presets are kept by name, fill the form, and are forgotten", func(t *testing.T) {
		res := v.form("/tool/studio/presets", url.Values{"newpreset__name": {"Évening & fog"}, "mood": {"dreamy"}, "style": {"ink"}})
		page := v.page(res.Header.Get("Location"))
		has(t, page, "The preset is saved", `<option value="dreamy" selected`, "your preset", `name="preset__name" value="Évening &amp; fog"`)
		run := h.started(v, "studio", url.Values{"prompt": {"x"}, "mood": {"dreamy"}, "style": {"photo"}, "preset__name": {"Évening & fog"}})
		if run.Sources["mood"] != runs.FromPreset || run.Sources["style"] != runs.FromArgument {
			t.Errorf("sources %v", run.Sources)
		}
		v.form("/tool/studio/presets/delete", url.Values{"preset__name": {"Évening & fog"}})
		if page := v.page("/tool/studio"); strings.Contains(page, "vening") {
			t.Error("the preset is still there")
		}
	})
	t.Run("settings are forgotten", func(t *testing.T) {
		has(t, v.page("/tool/studio"), "Forget my settings")
		v.form("/tool/studio/settings/reset", nil)
		if page := v.page("/tool/studio"); strings.Contains(page, "your settings") || !strings.Contains(page, `value="photo" checked`) {
			t.Error("the settings are still there")
		}
	})
}

func TestSharing(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	run := h.started(v, "studio", url.Values{"prompt": {"my secret idea"}})
	link := func() string {
		_, rest, _ := strings.Cut(v.page("/run/"+run.ID), `id="link" readonly value="`)
		address, _, _ := strings.Cut(rest, `"`)
		return strings.TrimPrefix(address, h.url)
	}
	if got := link(); got != "" {
		t.Fatalf("shared before anybody asked: %s", got)
	}
	v.form("/run/"+run.ID+"/share", nil)
	shared := link()
	stranger := h.visitor()
	t.Run("anyone who has the link sees the results and nothing of their maker", func(t *testing.T) {
		page := stranger.page(shared)
		has(t, page, "Studio", "A lamp at the end of the pier", "scene.glb", `property="og:image"`)
		for _, private := range []string{"secret idea", run.ID, run.AccountID, "Local user", "$0"} {
			if strings.Contains(page, private) {
				t.Errorf("the shared page shows %q", private)
			}
		}
		parsed, err := url.Parse(h.url)
		if err != nil {
			t.Fatal(err)
		}
		if sent := stranger.http.Jar.Cookies(parsed); len(sent) > 1 {
			t.Errorf("looking at it signed somebody in: %v", sent)
		}
	})
	t.Run("guessed, forged and revoked links show nothing", func(t *testing.T) {
		for _, path := range []string{shared + "0", "/s/" + strings.Repeat("a", 26) + ".00", "/s/x", strings.Split(shared, ".")[0]} {
			if res := stranger.do("GET", path, "", nil); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
		v.form("/run/"+run.ID+"/unshare", nil)
		if res := stranger.do("GET", shared, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("revoked: %d", res.StatusCode)
		}
		v.form("/run/"+run.ID+"/share", nil)
		if again := link(); again == shared || again == "" {
			t.Errorf("a link that was taken back came back: %s", again)
		}
	})
	t.Run("nobody shares the runs of others", func(t *testing.T) {
		other := h.visitor()
		other.form("/signin", url.Values{"key": {h.developer("eve").key}})
		if res := other.form("/run/"+run.ID+"/share", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
	})
	t.Run("who deletes their data takes the links back", func(t *testing.T) {
		tx, err := h.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		address := link()
		if err := pages.Forget(t.Context(), tx, run.AccountID); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if res := stranger.do("GET", address, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}

func TestAccountPage(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	t.Run("a code links another platform; its identity is shown and let go again", func(t *testing.T) {
		page := readAll(t, v.form("/account/code", nil).Body)
		found := regexp.MustCompile(`id="code">/link ([A-Z0-9-]+)<`).FindStringSubmatch(page)
		if found == nil {
			t.Fatal("no code on the page")
		}
		ann, err := h.users.Identify(t.Context(), users.Identity{Platform: "telegram", ExternalID: "42", Name: "Ann"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.users.RedeemLinkCode(t.Context(), ann.ID, found[1]); err != nil {
			t.Fatal(err)
		}
		has(t, v.page("/account"), "Telegram", "Ann")
		res := v.form("/account/unlink", url.Values{"platform": {"telegram"}, "identity": {"42"}})
		if page := v.page(res.Header.Get("Location")); strings.Contains(page, "Ann") {
			t.Error("the identity is still there")
		}
		if page := readAll(t, v.form("/account/unlink", url.Values{"platform": {"web"}, "identity": {"local"}}).Body); !strings.Contains(page, "only way into your account") {
			t.Error("the last identity may go")
		}
	})
	t.Run("caps are set, shown with what is used, and hold", func(t *testing.T) {
		if page := readAll(t, v.form("/account/limits", url.Values{"day": {"much"}}).Body); !strings.Contains(page, "much") {
			t.Error("a cap that is no amount is taken")
		}
		v.form("/account/limits", url.Values{"day": {"0.01"}, "month": {""}})
		has(t, v.page("/account"), `value="0.01"`, "Today&#39;s cap")
		res := v.form("/tool/studio", url.Values{"prompt": {"too dear"}})
		if page := readAll(t, res.Body); res.StatusCode == http.StatusSeeOther || !strings.Contains(page, `id="problem"`) || !strings.Contains(page, "too dear") {
			t.Errorf("beyond the cap: %d", res.StatusCode)
		}
		v.form("/account/limits", url.Values{"day": {""}})
		h.started(v, "studio", url.Values{"prompt": {"fine"}})
	})
	t.Run("a key is revoked", func(t *testing.T) {
		_, rest, _ := strings.Cut(readAll(t, v.form("/account/keys", url.Values{"label": {"nightly"}}).Body), `id="key">`)
		key, _, _ := strings.Cut(rest, "<")
		script := h.visitor()
		script.key = key
		if status := script.call("GET", "/api/balance", "", nil); status != http.StatusOK {
			t.Fatalf("with the key: %d", status)
		}
		action := regexp.MustCompile(`/account/keys/[0-9]+/revoke`).FindString(v.page("/account"))
		v.form(action, nil)
		if status := script.call("GET", "/api/balance", "", nil); status != http.StatusUnauthorized {
			t.Errorf("with the revoked key: %d", status)
		}
	})
	t.Run("data are deleted by those who are sure", func(t *testing.T) {
		run := h.started(v, "studio", url.Values{"prompt": {"old"}})
		v.form("/account/erase", nil)
		if res := v.do("GET", "/run/"+run.ID, "", nil); res.StatusCode != http.StatusOK {
			t.Fatalf("erased without being sure: %d", res.StatusCode)
		}
		where := v.form("/account/erase", url.Values{"sure": {"1"}}).Header.Get("Location")
		has(t, v.page(where), "The books keep amounts without a name.") // the local user comes back as somebody new
		if a, err := h.users.ByIdentity(t.Context(), "web", "local"); err != nil || a.ID == run.AccountID {
			t.Errorf("%v %v", a, err)
		}
	})
}

func TestHistoryFilters(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	today := time.Now().UTC().Format(time.DateOnly)
	h.started(v, "studio", url.Values{"prompt": {"a"}})
	h.started(v, "wallpaper", url.Values{"width": {"64"}, "height": {"64"}})
	for query, want := range map[string][2]int{ // studio, wallpaper
		"": {1, 1}, "?tool=studio": {1, 0}, "?status=succeeded&platform=web": {1, 1}, "?status=failed": {0, 0}, "?platform=telegram": {0, 0},
		"?q=WALL": {0, 1}, "?since=2020-01-01&until=2099-12-31": {1, 1}, "?since=2099-01-01": {0, 0}, "?until=2020-01-01": {0, 0}, "?since=" + today + "&until=" + today: {1, 1},
	} {
		page := v.page("/history" + query)
		for i, name := range []string{"Studio", "Wallpaper"} {
			if got := strings.Count(page, "<strong>"+name+"</strong>"); got != want[i] {
				t.Errorf("%q shows %d of %s, want %d", query, got, name, want[i])
			}
		}
	}
	for _, query := range []string{"?status=done", "?since=yesterday", "?before=x"} {
		if res := v.do("GET", "/history"+query, "", nil); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%.20s: %d", query, res.StatusCode)
		}
	}
}

func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	v := h.reader()
	t.Run("A36 a file, a mistake, and the file again without sending it", func(t *testing.T) {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("image", "hills.png")
		if err != nil {
			t.Fatal(err)
		}
		part.Write(scene(t, 96, 64, 1))
		w.WriteField("inks", "999")
		w.Close()
		res := v.do("POST", "/tool/poster", w.FormDataContentType(), &form)
		page := readAll(t, res.Body)
		kept := regexp.MustCompile(`name="image" value="(asset:[0-9a-f]{64})"`).FindStringSubmatch(page)
		if res.StatusCode != http.StatusUnprocessableEntity || kept == nil {
			t.Fatalf("status %d, the file is gone", res.StatusCode)
		}
		run := h.started(v, "poster", url.Values{"image": {kept[1]}, "inks": {"5"}})
		if run.Status != runs.StatusSucceeded || run.Sources["image"] != runs.FromAttachment {
			t.Errorf("%s, from %s", run.Status, run.Sources["image"])
		}
		has(t, v.page("/run/"+run.ID), "Compare with what went in", "Download", "Receipt")
		has(t, v.page("/tool/poster?run="+run.ID), kept[1], `value="5"`)
	})
	t.Run("two pictures for an input that takes several", func(t *testing.T) {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		w.WriteField("prompt", "both")
		for i := range 2 {
			part, err := w.CreateFormFile("pictures", "p.png")
			if err != nil {
				t.Fatal(err)
			}
			part.Write(scene(t, 32, 32, i))
		}
		w.Close()
		res := v.do("POST", "/tool/studio", w.FormDataContentType(), &form)
		id := strings.TrimPrefix(res.Header.Get("Location"), "/run/")
		v.finished(id)
		run, err := h.runs.Get(t.Context(), id)
		if err != nil || len(run.Inputs["pictures"].([]any)) != 2 {
			t.Errorf("%v %v", run.Inputs["pictures"], err)
		}
	})
	t.Run("a form sent twice is one run", func(t *testing.T) {
		_, rest, _ := strings.Cut(v.page("/tool/studio"), `name="form__id" value="`)
		id, _, _ := strings.Cut(rest, `"`)
		fields := url.Values{"form__id": {id}, "prompt": {"once"}}
		first, second := v.form("/tool/studio", fields), v.form("/tool/studio", fields)
		if a, b := first.Header.Get("Location"), second.Header.Get("Location"); a != b || a == "" {
			t.Errorf("%s and %s", a, b)
		}
	})
	t.Run("nobody fills a form from the runs of others", func(t *testing.T) {
		dev := h.developer("dev")
		var run apiRun
		dev.call("POST", "/api/run/studio", `{"inputs":{"prompt":"mine"}}`, &run)
		stranger := h.developer("eve")
		for _, query := range []string{"?run=" + run.RunID, "?use=" + run.RunID + ".0"} {
			if res := stranger.do("GET", "/tool/studio"+query, "", nil); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d", query, res.StatusCode)
			}
		}
	})
}

func TestPagesTravelLight(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.reader()
	style := regexp.MustCompile(`/static/[0-9a-f]{12}/style\.css`).FindString(v.page("/"))
	res := v.do("GET", style, "", nil, "Accept-Encoding", "gzip")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %d %v", style, res.StatusCode, res.Header)
	}
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n > 20_000 {
		t.Errorf("%d bytes %v", n, err)
	}
	if res := v.do("GET", "/static/000000000000/style.css", "", nil); res.StatusCode != http.StatusOK || strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("an address of another build: %d %s", res.StatusCode, res.Header.Get("Cache-Control"))
	}
	if res := v.do("GET", "/", "", nil, "Accept-Encoding", "identity"); res.Header.Get("Content-Encoding") != "" {
		t.Error("zipped for somebody who can't unzip")
	}
	if res := v.do("GET", "/", "", nil, "Accept-Encoding", "br, gzip;q=0.8"); res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page: %v", res.Header)
	}
}

func TestToolsBesideTheMenu(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.fakes.Set(
		registrytest.Tool("leaflet", func(t *registry.Tool) { t.Category = "images" }),
		registrytest.Tool("nudge", func(t *registry.Tool) { t.Category, t.Metadata = "drawing", map[string]any{"menu": false} }),
	)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := h.reader()
	for path, shown := range map[string]bool{"/": false, "/?category=drawing": true, "/?q=nudge": true} {
		page := v.page(path)
		if strings.Contains(page, `href="/tool/nudge"`) != shown {
			t.Errorf("%s: a tool for models is there: %t", path, !shown)
		}
		if path == "/" {
			has(t, page, `href="/tool/leaflet"`, `href="/?category=images"`)
			if strings.Contains(page, `href="/?category=drawing"`) {
				t.Error("a category where there is nothing to pick has a button")
			}
		}
	}
}

func TestLargeCatalogue(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var tools []registry.Tool
	for i := range 1000 {
		tools = append(tools, registrytest.Tool(fmt.Sprintf("tool%03d", i), func(t *registry.Tool) {
			t.DisplayName, t.Category, t.Description = fmt.Sprintf("Tool number %d", i), "many", fmt.Sprintf("Does what number %d does, and describes it in a sentence of the usual length, like this one.", i)
		}))
	}
	h.fakes.Set(tools...)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := h.reader()
	res := v.do("GET", "/", "", nil, "Accept-Encoding", "gzip")
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n > 60_000 {
		t.Errorf("the list of 1000 tools has %d bytes compressed, %v", n, err)
	}
	for _, first := range []string{"/?category=many", "/prices"} {
		seen := map[string]bool{}
		for path, pages := first, 0; path != ""; pages++ {
			if pages > 20 {
				t.Fatalf("%s has no end", first)
			}
			page := v.page(path)
			for _, found := range regexp.MustCompile(`href="/tool/(tool[0-9]+)"`).FindAllStringSubmatch(page, -1) {
				seen[found[1]] = true
			}
			next := regexp.MustCompile(`href="(/(?:prices)?\?(?:category=many&amp;)?from=[0-9]+)"`).FindStringSubmatch(page)
			if path = ""; next != nil {
				path = strings.ReplaceAll(next[1], "&amp;", "&")
			}
		}
		if len(seen) != 1000 {
			t.Errorf("turning the pages of %s showed %d of 1000 tools", first, len(seen))
		}
	}
	has(t, v.page("/history"), `name="q"`)
}
