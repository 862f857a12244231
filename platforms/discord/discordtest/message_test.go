package discordtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// object is a body being built.
type object = map[string]any

func row(components ...any) object { return object{"type": 1, "components": components} }

func button(label, id string) object {
	return object{"type": 2, "style": 1, "label": label, "custom_id": id}
}

func buttons(n int) []any {
	var out []any
	for i := range n {
		out = append(out, button("b", fmt.Sprint("id", i)))
	}
	return out
}

func TestMessageRules(t *testing.T) {
	t.Parallel()
	b := setup(t, discordtest.Options{})
	long := strings.Repeat("x", 2001)
	v2 := 32768
	cases := []struct {
		name string
		body any
		part string
	}{
		{"content over 2000 characters", object{"content": long}, `"content":{"_errors"`},
		{"content counts UTF-16 units", object{"content": strings.Repeat("😀", 1001)}, "BASE_TYPE_MAX_LENGTH"},
		{"eleven embeds", object{"embeds": make([]object, 11)}, "BASE_TYPE_MAX_LENGTH"},
		{"embed title over 256", object{"embeds": []object{{"title": strings.Repeat("x", 257)}}}, `"title"`},
		{"embeds over 6000 in all", object{"embeds": []object{{"description": strings.Repeat("x", 4000)}, {"description": long}}}, "MAX_EMBED_SIZE_EXCEEDED"},
		{"an embed without anything", object{"embeds": []object{{"color": 1}}}, "BASE_TYPE_REQUIRED"},
		{"an embed picture that was not uploaded", object{"embeds": []object{{"image": object{"url": "attachment://no.png"}}}}, "REFERENCED_ATTACHMENT_NOT_FOUND"},
		{"an embed picture of another kind", object{"embeds": []object{{"image": object{"url": "attachment://no.mp4"}}}}, "embeds show"},
		{"an unknown component type", object{"components": []any{row(object{"type": 77})}}, "UNION_TYPE_CHOICES"},
		{"a text display without the flag", object{"components": []any{object{"type": 10, "content": "x"}}}, "UNION_TYPE_CHOICES"},
		{"six rows", object{"components": []any{row(button("a", "1")), row(button("a", "2")), row(button("a", "3")), row(button("a", "4")), row(button("a", "5")), row(button("a", "6"))}}, "between 1 and 5"},
		{"six buttons in a row", object{"components": []any{row(buttons(6)...)}}, "BASE_TYPE_MAX_LENGTH"},
		{"a button beside a select", object{"components": []any{row(button("a", "1"), object{"type": 3, "custom_id": "s", "options": []object{{"label": "a", "value": "a"}}})}}, "COMPONENT_LAYOUT_WIDTH_EXCEEDED"},
		{"one custom_id twice", object{"components": []any{row(button("a", "1"), button("b", "1"))}}, "COMPONENT_CUSTOM_ID_DUPLICATED"},
		{"custom_id over 100", object{"components": []any{row(button("a", strings.Repeat("x", 101)))}}, "BASE_TYPE_MAX_LENGTH"},
		{"a label over 80", object{"components": []any{row(button(strings.Repeat("x", 81), "1"))}}, "BASE_TYPE_MAX_LENGTH"},
		{"a button without label and emoji", object{"components": []any{row(button("", "1"))}}, "BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL"},
		{"a button without custom_id", object{"components": []any{row(object{"type": 2, "style": 1, "label": "a"})}}, "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"},
		{"a link without url", object{"components": []any{row(object{"type": 2, "style": 5, "label": "a"})}}, "A url is required"},
		{"a link with custom_id", object{"components": []any{row(object{"type": 2, "style": 5, "label": "a", "url": "https://example.com", "custom_id": "1"})}}, "MUTUALLY_EXCLUSIVE"},
		{"a link to something else than the web", object{"components": []any{row(object{"type": 2, "style": 5, "label": "a", "url": "ftp://example.com"})}}, "URL_TYPE_INVALID_SCHEME"},
		{"a premium button with a label", object{"components": []any{row(object{"type": 2, "style": 6, "label": "a", "sku_id": "1"})}}, "BUTTON_PREMIUM_FIELDS"},
		{"a premium button without sku", object{"components": []any{row(object{"type": 2, "style": 6})}}, "A sku id is required"},
		{"26 options", object{"components": []any{row(object{"type": 3, "custom_id": "s", "options": options(26)})}}, "BASE_TYPE_MAX_LENGTH"},
		{"one option value twice", object{"components": []any{row(object{"type": 3, "custom_id": "s", "options": append(options(2), object{"label": "x", "value": "1"})})}}, "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"},
		{"max_values over the options", object{"components": []any{row(object{"type": 3, "custom_id": "s", "max_values": 3, "options": options(2)})}}, "SELECT_COMPONENT_MAX_VALUES"},
		{"min_values over max_values", object{"components": []any{row(object{"type": 3, "custom_id": "s", "min_values": 2, "max_values": 1, "options": options(2)})}}, "SELECT_MIN_OVER_MAX"},
		{"two defaults where one can be chosen", object{"components": []any{row(object{"type": 3, "custom_id": "s", "options": []object{{"label": "a", "value": "a", "default": true}, {"label": "b", "value": "b", "default": true}}})}}, "SELECT_COMPONENT_DEFAULTS"},
		{"V2 with content", object{"flags": v2, "content": "x", "components": []any{object{"type": 10, "content": "x"}}}, "LEGACY_FIELDS"},
		{"V2 with embeds", object{"flags": v2, "embeds": []object{{"title": "x"}}, "components": []any{object{"type": 10, "content": "x"}}}, "LEGACY_FIELDS"},
		{"V2 with over 4000 characters", object{"flags": v2, "components": []any{object{"type": 10, "content": strings.Repeat("x", 2500)}, object{"type": 10, "content": strings.Repeat("x", 1600)}}}, "DISPLAYABLE_TEXT_SIZE"},
		{"V2 with over 40 components", object{"flags": v2, "components": texts(21, 20)}, "MAX_TOTAL_COMPONENTS"},
		{"V2 with a file that was not uploaded", object{"flags": v2, "components": []any{object{"type": 13, "file": object{"url": "attachment://a.glb"}}}}, "REFERENCED_ATTACHMENT_NOT_FOUND"},
		{"alt text without its file", object{"content": "x", "attachments": []object{{"id": "0", "description": "x"}}}, "ATTACHMENT_NOT_FOUND"},
		{"over 100 users in allowed_mentions", object{"content": "x", "allowed_mentions": object{"users": ids(101)}}, "BASE_TYPE_MAX_LENGTH"},
		{"a nonce over 25", object{"content": "x", "nonce": strings.Repeat("x", 26)}, "BASE_TYPE_MAX_LENGTH"},
		{"a reply to nothing", object{"content": "x", "message_reference": object{"message_id": "1"}}, "REPLIES_UNKNOWN_MESSAGE"},
	}
	for _, c := range cases {
		t.Run(c.name+" is refused", func(t *testing.T) {
			b.expect(b.call("POST", b.messages(), c.body), 400, 50035, c.part)
			b.complained("POST /channels/{channel_id}/messages: 400 50035")
		})
	}
	t.Run("nothing at all is refused", func(t *testing.T) {
		b.expect(b.call("POST", b.messages(), object{"content": "  "}), 400, 50006, "empty message")
	})
	t.Run("an unknown property fails the test and is ignored", func(t *testing.T) {
		if r := b.call("POST", b.messages(), object{"content": "x", "ephemeral": true}); r.status != 200 {
			t.Errorf("got %d %s", r.status, r.raw)
		}
		b.complained("ephemeral: the API has no such field here")
	})
	t.Run("a flag without effect fails the test", func(t *testing.T) {
		b.call("POST", b.messages(), object{"content": "x", "flags": 64})
		b.complained("have no effect here")
	})
	t.Run("the limits themselves are fine", func(t *testing.T) {
		for _, body := range []object{
			{"content": strings.Repeat("x", 2000)},
			{"components": []any{row(buttons(5)...), row(object{"type": 3, "custom_id": "s", "options": options(25), "max_values": 25, "min_values": 0})}, "content": "x"},
			{"flags": v2, "components": texts(20, 20)},
			{"content": "x", "message_reference": object{"message_id": "1", "fail_if_not_exists": false}},
		} {
			if r := b.call("POST", b.messages(), body); r.status != 200 {
				t.Errorf("got %d %s", r.status, r.raw)
			}
		}
	})
}

func options(n int) []object {
	var out []object
	for i := range n {
		out = append(out, object{"label": fmt.Sprint("Option ", i), "value": fmt.Sprint(i)})
	}
	return out
}

func ids(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i+1))
	}
	return out
}

// texts makes text displays and, in containers, further ones.
func texts(single, contained int) []any {
	var out []any
	for range single - 1 {
		out = append(out, object{"type": 10, "content": "x"})
	}
	var inner []any
	for range contained {
		inner = append(inner, object{"type": 10, "content": "x"})
	}
	return append(out, object{"type": 17, "components": inner})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	t.Run("every request needs the token", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		for _, auth := range []string{"", b.Token, "Bot x", "Bearer " + b.Token} {
			b.expect(b.call("GET", "/users/@me", nil, func(r *http.Request) { r.Header.Set("Authorization", auth) }), 401, 0, "401: Unauthorized")
		}
		if n := b.InvalidRequests(); n != 4 {
			t.Errorf("%d invalid requests, expected 4", n)
		}
		b.clock.Advance(11 * time.Minute)
		if n := b.InvalidRequests(); n != 0 {
			t.Errorf("%d invalid requests after ten minutes, expected none", n)
		}
		b.RevokeToken()
		b.expect(b.call("GET", "/users/@me", nil), 401, 0, "")
	})
	t.Run("a User-Agent of another form is blocked", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.expect(b.call("GET", "/users/@me", nil, func(r *http.Request) { r.Header.Set("User-Agent", "curl/8") }), 403, 40333, "")
		b.complained("User-Agent")
	})
	t.Run("a content type the API does not take is refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.expect(b.call("POST", b.messages(), `{"content":"x"}`, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }), 400, 50035, "CONTENT_TYPE_INVALID")
		b.complained("CONTENT_TYPE_INVALID")
		b.expect(b.call("POST", b.messages(), `{"content":`), 400, 50109, "")
		b.complained("POST")
	})
	t.Run("v9 is served as well, other versions are not", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		at := func(version string) func(*http.Request) {
			return func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "v10", version, 1) }
		}
		if r := b.call("GET", "/users/@me", nil, at("v9")); r.id() != b.BotID() {
			t.Errorf("v9: %s", r.raw)
		}
		b.expect(b.call("GET", "/users/@me", nil, at("v8")), 400, 50041, "")
		b.complained("v8")
	})
	t.Run("operations that do not exist, or are not imitated, fail the test", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.expect(b.call("GET", "/nowhere", nil), 404, 0, "")
		b.complained("unknown operation GET /nowhere")
		b.expect(b.call("GET", "/voice/regions", nil), 501, 0, "not imitated")
		b.complained("GET /voice/regions is not imitated")
	})
	t.Run("places that the bot does not see, or may not write to, are refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		send := func(c *discordtest.Channel) reply {
			return b.call("POST", "/channels/"+c.ID()+"/messages", object{"content": "hi"})
		}
		hidden, quiet, locked := b.guild.Text("hidden"), b.guild.Text("quiet"), b.channel.Thread("done")
		hidden.DenyBot(discordtest.ViewChannel)
		quiet.DenyBot(discordtest.SendMessages | discordtest.AttachFiles)
		locked.Archive(true)
		b.expect(send(hidden), 403, 50001, "Missing Access")
		b.expect(send(quiet), 403, 50013, "Missing Permissions")
		b.expect(send(locked), 400, 160005, "locked")
		b.expect(b.call("POST", "/channels/1/messages", object{"content": "hi"}), 404, 10003, "Unknown Channel")
		foreign := b.ForeignGuild("Elsewhere", b.ann).Text("talk")
		b.expect(send(foreign), 403, 50001, "")
		b.bob.RefuseDMs()
		b.expect(send(b.bob.DM()), 403, 50007, "Cannot send messages to this user")
		b.expect(send(b.User("Stranger").DM()), 403, 50278, "mutual")
		if r := send(b.ann.DM()); r.status != 200 {
			t.Errorf("DM: %s", r.raw)
		}
		old := b.channel.Thread("old")
		old.Archive(false)
		if r := send(old); r.status != 200 {
			t.Errorf("archived thread: %s", r.raw)
		}
		b.guild.Kick()
		b.expect(send(b.channel), 403, 50001, "")
	})
}

func TestMessages(t *testing.T) {
	t.Parallel()
	t.Run("files arrive with alt text, spoiler mark and size, and can be downloaded for a day", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		png := picture(t)
		r := b.upload("POST", b.messages(), object{"content": "done", "attachments": []object{{"id": 0, "description": "a bicycle"}, {"id": 1}}},
			discordtest.File{Name: "a.png", Bytes: png}, discordtest.File{Name: "SPOILER_b.glb", Bytes: []byte("glTF")})
		if r.status != 200 {
			t.Fatal(r.raw)
		}
		m := b.WaitMessage(within(t), b.channel, discordtest.HasFile(".png"))
		a, spoiler := m.Attachments[0], m.Attachments[1]
		if a.Description != "a bicycle" || a.Width != 8 || a.Height != 6 || a.ContentType != "image/png" || a.Spoiler || string(a.Bytes) != string(png) {
			t.Errorf("got %+v", a)
		}
		if !spoiler.Spoiler || spoiler.ContentType != "model/gltf-binary" {
			t.Errorf("got %+v", spoiler)
		}
		fetch := func() int {
			resp, err := http.Get(a.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode
		}
		if got := fetch(); got != 200 {
			t.Errorf("download: %d", got)
		}
		b.clock.Advance(25 * time.Hour)
		if got := fetch(); got != 404 {
			t.Errorf("download a day later: %d", got)
		}
	})
	t.Run("files over the guild's limit are refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		big := discordtest.File{Name: "a.png", Bytes: make([]byte, 10<<20+1)}
		b.expect(b.upload("POST", b.messages(), object{}, big), 413, 40005, "too large")
		b.guild.SetUploadLimit(50 << 20)
		if r := b.upload("POST", b.messages(), object{}, big); r.status != 200 {
			t.Errorf("boosted: %s", r.raw)
		}
		big.Bytes = make([]byte, 26<<20)
		b.expect(b.upload("POST", b.messages(), object{}, big), 413, 40005, "")
	})
	t.Run("files need the right, and uploads nobody refers to fail the test", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		file := discordtest.File{Name: "a.png", Bytes: picture(t)}
		b.upload("POST", b.messages(), object{"content": "x", "attachments": []object{}}, file)
		b.complained("is not referred to")
		b.channel.DenyBot(discordtest.AttachFiles)
		b.expect(b.upload("POST", b.messages(), object{"content": "x"}, file), 403, 50013, "")
	})
	t.Run("an edit keeps what it does not name, and attachments it lists", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		r := b.upload("POST", b.messages(), object{"content": "one", "components": []any{row(button("Go", "go"))}}, discordtest.File{Name: "a.png", Bytes: picture(t)})
		path := b.messages() + "/" + r.id()
		if r = b.call("PATCH", path, object{"content": "two"}); r.get("components", 0, "components", 0, "custom_id") != "go" || r.get("attachments", 0, "filename") != "a.png" {
			t.Errorf("got %s", r.raw)
		}
		r = b.upload("PATCH", path, object{"attachments": []object{{"id": r.get("attachments", 0, "id")}, {"id": 0, "filename": "b.png"}}, "components": nil}, discordtest.File{Name: "x.png", Bytes: picture(t)})
		if r.get("attachments", 1, "filename") != "b.png" || r.get("components", 0) != nil || r.get("edited_timestamp") == nil {
			t.Errorf("got %s", r.raw)
		}
		if r = b.call("PATCH", path, object{"attachments": []any{}}); len(r.get("attachments").([]any)) != 0 {
			t.Errorf("got %s", r.raw)
		}
		if m := b.History(b.channel)[0]; m.Content != "two" || m.Edits != 3 {
			t.Errorf("got %+v", m)
		}
	})
	t.Run("the flag of the new components can't be taken back, and files nobody shows fail the test", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		r := b.upload("POST", b.messages(), object{"flags": 32768, "components": []any{object{"type": 12, "items": []object{{"media": object{"url": "attachment://a.png"}}}}}},
			discordtest.File{Name: "a.png", Bytes: picture(t)}, discordtest.File{Name: "b.png", Bytes: picture(t)})
		b.complained(`"b.png" is shown by no component`)
		b.expect(b.call("PATCH", b.messages()+"/"+r.id(), object{"flags": 0}), 400, 50035, "CANNOT_REMOVE")
		b.complained("CANNOT_REMOVE")
	})
	t.Run("foreign messages can't be edited, and gone ones are unknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		m := b.ann.Send(b.channel, "hello")
		b.expect(b.call("PATCH", b.messages()+"/"+m.ID, object{"content": "x"}), 403, 50005, "")
		b.expect(b.call("DELETE", b.messages()+"/"+m.ID, nil), 403, 50013, "")
		own := b.call("POST", b.messages(), object{"content": "x"})
		if r := b.call("DELETE", b.messages()+"/"+own.id(), nil); r.status != 204 {
			t.Error(r.raw)
		}
		b.expect(b.call("PATCH", b.messages()+"/"+own.id(), object{"content": "x"}), 404, 10008, "Unknown Message")
	})
	t.Run("a repeated nonce gives the first message", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		send := func() string {
			return b.call("POST", b.messages(), object{"content": "x", "nonce": "run-1", "enforce_nonce": true}).id()
		}
		first := send()
		if again := send(); again != first || len(b.History(b.channel)) != 1 {
			t.Errorf("got %s after %s", again, first)
		}
		b.clock.Advance(10 * time.Minute)
		if later := send(); later == first {
			t.Error("a nonce is remembered for minutes only")
		}
	})
	t.Run("only permitted mentions ping", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		content := "<@" + b.ann.ID() + "> <@" + b.bob.ID() + "> @everyone"
		for want, allowed := range map[string]any{
			fmt.Sprint([]string{b.ann.ID(), b.bob.ID(), "everyone"}): nil,
			"[]":                             object{"parse": []string{}},
			fmt.Sprint([]string{b.ann.ID()}): object{"users": []string{b.ann.ID()}},
		} {
			b.call("POST", b.messages(), object{"content": content, "allowed_mentions": allowed})
			history := b.History(b.channel)
			if got := fmt.Sprint(history[len(history)-1].Mentions); got != want {
				t.Errorf("allowed %v: pinged %s, want %s", allowed, got, want)
			}
		}
	})
	t.Run("without the privileged intent, content shows only in mentions, replies and direct messages", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		secret := b.ann.Send(b.channel, "secret")
		if r := b.call("GET", b.messages()+"/"+secret.ID, nil); r.get("content") != "" {
			t.Errorf("got %s", r.raw)
		}
		own := b.call("POST", b.messages(), object{"content": "mine"})
		var said discordtest.Message
		for _, m := range b.History(b.channel) {
			if m.ID == own.id() {
				said = m
			}
		}
		for _, m := range []discordtest.Message{b.ann.Send(b.channel, "hi <@"+b.BotID()+">"), b.ann.Reply(said, "hello"), b.ann.Send(b.ann.DM(), "psst")} {
			if r := b.call("GET", "/channels/"+m.Channel.ID()+"/messages/"+m.ID, nil); r.get("content") != m.Content {
				t.Errorf("got %s", r.raw)
			}
		}
	})
	t.Run("typing signs and calls are remembered", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.call("POST", "/channels/"+b.channel.ID()+"/typing", nil)
		b.call("POST", b.messages(), object{"content": "x"})
		calls := b.Calls("POST /channels/{channel_id}/messages")
		if b.Typing(b.channel) != 1 || len(calls) != 1 || calls[0].Body.(map[string]any)["content"] != "x" || calls[0].Status != 200 {
			t.Errorf("typing %d, calls %+v", b.Typing(b.channel), calls)
		}
		data, err := json.Marshal(calls[0].Vars)
		if err != nil || !strings.Contains(string(data), b.channel.ID()) {
			t.Errorf("vars %s", data)
		}
	})
}
