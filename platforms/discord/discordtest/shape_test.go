package discordtest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// description reads one of the official API descriptions beside the project.
func description(t *testing.T, name string) any {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "..", "shared", "specs", name))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the API descriptions are missing: %v", err)
		}
		t.Skip("no API descriptions beside the project")
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// answers compiles the schemas of the API's answers, by operation.
type answers struct {
	t        *testing.T
	document map[string]any
	compiler *jsonschema.Compiler
}

func newAnswers(t *testing.T) *answers {
	t.Helper()
	document, _ := description(t, "discord-openapi.json").(map[string]any)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mem:///api", document); err != nil {
		t.Fatal(err)
	}
	return &answers{t: t, document: document, compiler: c}
}

// check validates an answer against the operation's schema for 200.
func (a *answers) check(operation string, r reply) {
	a.t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	pointer := "mem:///api#/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" + strings.ToLower(method) +
		"/responses/200/content/application~1json/schema"
	schema, err := a.compiler.Compile(pointer)
	if err != nil {
		a.t.Errorf("%s: %v", operation, err)
		return
	}
	body, err := jsonschema.UnmarshalJSON(strings.NewReader(r.raw))
	if err != nil || r.status != 200 {
		a.t.Errorf("%s: %d %s %v", operation, r.status, r.raw, err)
		return
	}
	if err := schema.Validate(body); err != nil {
		a.t.Errorf("%s: %v\n%s", operation, err, r.raw)
	}
}

func TestShapesOfAnswers(t *testing.T) {
	t.Parallel()
	a := newAnswers(t)
	b := setup(t, discordtest.Options{})
	b.register(paint)
	message := object{"content": "x", "embeds": []object{{"title": "t", "image": object{"url": "attachment://a.png"}}}, "components": []any{
		row(button("Go", "go")), row(object{"type": 3, "custom_id": "s", "options": options(2)}),
	}}
	sent := b.upload("POST", b.messages(), message, discordtest.File{Name: "a.png", Bytes: picture(t)})
	i := b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "x"))
	with := "/interactions/" + i.ID + "/" + i.Token + "/callback?with_response=true"
	a.check("POST /channels/{channel_id}/messages", sent)
	a.check("POST /interactions/{interaction_id}/{interaction_token}/callback", b.call("POST", with, object{"type": 5}))
	a.check("PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original", b.hook("PATCH", i, "/messages/@original", object{"content": "done"}))
	a.check("POST /webhooks/{webhook_id}/{webhook_token}", b.hook("POST", i, "?wait=true", object{"content": "more"}))
	a.check("PATCH /channels/{channel_id}/messages/{message_id}", b.call("PATCH", b.messages()+"/"+sent.id(), object{"content": "y"}))
	b.Sells("78", discordtest.Subscribable)
	b.ann.Subscribes("78")
	for operation, path := range map[string]string{
		"GET /applications/{application_id}/entitlements":  "/applications/" + b.ApplicationID + "/entitlements",
		"GET /skus/{sku_id}/subscriptions":                 "/skus/78/subscriptions?user_id=" + b.ann.ID(),
		"GET /channels/{channel_id}/messages":              b.messages(),
		"GET /channels/{channel_id}/messages/{message_id}": b.messages() + "/" + sent.id(),
		"GET /channels/{channel_id}":                       "/channels/" + b.channel.ID(),
		"GET /applications/{application_id}/commands":      b.commands(),
		"GET /users/@me":                                   "/users/@me",
		"GET /gateway":                                     "/gateway",
		"GET /gateway/bot":                                 "/gateway/bot",
		"GET /guilds/{guild_id}/roles":                     "/guilds/" + b.guild.ID() + "/roles",
		"GET /guilds/{guild_id}/members/{user_id}":         "/guilds/" + b.guild.ID() + "/members/" + b.ann.ID(),
		"GET /guilds/{guild_id}":                           "/guilds/" + b.guild.ID(),
		"GET /guilds/{guild_id}/channels":                  "/guilds/" + b.guild.ID() + "/channels",
		"GET /users/@me/guilds":                            "/users/@me/guilds",
		"GET /applications/@me":                            "/applications/@me",
	} {
		a.check(operation, b.call("GET", path, nil))
	}
}

// field is a field of a structure in the description of the gateway.
type field struct {
	Name     string
	Optional bool
}

// structure finds the fields of a structure.
func structure(t *testing.T, kind, name string) []field {
	t.Helper()
	document, _ := description(t, "discord-gateway.json").(map[string]any)
	group, _ := document[kind].(map[string]any)
	entry, _ := group[name].(map[string]any)
	var list any = entry["fields"]
	if inner, ok := entry["structures"].(map[string]any); ok {
		for _, v := range inner {
			list = v
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var fields []field
	if err := json.Unmarshal(data, &fields); err != nil || len(fields) == 0 {
		t.Fatalf("no structure %s: %v", name, err)
	}
	return fields
}

func TestShapesOfEvents(t *testing.T) {
	t.Parallel()
	b := setup(t, discordtest.Options{})
	b.register(paint)
	c := b.connect(t)
	c.identify(nil)
	shapes := func(what string, got any, fields []field, extra ...string) {
		t.Helper()
		o, _ := got.(map[string]any)
		known := map[string]bool{}
		for _, f := range fields {
			known[f.Name] = true
			if _, ok := o[f.Name]; !ok && !f.Optional {
				t.Errorf("%s lacks %q", what, f.Name)
			}
		}
		for _, name := range extra {
			known[name] = true
		}
		for name := range o {
			if !known[name] {
				t.Errorf("%s has an unknown field %q", what, name)
			}
		}
	}
	interaction := func(what, data string) {
		t.Helper()
		got := c.until("INTERACTION_CREATE")
		shapes(what, got, structure(t, "interaction_structures", "Interaction Structure"), "entitlement_sku_ids")
		shapes(what+"'s data", got["data"], structure(t, "interaction_structures", data), "id")
	}
	// Libraries expect some fields in READY that are documented no more.
	shapes("READY", c.until("READY"), structure(t, "receive_events", "READY"), "session_type", "private_channels", "relationships", "presences",
		"user_settings", "guild_join_requests", "geo_ordered_rtc_regions")
	i := b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "x"))
	interaction("a command", "Application Command Data Structure")
	b.answer(i, object{"type": 4, "data": object{"content": "x", "components": []any{row(button("Go", "go"))}}})
	m := i.Message(within(t), nil)
	b.ann.MessageCommand(m, "Use with")
	interaction("a message command", "Application Command Data Structure")
	pressed := b.ann.Press(m, "Go")
	interaction("a press", "Message Component Data Structure")
	b.answer(pressed, object{"type": 9, "data": object{"custom_id": "f", "title": "F", "components": []any{object{"type": 18, "label": "Name", "component": object{"type": 4, "custom_id": "n", "style": 1}}}}})
	b.ann.Submit(pressed.Modal(within(t)), map[string]any{"Name": "x"})
	interaction("a form", "Modal Submit Data Structure")
}
