package discordtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

const paint = `[{"name":"paint","description":"d","options":[
	{"type":3,"name":"prompt","description":"d","required":true},
	{"type":4,"name":"steps","description":"d","min_value":1,"max_value":50},
	{"type":11,"name":"image","description":"d","file_types":["image"]},
	{"type":3,"name":"model","description":"d","autocomplete":true}]},
	{"name":"set","description":"d","options":[{"type":1,"name":"up","description":"d","options":[{"type":5,"name":"on","description":"d"}]}]},
	{"name":"Use with","type":3}]`

func (b *bench) painted() *discordtest.Interaction {
	b.t.Helper()
	b.register(paint)
	return b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "a bicycle"))
}

// pressed is the press of a button on a message that the bot has sent.
func (b *bench) pressed() *discordtest.Interaction {
	b.t.Helper()
	b.call("POST", b.messages(), object{"content": "first", "components": []any{row(button("Again", "again"))}})
	return b.ann.Press(b.WaitMessage(within(b.t), b.channel, discordtest.Has("first")), "Again")
}

func TestFirstAnswer(t *testing.T) {
	t.Parallel()
	message := object{"type": 4, "data": object{"content": "hello"}}
	t.Run("an answer within three seconds is taken, one after them is too late", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		quick := b.painted()
		b.clock.Advance(3 * time.Second)
		if r := b.answer(quick, message); r.status != 204 {
			t.Error(r.raw)
		}
		slow := b.painted()
		b.clock.Advance(3*time.Second + time.Millisecond)
		b.expect(b.answer(slow, message), 404, 10062, "Unknown interaction")
		if !slow.Failed() || quick.Failed() {
			t.Error("the person is told that the application did not respond, and only then")
		}
		b.expect(b.hook("PATCH", slow, "/messages/@original", object{"content": "x"}), 401, 50027, "")
	})
	t.Run("a second answer is refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		b.answer(i, message)
		b.expect(b.answer(i, message), 400, 40060, "acknowledged")
		if i.Attempts() != 2 || i.Responses() != 1 {
			t.Errorf("%d attempts, %d responses", i.Attempts(), i.Responses())
		}
	})
	t.Run("wrong ids are unknown", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		b.expect(b.call("POST", "/interactions/1/"+i.Token+"/callback", message), 404, 10062, "")
		b.expect(b.call("POST", "/interactions/"+i.ID+"/x/callback", message), 404, 10062, "")
		b.expect(b.hook("PATCH", i, "/messages/@original", object{"content": "before the first answer"}), 404, 10015, "")
	})
	t.Run("answers that do not fit the kind of interaction are refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		command := b.painted()
		typed := b.ann.Autocomplete(b.channel, "paint", "model", "fl")
		for i, kinds := range map[*discordtest.Interaction][]int{command: {1, 6, 7, 8, 10, 12, 13}, typed: {4, 5, 9}} {
			for _, kind := range kinds {
				b.expect(b.answer(i, object{"type": kind, "data": object{}}), 400, 50035, "INTERACTION_CALLBACK_TYPE_INVALID")
				b.complained("50035")
			}
		}
	})
	t.Run("the token lives fifteen minutes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		b.answer(i, object{"type": 5})
		b.clock.Advance(15*time.Minute - time.Second)
		if r := b.hook("PATCH", i, "/messages/%40original", object{"content": "in time"}); r.status != 200 { // as discord.js writes it
			t.Error(r.raw)
		}
		b.clock.Advance(2 * time.Second)
		b.expect(b.hook("PATCH", i, "/messages/@original", object{"content": "late"}), 401, 50027, "Invalid Webhook Token")
		b.expect(b.hook("POST", i, "", object{"content": "late"}), 401, 50027, "")
		if m := i.Message(within(t), nil); m.Content != "in time" {
			t.Errorf("got %s", m)
		}
	})
	t.Run("with_response gives the message", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		r := b.call("POST", "/interactions/"+i.ID+"/"+i.Token+"/callback?with_response=true", object{"type": 5, "data": object{"flags": 64}})
		if r.status != 200 || r.get("interaction", "response_message_ephemeral") != true || r.get("interaction", "response_message_loading") != true || r.get("resource", "message", "id") == nil {
			t.Error(r.raw)
		}
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	t.Run("a deferred answer is a placeholder until it is edited, and stays as private as it began", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		b.answer(i, object{"type": 5, "data": object{"flags": 64}})
		if seen := b.ann.Sees(b.channel); len(seen) != 1 || !seen[0].Loading {
			t.Errorf("Ann sees %v", seen)
		}
		b.hook("PATCH", i, "/messages/@original", object{"content": "only you"})
		if m := i.Message(within(t), discordtest.Has("only you")); !m.Ephemeral || m.Loading {
			t.Errorf("got %s", m)
		}
		if seen := b.bob.Sees(b.channel); len(seen) != 0 || len(b.History(b.channel)) != 0 {
			t.Errorf("Bob sees %v", seen)
		}
		if a := i.Answer(within(t)); !a.Ephemeral || a.Type != discordtest.AnswerDeferred {
			t.Errorf("answer %+v", a)
		}
		b.expect(b.call("GET", b.messages()+"/"+b.ann.Sees(b.channel)[0].ID, nil), 404, 10008, "")
	})
	t.Run("a deferred answer takes EPHEMERAL only", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.answer(b.painted(), object{"type": 5, "data": object{"flags": 32768}})
		b.complained("EPHEMERAL only")
		b.answer(b.painted(), object{"type": 5, "data": object{"content": "hi"}})
		b.complained("has no content")
	})
	t.Run("the first follow-up fills the placeholder, later ones are messages", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		b.answer(i, object{"type": 5})
		b.hook("POST", i, "", object{"content": "secret?", "flags": 64})
		b.complained("EPHEMERAL has no effect")
		second := b.hook("POST", i, "?wait=true", object{"content": "two", "flags": 64})
		if m := i.Message(within(t), discordtest.Has("secret?")); m.Ephemeral {
			t.Error("the placeholder was public and stays so")
		}
		if f := i.Followups(); len(f) != 1 || f[0].ID != second.id() || !f[0].Ephemeral {
			t.Errorf("follow-ups %v", f)
		}
		if r := b.hook("PATCH", i, "/messages/"+second.id(), object{"content": "three"}); r.get("content") != "three" {
			t.Error(r.raw)
		}
		if r := b.hook("DELETE", i, "/messages/@original", nil); r.status != 204 || len(b.History(b.channel)) != 0 {
			t.Error(r.raw)
		}
		b.expect(b.hook("PATCH", i, "/messages/@original", object{"content": "x"}), 404, 10008, "")
	})
	t.Run("user installs have five follow-ups", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(`[{"name":"paint","description":"d","integration_types":[1]}]`)
		foreign := b.ForeignGuild("Elsewhere", b.ann).Text("talk")
		i := b.ann.Command(foreign, "paint")
		b.answer(i, object{"type": 4, "data": object{"content": "x"}})
		for range 5 {
			if r := b.hook("POST", i, "", object{"content": "x"}); r.status != 200 {
				t.Error(r.raw)
			}
		}
		b.expect(b.hook("POST", i, "", object{"content": "x"}), 400, 40094, "")
	})
	t.Run("an update changes the message of the button, a deferred one its later edit", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.answer(b.pressed(), object{"type": 7, "data": object{"content": "updated", "components": []any{}}})
		if m := b.History(b.channel)[0]; m.Content != "updated" || len(m.Labels()) != 0 {
			t.Errorf("got %s", m)
		}
		i := b.pressed()
		b.answer(i, object{"type": 6})
		b.hook("PATCH", i, "/messages/@original", object{"content": "later"})
		if m := b.History(b.channel)[1]; m.Content != "later" || m.Labels()[0] != "Again" {
			t.Errorf("got %s", m)
		}
		if r := b.hook("POST", i, "", object{"content": "beside", "flags": 64}); r.status != 200 || len(i.Followups()) != 1 {
			t.Error(r.raw)
		}
	})
	t.Run("menus are chosen from", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.call("POST", b.messages(), object{"content": "pick", "components": []any{row(object{"type": 3, "custom_id": "size", "placeholder": "Size", "options": options(3), "max_values": 2})}})
		m := b.WaitMessage(within(t), b.channel, discordtest.Has("pick"))
		if got := m.Selects()[0]; got.Max != 2 || got.Min != 1 || len(got.Options) != 3 {
			t.Errorf("got %+v", got)
		}
		i := b.ann.Choose(m, "Size", "Option 1", "2")
		if data := wireOf(t, b, i); !strings.Contains(data, `"values":["1","2"]`) || !strings.Contains(data, `"custom_id":"size"`) {
			t.Errorf("got %s", data)
		}
	})
	t.Run("choices: 25 at most", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(paint)
		choices := func(n int) object {
			var list []object
			for i := range n {
				list = append(list, object{"name": fmt.Sprint("c", i), "value": fmt.Sprint(i)})
			}
			return object{"type": 8, "data": object{"choices": list}}
		}
		i := b.ann.Autocomplete(b.channel, "paint", "model", "fl", discordtest.Opt("prompt", "x"))
		b.expect(b.answer(i, choices(26)), 400, 50035, `"data":{"choices"`)
		b.complained("50035")
		b.answer(i, choices(25))
		if got := i.Choices(within(t)); len(got) != 25 || got[0].Name != "c0" {
			t.Errorf("got %v", got)
		}
	})
}

// wireOf is the interaction as the gateway would send it, by way of a connected client.
func wireOf(t *testing.T, b *bench, i *discordtest.Interaction) string {
	t.Helper()
	c := b.connect(t)
	c.identify(object{})
	c.until("READY")
	i.Repeat()
	data, err := json.Marshal(c.until("INTERACTION_CREATE"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestModals(t *testing.T) {
	t.Parallel()
	modal := func(components ...any) object {
		return object{"type": 9, "data": object{"custom_id": "form", "title": "Settings", "components": components}}
	}
	label := func(name string, component object) object {
		return object{"type": 18, "label": name, "component": component}
	}
	input := func(id string, more ...any) object {
		o := object{"type": 4, "custom_id": id, "style": 1}
		for n := 0; n+1 < len(more); n += 2 {
			o[more[n].(string)] = more[n+1]
		}
		return o
	}
	t.Run("bad forms are refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		var six []any
		for n := range 6 {
			six = append(six, label("a", input(fmt.Sprint(n))))
		}
		long := object{"type": 9, "data": object{"custom_id": "form", "title": strings.Repeat("x", 46), "components": []any{label("a", input("1"))}}}
		for name, c := range map[string]struct {
			body object
			part string
		}{
			"six inputs":             {modal(six...), "between 1 and 5"},
			"none":                   {modal(), "components"},
			"a long title":           {long, "title"},
			"a long label":           {modal(label(strings.Repeat("x", 46), input("1"))), "label"},
			"one id twice":           {modal(label("a", input("1")), label("b", input("1"))), "DUPLICATED"},
			"a row without label":    {modal(row(input("1"))), "label"},
			"two labels":             {modal(label("a", input("1", "label", "b"))), "TEXT_INPUT_LABEL_IN_LABEL"},
			"a value beyond its max": {modal(label("a", input("1", "max_length", 2, "value", "abc"))), "at most 2"},
			"min over max":           {modal(label("a", input("1", "min_length", 3, "max_length", 2))), "TEXT_INPUT_MIN_OVER_MAX"},
			"a button":               {modal(row(button("a", "1"))), "BASE_TYPE_CHOICES"},
			"a required select of 0": {modal(label("a", object{"type": 3, "custom_id": "1", "min_values": 0, "options": options(2)})), "NUMBER_TYPE_MIN"},
			"a single radio":         {modal(label("a", object{"type": 21, "custom_id": "1", "options": options(1)})), "options"},
			"eleven files":           {modal(label("a", object{"type": 19, "custom_id": "1", "max_values": 11})), "NUMBER_TYPE_MAX"},
			"an unknown component":   {modal(label("a", object{"type": 88, "custom_id": "1"})), "UNION_TYPE_CHOICES"},
			"a long placeholder":     {modal(label("a", input("1", "placeholder", strings.Repeat("x", 101)))), "placeholder"},
		} {
			i := b.painted()
			r := b.answer(i, c.body)
			if r.code() != 50035 || !strings.Contains(r.raw, c.part) {
				t.Errorf("%s: %d %s, expected %q", name, r.status, r.raw, c.part)
			}
			b.complained("50035")
		}
	})
	t.Run("a form is filled in and answered, but opens no other form", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.pressed()
		b.answer(i, modal(row(input("name", "label", "Name", "value", "old", "required", false)), label("Size", object{"type": 3, "custom_id": "size", "options": options(2)}),
			label("Picture", object{"type": 19, "custom_id": "file", "required": false, "min_values": 0})))
		form := i.Modal(within(t))
		if len(form.Inputs) != 3 || form.Inputs[0].Label != "Name" || form.Inputs[0].Value != "old" || form.Inputs[1].Label != "Size" {
			t.Errorf("got %+v", form.Inputs)
		}
		sent := b.ann.Submit(form, map[string]any{"Name": "new", "size": "Option 1", "Picture": []discordtest.File{{Name: "a.png", Bytes: picture(t)}}})
		data := wireOf(t, b, sent)
		for _, part := range []string{`"value":"new"`, `"values":["1"]`, `"filename":"a.png"`, `"custom_id":"form"`, `"type":5`} {
			if !strings.Contains(data, part) {
				t.Errorf("%s lacks %s", data, part)
			}
		}
		b.expect(b.answer(sent, modal(label("a", input("1")))), 400, 50035, "INTERACTION_CALLBACK_TYPE_INVALID")
		b.complained("50035")
		if r := b.answer(sent, object{"type": 7, "data": object{"content": "saved"}}); r.status != 204 || b.History(b.channel)[0].Content != "saved" {
			t.Error(r.raw)
		}
		b.expect(b.hook("POST", i, "", object{"content": "x"}), 404, 10015, "")
	})
	t.Run("a deferred answer can't become a form", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		i := b.painted()
		b.answer(i, object{"type": 5})
		b.expect(b.answer(i, modal(label("a", input("1")))), 400, 40060, "")
	})
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	t.Run("a command carries its options, files, place, language and rights", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(paint)
		b.ann.Speaks("de")
		b.guild.Locale("fr").SetUploadLimit(50 << 20)
		i := b.ann.Command(b.channel, "paint", discordtest.Opt("prompt", "x"), discordtest.Opt("steps", 4), discordtest.Opt("image", discordtest.File{Name: "a.png", Bytes: picture(t)}))
		data := wireOf(t, b, i)
		for _, part := range []string{
			`"locale":"de"`, `"guild_locale":"fr"`, `"attachment_size_limit":52428800`, `"context":0`, `"app_permissions":"`, `"permissions":"`,
			`"name":"steps","type":4,"value":4`, `"resolved":{"attachments":{`, `"authorizing_integration_owners":{"0":"` + b.guild.ID() + `"}`, `"ephemeral":true`,
		} {
			if !strings.Contains(data, part) {
				t.Errorf("%s lacks %s", data, part)
			}
		}
	})
	t.Run("subcommands nest, and direct messages carry the person", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(paint)
		data := wireOf(t, b, b.ann.Command(b.ann.DM(), "set up", discordtest.Opt("on", true)))
		for _, part := range []string{`"options":[{"name":"up","options":[{"name":"on","type":5,"value":true}],"type":1}]`, `"context":1`, `"user":{`} {
			if !strings.Contains(data, part) {
				t.Errorf("%s lacks %s", data, part)
			}
		}
	})
	t.Run("a message command carries the message whole, without the privileged intent", func(t *testing.T) {
		t.Parallel()
		b := setup(t, discordtest.Options{})
		b.register(paint)
		m := b.bob.SendFiles(b.channel, "look", discordtest.File{Name: "a.png", Bytes: picture(t)})
		data := wireOf(t, b, b.ann.MessageCommand(m, "Use with"))
		for _, part := range []string{`"target_id":"` + m.ID + `"`, `"content":"look"`, `"filename":"a.png"`} {
			if !strings.Contains(data, part) {
				t.Errorf("%s lacks %s", data, part)
			}
		}
	})
}
