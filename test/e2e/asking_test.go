package e2e

import (
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/openai/openaitest"
)

// TestAskInTheConversation asks a model on the page: it wants a picture, a press lets it go ahead, and the picture comes.
func TestAskInTheConversation(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	gpt := openaitest.NewChat(t, openaitest.Habits{}, func(results []agent.Result) agent.Turn {
		if len(results) == 0 {
			return agent.Turn{Calls: []agent.Call{{ID: "one", Tool: "wallpaper", Arguments: `{"width":96,"height":64}`}}}
		}
		return agent.Turn{Text: "I will make a **small** one."}
	})
	p := start(t, spec{dir: seededDir(t), env: []string{"OPENAI_BASE_URL=" + gpt.BaseURL(), "OPENAI_MODEL=" + openaitest.Model, "COMFYUI_URLS=" + startEngine(t), "LOG_LEVEL=warn"}})
	page := p.visit()
	page.post("/chat/say", "text", "please make me something small for my desktop")
	page.awaitPage("the answer", `I will make a <b>small</b> one|I will make a <strong>small</strong> one`)
	page.awaitPage("the card", `Shall I do this`)
	page.press("Go ahead")
	page.awaitPage("what became of the card", `✓ <b>Wallpaper|✓ <strong>Wallpaper`)
	page.awaitPage("the picture", `<img [^>]*width="96" height="64"`)
	page.post("/chat/say", "text", "/draw a poster for Friday: Summer party")
	page.awaitPage("the drawing, which needs no model", `Summer party`)
	asked := len(gpt.Requests())
	page.post("/chat/say", "text", "/forget")
	page.awaitPage("that it is forgotten", `I have forgotten`)
	if n := len(gpt.Requests()); n != asked || n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}
