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
		c.Translator = translator{most: "0", says: func(account, question, language string) (string, error) {
			asked = append(asked, account+" "+language+": "+question)
			if said, ok := says[question]; ok {
				return said, nil
			}
			return "", errors.New("the model is away")
		}}
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

// translator costs up to most, and 0.002 in the end.
type translator struct {
	most string
	says func(account, question, language string) (string, error)
}

func (tr translator) Most() (string, error) { return tr.most, nil }

func (tr translator) Price(context.Context, registry.Call, string, string) (registry.Price, error) {
	return registry.Price{CostUSD: tr.most, LowUSD: "0"}, nil
}

func (tr translator) Translate(_ context.Context, c registry.Call, question, language string) (said, costUSD string, err error) {
	said, err = tr.says(c.UserID, question, language)
	return said, "0.002", err
}

func TestTranslationsHaveAPrice(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *knowledge.Config) {
		c.Translator = translator{most: "0.01", says: func(string, string, string) (string, error) { return "how to create a board", nil }}
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
	call := func(account, tool, question string) registry.Call {
		return registry.Call{UserID: account, Tool: tools[tool], Inputs: map[string]any{"question": question, "query": question}}
	}
	price := func(t *testing.T, c registry.Call) registry.Price {
		t.Helper()
		p, err := h.Price(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	paid := func(t *testing.T, c registry.Call) string {
		t.Helper()
		result, err := h.Call(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return result.Usage.CostUSD
	}
	free := registry.Price{CostUSD: "0"}
	for question, tool := range map[string]string{"wie lege ich eine Zeichenfläche an": knowledge.DocsToolID, "wie lege ich eine neue Zeichenfläche an": "guideRag"} {
		t.Run("a question that is translated costs up to that, and what it came to: "+tool, func(t *testing.T) {
			if p := price(t, call(ann, tool, question)); p != (registry.Price{CostUSD: "0.01", LowUSD: "0"}) {
				t.Errorf("got %+v", p)
			}
			if cost := paid(t, call(ann, tool, question)); cost != "0.002" {
				t.Errorf("it cost %s", cost)
			}
		})
		for name, c := range map[string]registry.Call{
			"one that was translated before":       call(ann, tool, question),
			"one in the language of the documents": call(ann, tool, "how to create a board"),
			"one by nobody":                        call("", tool, "und wie lege ich noch eine Zeichenfläche an"),
		} {
			t.Run(name+" costs nothing: "+tool, func(t *testing.T) {
				if p, cost := price(t, c), paid(t, c); p != free || cost != "0" {
					t.Errorf("up to %+v, and then %s", p, cost)
				}
			})
		}
	}
}
