package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/registry"
)

func TestTranslatedQuestions(t *testing.T) {
	t.Parallel()
	var asked []string
	says := map[string]string{
		"wie lege ich eine Zeichenfläche an":     "how to create a board",
		"wo wachsen hier die Bananen am besten":  "where do bananas grow best",
		"wie geht das mit der Farbe":             "wie geht das mit der Farbe",
		"und wie geht das mit der Form":          strings.Repeat("board ", 200),
		"und wie geht das mit dem Licht":         "con la luz es como con las cosas de la casa",
		"wie geht das denn nun mit dem Schatten": "",
	}
	h := newHouse(t, func(c *knowledge.Config) {
		c.Language = func(context.Context, string) string { return "de" }
		c.Translate = func(_ context.Context, c registry.Call, question, language string) (string, error) {
			asked = append(asked, c.UserID+" "+language+": "+question)
			if said, ok := says[question]; ok {
				return said, nil
			}
			return "", errors.New("the model is away")
		}
	})
	h.write(map[string]string{"guide/source.yaml": "title: The guide\nurl: https://help.example\naccess: public\n", "guide/boards.md": guide})
	h.tools()
	ann := h.account("ann", "de")
	t.Run("E29 E83 what a translation finds is the answer, with what was looked for; nobody translates it twice", func(t *testing.T) {
		for range 2 {
			said, err := h.call(ann, "guideRag", map[string]any{"query": "wie lege ich eine Zeichenfläche an"})
			if err != nil || !strings.Contains(said["results"], "Press B") || said["hint"] != `The documents are in English: what was looked for is "how to create a board".` {
				t.Errorf("%v (%v)", said, err)
			}
		}
		said := h.docs(ann, "wie lege ich eine Zeichenfläche an")
		if !strings.HasPrefix(said, "1. Boards › Create a board\n") || !strings.HasSuffix(said, "Die Dokumente sind auf Englisch. Gesucht wurde nach: how to create a board") {
			t.Error(said)
		}
		if len(asked) != 1 || asked[0] != ann+" English: wie lege ich eine Zeichenfläche an" {
			t.Errorf("asked %q", asked)
		}
	})
	t.Run("E29 nothing about that is an answer in translation, too", func(t *testing.T) {
		if said := h.docs(ann, "wo wachsen hier die Bananen am besten"); said != "Darüber steht in den Dokumenten hier nichts.\n\nDie Dokumente sind auf Englisch. Gesucht wurde nach: where do bananas grow best" {
			t.Error(said)
		}
	})
	t.Run("E83 where nobody translates, or it is none, there is the hint", func(t *testing.T) {
		for _, question := range []string{"wie geht das mit der Farbe", "und wie geht das mit der Form", "und wie geht das mit dem Licht", "wie geht das denn nun mit dem Schatten", "wie kommt man von hier nach Hause"} {
			if said := h.docs(ann, question); !strings.HasSuffix(said, "In dieser Sprache gefragt, wird die Antwort besser.") {
				t.Errorf("%s: %s", question, said)
			}
		}
	})
	t.Run("a question in the language of the documents is not translated, nor one that nobody would pay for", func(t *testing.T) {
		before := len(asked)
		h.docs(ann, "how to create a board")
		h.docs(ann, "are there any bananas")
		if said := h.docs("", "wie lege ich eine neue Zeichenfläche an"); !strings.HasSuffix(said, "In dieser Sprache gefragt, wird die Antwort besser.") {
			t.Error(said)
		}
		if len(asked) != before {
			t.Errorf("asked %q", asked[before:])
		}
	})
}

func TestTranslationsHaveAPrice(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *knowledge.Config) {
		c.Translate = func(context.Context, registry.Call, string, string) (string, error) {
			return "how to create a board", nil
		}
		c.TranslationUSD = func(_ context.Context, c registry.Call) (string, error) {
			if c.Context.PlannerProvider != "" {
				return "0", nil
			}
			return "0.01", nil
		}
	})
	h.write(map[string]string{"guide/source.yaml": "title: The guide\nurl: https://help.example\naccess: public\n", "guide/boards.md": guide})
	tools := h.tools()
	ann := h.account("ann", "de")
	t.Run("the tools say up to what it costs", func(t *testing.T) {
		for _, id := range []string{knowledge.DocsToolID, "guideRag"} {
			if costs := tools[id].CostingModel; costs.Summary() != "up to 0.01 USD per request" {
				t.Errorf("%s: %s", id, costs.Summary())
			}
		}
	})
	const foreign = "wie lege ich eine Zeichenfläche an"
	price := func(t *testing.T, account, tool, question, planner string) registry.Price {
		t.Helper()
		p, err := h.Price(t.Context(), registry.Call{
			UserID: account, Tool: tools[tool], Inputs: map[string]any{"question": question, "query": question}, Context: registry.CallContext{PlannerProvider: planner},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	free := registry.Price{CostUSD: "0"}
	t.Run("a question that will be translated costs up to that, others nothing", func(t *testing.T) {
		for _, id := range []string{knowledge.DocsToolID, "guideRag"} {
			if p := price(t, ann, id, foreign, ""); p != (registry.Price{CostUSD: "0.01", LowUSD: "0", Parts: true}) {
				t.Errorf("%s: %+v", id, p)
			}
			for name, p := range map[string]registry.Price{
				"in the language of the documents": price(t, ann, id, "how to create a board", ""),
				"by nobody":                        price(t, "", id, foreign, ""),
				"within a question that pays":      price(t, ann, id, foreign, "anthropic"),
			} {
				if p != free {
					t.Errorf("%s %s: %+v", id, name, p)
				}
			}
		}
	})
	t.Run("one that was translated before costs nothing", func(t *testing.T) {
		h.docs(ann, foreign)
		if p := price(t, ann, "guideRag", foreign, ""); p != free {
			t.Errorf("%+v", p)
		}
	})
}
