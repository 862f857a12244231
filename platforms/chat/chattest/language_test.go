package chattest

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// TestNoEnglishInOtherLanguages walks through what people do, in German, and looks at every message and button: none
// has a text of the house in English, no matter who says it.
func TestNoEnglishInOtherLanguages(t *testing.T) {
	t.Parallel()
	fake := NewFake(t)
	tools := Tools()
	because := func(tool *registry.Tool, reason said.Text) {
		tool.Status.Reason, tool.Status.Said = reason.String(), &reason
	}
	for i := range tools {
		switch tools[i].ToolID {
		case "fresco":
			because(&tools[i], said.EngineLacksBoth.With("kind", said.Model, "names", "wall.safetensors", "other", said.Nodes, "others", "Plaster, Brush"))
		case "etching":
			because(&tools[i], said.ReasonRemoved.With())
		case "painter":
			tools[i].Category = "generate"
		}
	}
	s := &scene{World: NewWorld(t, fake, tools...), t: t}
	s.anna = Person{ID: "1001", Name: "Anna", Language: "de"}
	s.room = fake.Private(s.anna)
	english := houseTexts(t)
	seen := map[string]bool{}
	look := func(step string) {
		t.Helper()
		s.Handled()
		for _, m := range fake.Messages(t, s.room) {
			shown := []string{m.Text, m.Alt}
			for _, row := range m.Buttons {
				shown = append(shown, row...)
			}
			for _, menu := range m.Menus {
				shown = append(append(shown, menu.Placeholder), menu.Options...)
			}
			for _, text := range shown {
				if seen[text] {
					continue
				}
				seen[text] = true
				if key := english.in(text); key != "" {
					t.Errorf("%s shows the English text %s:\n%s", step, key, text)
				}
			}
		}
	}
	for _, said := range []string{
		"/start", "/help", "/help painter", "/help fresco", "/help etching", "/help nothing of that kind", "/tools", "/run", "/run picture", "/nonsense", "just talking",
		"/settings", "/settings painter", "/balance", "/history", "/cancel", "/why", "/price", "/price painter", "/preset", "/preset use nothing", "/preset save " + strings.Repeat("x", 99),
		"/link", "/link WRONGONE", "/language", "/chatsettings", "/deny", "/terms", "/privacy", "/paysupport", "/buy", "/delete_my_data", "/last painter",
		"/fresco a wall", "/painter", "/cancel", "/painter a cat steps=500", "/painter a cat stepz=5", "/painter a cat steps=", "/mural a wall", "/cancel",
	} {
		s.say(said)
		look(said)
	}
	for i, failure := range []struct {
		command string
		code    registry.Code
		reason  said.Text
		want    []string
	}{
		{"/etching a", registry.CodeProvider, said.EngineMemory.With("node", said.NodeUnknown), []string{"dem Server ist bei einem unbekannten Node der Speicher ausgegangen", "Es wurde nichts berechnet"}},
		{"/painter b", registry.CodeProvider, said.Text{Words: "CUDA error: device-side assert"}, []string{"Der Anbieter hat es nicht geschafft.", "Im Wortlaut: „CUDA error: device-side assert“"}},
		{"/painter c", registry.CodeRefused, said.Text{Words: "Violates section 4"}, []string{"Die Regeln des Anbieters lassen das nicht zu.", "Im Wortlaut: „Violates section 4“"}},
		{"/painter d", registry.CodeUnavailable, said.ServiceUnreached.With("service", "Vidu"), []string{"Vidu ist nicht zu erreichen."}},
	} {
		s.say(failure.command)
		if err := s.Provider.Fail(handle(s.Call(i)), registry.SayText(failure.code, failure.reason)); err != nil {
			t.Fatal(err)
		}
		for _, want := range failure.want {
			s.Await(s.room, want, func(m Seen) bool { return strings.Contains(strings.ToLower(m.Text), strings.ToLower(want)) })
		}
		look(failure.command)
	}
	s.AwaitText(s.room, "Kein Server hat das Modell wall.safetensors und die Nodes Plaster, Brush.")
	s.AwaitText(s.room, "Der Dienst will es bald entfernen.")
	s.AwaitText(s.room, "Einstellungen · Painter", "Tiled: Nein")
	s.say("/painter e")
	s.Succeed(s.Call(4), PictureOutput("picture"))
	s.AwaitMedia(s.room, "Painter")
	for _, said := range []string{"/history", "/why", "/balance", "/last enlarge"} {
		s.say(said)
		look(said)
	}
	if len(seen) < 80 {
		t.Errorf("only %d texts were looked at", len(seen))
	}
}

// english are the house's texts in English by key, each as the longest of its parts between placeholders.
type english map[string]string

// in gives the key of a text that stands in another one, or "".
func (e english) in(text string) string {
	text = strings.ToLower(text)
	for key, part := range e {
		if strings.Contains(text, part) {
			return key + " (" + part + ")"
		}
	}
	return ""
}

// houseTexts reads the catalogue: the parts that have several words and are not the same in German.
func houseTexts(t *testing.T) english {
	t.Helper()
	parts, found := regexp.MustCompile(`\{[a-zA-Z]+\}|\n`), english{}
	for _, room := range []string{"chat", "said", "web"} {
		for key, text := range catalogue(t, room, "en") {
			german := strings.ToLower(catalogue(t, room, "de")[key])
			for _, part := range parts.Split(text, -1) {
				part = strings.ToLower(strings.Trim(strings.NewReplacer("*", "", "`", "").Replace(part), " .,:;!?()„“\"–-"))
				if len(part) > max(11, len(found[key])) && strings.Contains(part, " ") && !strings.Contains(german, part) {
					found[key] = part
				}
			}
		}
	}
	if len(found) < 300 {
		t.Fatalf("only %d texts were read", len(found))
	}
	return found
}

// catalogue reads the texts of a room in a language. Of the forms for numbers it takes the usual one.
func catalogue(t *testing.T, room, language string) map[string]string {
	t.Helper()
	files := os.DirFS(filepath.Join("..", "..", "..", "internal", "i18n"))
	if room == "said" {
		files = said.Texts
	}
	raw, err := fs.ReadFile(files, "texts/"+room+"."+language+".json")
	if err != nil {
		t.Fatal(err)
	}
	var entries map[string]any
	if err := json.Unmarshal(raw, &entries); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for key, entry := range entries {
		switch entry := entry.(type) {
		case string:
			texts[key] = entry
		case map[string]any:
			texts[key], _ = entry["other"].(string)
		}
	}
	return texts
}
