package i18n

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/internal/said"
)

func TestSentencesAreSaidInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text            said.Text
		english, german string
		ok              bool
	}{
		{said.EngineSilent.With(), "the engine does not answer", "der Server antwortet nicht", true},
		{said.ServiceProblem.With("service", said.TheService), "the service has a problem of its own", "API hat selbst ein Problem", true},
		{said.ServiceBusyWork.With("service", "Vidu"), "Vidu has too much to do at the moment", "Vidu hat gerade zu viel zu tun", true},
		{said.EngineLacksBoth.With("kind", said.Node, "names", "FluxGuidance", "other", said.Models, "others", "a.safetensors, b"),
			"no engine has the node FluxGuidance, nor the models a.safetensors, b", "kein Server hat den Node FluxGuidance und die Modelle a.safetensors, b", true},
		{said.Unavailable.With("tool", "Painter", "reason", said.EngineUnknown), "Painter is unavailable: no engine has answered yet", "Painter ist nicht verfügbar: noch hat kein Server geantwortet", true},
		{said.ServiceFailedWhy.With("service", "box.example", "words", "the *colour* {x} is odd"), "box.example failed: the *colour* {x} is odd", "box.example ist gescheitert: „the *colour* {x} is odd“", true},
		{said.PresetMany.With("n", 100), "there are 100 presets already, which is the limit: delete one first", "es gibt schon 100 Vorlagen, mehr gehen nicht: Lösch zuerst eine", true},
		{said.SiteDeletePosts.With("n", 1), "Delete 1 post?", "1 Beitrag löschen?", true},
		{said.SiteDeletePosts.With("n", 21), "Delete 21 posts?", "21 Beiträge löschen?", true},
		{said.Text{Words: "the idea is somebody else's"}, "the idea is somebody else's", "the idea is somebody else's", false},
		{said.Text{Key: "said.goneLongAgo"}, "said.goneLongAgo", "said.goneLongAgo", false},
		{said.Text{}, "", "", false},
	} {
		stored, err := json.Marshal(test.text)
		if err != nil {
			t.Fatal(err)
		}
		var text said.Text
		if err := json.Unmarshal(stored, &text); err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if got, ok := c.Voice("de").Text(text); got != test.german || ok != test.ok {
			t.Errorf("%s in German: %q, %v; want %q", stored, got, ok, test.german)
		}
		if got, ok := c.Voice("en").Text(text); got != test.english || ok != test.ok {
			t.Errorf("%s in English: %q, %v; want %q", stored, got, ok, test.english)
		}
	}
	var text said.Text
	if err := json.Unmarshal([]byte(`[1]`), &text); err == nil {
		t.Error("a list is taken as a text")
	}
}
