package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// asked is a run with a question, as the API tells it.
type asked struct {
	RunID, Status string
	Question      *struct {
		ID, Message, OpenURL, URL string
		ExpiresAt                 time.Time
		Fields                    []registry.InputField
	}
	Outputs []struct{ Text string }
}

// refused is why an answer is not taken.
type refused struct{ Code, Detail, Field string }

// pizza asks for a field of each kind that looks another way.
var pizza = registry.Question{Message: "Which <pizza>?\nIt is for tonight.", Fields: []registry.InputField{
	{Name: "size", Type: registry.TypeString, Required: true, Choices: []registry.Choice{{Value: "s", Label: "Small"}, {Value: "l", Label: "Large"}}},
	{Name: "csrf", Type: registry.TypeNumber, DisplayName: "How many", Required: true, Integer: true, Min: "1", Max: "9", Default: json.Number("2")},
	{Name: "mail", Type: registry.TypeString, Schema: json.RawMessage(`{"type":"string","format":"email"}`)},
	{Name: "gift", Type: registry.TypeBoolean},
	{Name: "toppings", Type: registry.TypeString, Multiple: true, Choices: []registry.Choice{{Value: "o", Label: "Olives"}, {Value: "c", Label: "Capers"}}},
}}

var signIn = registry.Question{Message: "Please sign in", URL: "https://pizza.example/in?for=ann"}

func questionHouse(t *testing.T, questions ...registry.Question) *house {
	t.Helper()
	h := newHouse(t)
	h.asking.Questions = func(registry.Call) []registry.Question { return questions }
	h.fakes.Set(registrytest.Tool("order", func(c *registry.Tool) {
		c.Service, c.CommandName, c.CostingModel, c.OutputSchema = "asking", "", nil, registry.OutputSchema{{Name: "text", Type: "text"}}
	}))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// asks starts a run and waits for its question.
func (c *client) asks(t *testing.T) asked {
	t.Helper()
	var run asked
	if status := c.call("POST", "/api/run/order", ask("x"), &run); status != http.StatusAccepted && status != http.StatusOK {
		t.Fatalf("%d %+v", status, run)
	}
	return c.asksNext(t, run.RunID, "")
}

func (c *client) asksNext(t *testing.T, id, before string) asked {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		var run asked
		if c.call("GET", "/api/runs/"+id, "", &run); run.Question != nil && run.Question.ID != before {
			return run
		}
	}
	t.Fatal("the run asks nothing")
	return asked{}
}

// ends waits until a run is over.
func (c *client) ends(t *testing.T, id string) asked {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		var run asked
		if c.call("GET", "/api/runs/"+id, "", &run); run.Status == "succeeded" || run.Status == "failed" || run.Status == "canceled" {
			return run
		}
	}
	t.Fatal("the run does not end")
	return asked{}
}

func reply(questionID, action, values string) string {
	if values == "" {
		values = "null"
	}
	return `{"question":"` + questionID + `","action":"` + action + `","values":` + values + `}`
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	h := questionHouse(t, pizza, signIn)
	dev := h.developer("ann")
	run := dev.asks(t)
	q, path := run.Question, "/api/runs/"+run.RunID+"/answer"
	t.Run("a run tells its question", func(t *testing.T) {
		if run.Status != "running" || q.Message != pizza.Message || len(q.Fields) != 5 || q.Fields[0].Choices[1].Label != "Large" || q.OpenURL != "" || !strings.HasSuffix(q.URL, "/run/"+run.RunID) || time.Until(q.ExpiresAt) > 10*time.Minute {
			t.Errorf("got %+v", q)
		}
	})
	right := reply(q.ID, "accept", `{"size":"l","csrf":3,"gift":true,"toppings":["c"]}`)
	t.Run("nobody but the owner answers: no other account, no agent, no limited key, no model", func(t *testing.T) {
		me := h.visitor()
		me.key = dev.key
		mine := me.accountID()
		for name, who := range map[string]struct {
			key    string
			header []string
			want   int
		}{
			"another account": {h.developer("bob").key, nil, http.StatusNotFound}, "an operator": {adminToken, nil, http.StatusNotFound}, "nobody": {"", nil, http.StatusUnauthorized},
			"an agent's key": {h.key(mine, 0, true), nil, http.StatusForbidden}, "a limited key": {h.key(mine, 1_000_000_000, false), nil, http.StatusForbidden},
			"a model": {dev.key, []string{"X-Planner-Provider", "anthropic"}, http.StatusForbidden},
		} {
			c := h.visitor()
			c.key = who.key
			if res := c.do("POST", path, "application/json", strings.NewReader(right), who.header...); res.StatusCode != who.want {
				t.Errorf("%s: %d, want %d", name, res.StatusCode, who.want)
			}
		}
	})
	t.Run("what does not fit is told with its field, and the question stays open", func(t *testing.T) {
		for field, values := range map[string]string{"size": `{"csrf":3}`, "csrf": `{"size":"l","csrf":"many"}`, "mail": `{"size":"l","csrf":3,"mail":"nobody"}`, "colour": `{"size":"l","csrf":3,"colour":"red"}`} {
			var p refused
			if status := dev.call("POST", path, reply(q.ID, "accept", values), &p); status != http.StatusUnprocessableEntity || p.Field != field || p.Detail == "" {
				t.Errorf("%s: %d %+v", values, status, p)
			}
		}
		var p refused
		if status := dev.call("POST", path, reply(q.ID, "perhaps", ""), &p); status != http.StatusUnprocessableEntity {
			t.Errorf("another action: %d %+v", status, p)
		}
		if status := dev.call("POST", path, reply("another", "accept", "{}"), &p); status != http.StatusConflict || p.Code != "question-over" {
			t.Errorf("another question: %d %+v", status, p)
		}
	})
	t.Run("the owner's answer counts, once", func(t *testing.T) {
		var p asked
		if status := dev.call("POST", path, right, &p); status != http.StatusAccepted || p.RunID != run.RunID {
			t.Fatalf("%d %+v", status, p)
		}
		var again refused
		if status := dev.call("POST", path, right, &again); status != http.StatusConflict || again.Code != "question-over" {
			t.Errorf("again: %d %+v", status, again)
		}
	})
	t.Run("a page to open is for the owner's eyes, not for an agent's", func(t *testing.T) {
		next := dev.asksNext(t, run.RunID, q.ID).Question
		if next.OpenURL != signIn.URL || len(next.Fields) != 0 {
			t.Errorf("got %+v", next)
		}
		me := h.visitor()
		me.key = dev.key
		agent := h.visitor()
		agent.key = h.key(me.accountID(), 0, true)
		if seen := agent.asksNext(t, run.RunID, "").Question; seen.OpenURL != "" || seen.Message != signIn.Message {
			t.Errorf("an agent sees %+v", seen)
		}
		if page := agent.page("/run/" + run.RunID); strings.Contains(page, "pizza.example") {
			t.Error("an agent sees the address on the page")
		}
		if status := dev.call("POST", path, reply(next.ID, "decline", ""), nil); status != http.StatusAccepted {
			t.Errorf("%d", status)
		}
		if over := dev.ends(t, run.RunID); over.Status != "succeeded" || over.Question != nil || over.Outputs[0].Text != `accept {"csrf":3,"gift":true,"size":"l","toppings":["c"]}`+"\ndecline null" {
			t.Errorf("got %+v", over)
		}
	})
}

func TestQuestionPage(t *testing.T) {
	t.Parallel()
	h := questionHouse(t, pizza, signIn)
	dev := h.developer("ann")
	me := h.visitor()
	me.form("/signin", url.Values{"key": {dev.key}})
	run := dev.asks(t)
	path := "/run/" + run.RunID
	page := me.page(path)
	has(t, page, "The service asks you", "Which &lt;pizza&gt;?", "It is for tonight.", `name="answer0"`, `value="2"`, "How many", `type="checkbox" name="answer4" value="c"`, "Decline", "You can answer until", `data-question="`+run.Question.ID+`"`)
	if res := me.form(path+"/answer", url.Values{"question": {run.Question.ID}, "action": {"accept"}, "answer0": {"l"}, "answer1": {"many"}, "answer4": {"c"}}); res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a wrong answer: %d", res.StatusCode)
	} else {
		has(t, readAll(t, res.Body), "How many", `value="many"`, `value="c" checked`, `aria-invalid="true"`)
	}
	if res := h.visitor().do("POST", path+"/answer", "application/x-www-form-urlencoded", strings.NewReader("")); res.StatusCode == http.StatusOK {
		t.Error("a stranger answers")
	}
	if res := me.form(path+"/answer", url.Values{"question": {run.Question.ID}, "action": {"accept"}, "answer0": {"l"}, "answer1": {"4"}, "answer2": {""}, "answer3__shown": {"1"}, "answer4": {"c", "o"}}); res.StatusCode != http.StatusSeeOther {
		t.Fatalf("the answer: %d", res.StatusCode)
	}
	next := dev.asksNext(t, run.RunID, run.Question.ID)
	has(t, me.page(path), "Please sign in", `href="https://pizza.example/in?for=ann"`, "pizza.example", "Yes, go on")
	if res := me.form(path+"/answer", url.Values{"question": {run.Question.ID}, "action": {"accept"}}); res.StatusCode != http.StatusConflict {
		t.Errorf("the first question again: %d", res.StatusCode)
	}
	if res := me.form(path+"/answer", url.Values{"question": {next.Question.ID}, "action": {"accept"}}); res.StatusCode != http.StatusSeeOther {
		t.Errorf("yes: %d", res.StatusCode)
	}
	if over := dev.ends(t, run.RunID); over.Outputs[0].Text != `accept {"csrf":4,"gift":false,"size":"l","toppings":["c","o"]}`+"\naccept null" {
		t.Errorf("got %+v", over)
	}
}

func TestQuestionInABrowser(t *testing.T) {
	t.Parallel()
	h := questionHouse(t, pizza, signIn)
	for name, width := range map[string]int64{"phone": 360, "desktop": 1280} {
		t.Run("the page of a run asks as soon as its service does, and goes on with the answer, on a "+name, func(t *testing.T) {
			t.Parallel()
			ctx := open(t, browsertest.Window{Width: width, Height: 900})
			browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/order"), chromedp.WaitVisible(chromedp.CSS("#inputs")), chromedp.SetValue(chromedp.CSS("[name=prompt]"), "x"),
				chromedp.Click(chromedp.CSS("#start")), chromedp.WaitVisible(chromedp.CSS("#question .field")))
			if !browsertest.Is(t, ctx, browsertest.Fits) {
				t.Error("the question is wider than the window")
			}
			browsertest.Accessible(t, ctx, "a question")
			browsertest.Shot(t, ctx, "question-"+name)
			send := func() { // which the bar at a phone's foot may cover
				t.Helper()
				until(t, ctx, `(document.querySelector("#question button.primary").click(), true)`)
			}
			until(t, ctx, `document.querySelector("[name=answer0][value=l]").checked = true`)
			browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("[name=answer1]"), "many"))
			send()
			browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS("#question .field.wrong")))
			browsertest.Accessible(t, ctx, "an answer that does not fit")
			browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS("[name=answer1]"), "3"))
			send()
			browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS(`#question a[href^="https://pizza.example/"]`)))
			browsertest.Shot(t, ctx, "question-page-"+name)
			send()
			browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS(".results")))
			if got := browsertest.Text(t, ctx, ".results"); !strings.Contains(got, `"csrf":3`) {
				t.Errorf("the result reads %q", got)
			}
		})
	}
}
