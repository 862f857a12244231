package askapi

import (
	"net/http"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/improve"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// ImprovePath is where a prompt is improved.
const ImprovePath = "/api/improve"

// improveBody asks for a better prompt for an input of a tool. Nothing is run.
type improveBody struct {
	Tool  string `json:"tool"`
	Input string `json:"input"`
	Text  string `json:"text"`
	Model string `json:"model"`
}

type improvedBody struct {
	ID string `json:"id,omitempty"` // of the question that it was to the model
	*improvement
	Model  string       `json:"model,omitempty"`
	Stop   agent.Stop   `json:"stop,omitempty"`
	Notice string       `json:"notice,omitempty"`
	Usage  *agent.Usage `json:"usage,omitempty"`
	Styles []styleBody  `json:"styles,omitempty"` // where there is no model
}

// improvement is a prompt with what differs from the one before.
type improvement struct {
	Text       string       `json:"text"`
	Difference []edit.Piece `json:"difference"`
}

type styleBody struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	improvement
}

func (s server) improve(w http.ResponseWriter, r *http.Request) {
	account, err := s.allowed(r)
	if err == nil {
		var body improvedBody
		if body, err = s.improved(r, w, account); err == nil {
			door.WriteJSON(w, http.StatusOK, body)
			return
		}
	}
	s.fail(w, r, err)
}

func (s server) improved(r *http.Request, w http.ResponseWriter, account users.Account) (improvedBody, error) {
	var body improveBody
	if err := door.ReadLike(w, r, &body, `{"tool":"imagine","input":"prompt","text":"a bicycle"}`); err != nil {
		return improvedBody{}, err
	}
	tool, ok := s.Registry.Snapshot().Resolve(body.Tool)
	if !ok || !request.Knows(account, tool) {
		return improvedBody{}, runs.ErrUnknownTool
	}
	input, ok := tool.InputSchema.Get(body.Input)
	if !ok || input.Type != registry.TypeString || len(input.Choices) > 0 {
		return improvedBody{}, registry.Errorf(registry.CodeInvalidInput, "input: found %.40q, expected an input of %s that takes any text", body.Input, tool.ToolID)
	}
	if len(s.Agents) == 0 {
		return improvedBody{Styles: styles(account.Language, body.Text)}, nil
	}
	name, model, err := s.model(body.Model)
	if err != nil {
		return improvedBody{}, err
	}
	q := agent.Question{Text: body.Text, AccountID: account.ID, Key: s.Budget(r.Context()), Language: account.Language, Origin: runs.Origin{Platform: Platform}}
	answer, err := model.Rewrite(r.Context(), q, tool, input)
	if err != nil {
		return improvedBody{}, err
	}
	out := improvedBody{ID: answer.ID, Model: name, Stop: answer.Stop, Notice: answer.Notice, Usage: &answer.Usage}
	if answer.Text != "" {
		out.improvement = &improvement{answer.Text, edit.Difference(body.Text, answer.Text)}
	}
	return out, nil
}

// styles are those that come with the program, each with what the prompt would be.
func styles(language, prompt string) []styleBody {
	if texts, err := i18n.Load(); err == nil {
		language = texts.Voice(language).Language()
	}
	var list []styleBody
	for _, style := range improve.Styles(language) {
		text := style.Add(prompt)
		list = append(list, styleBody{style.ID, style.Name, improvement{text, edit.Difference(prompt, text)}})
	}
	return list
}

// DescribeImprove gives the route by which a prompt is improved.
func DescribeImprove() object {
	text := object{"type": "string"}
	pieces := object{"type": "array", "description": "The old and the new prompt as words", "items": object{"type": "object", "required": []string{"kind", "text"}, "properties": object{
		"kind": object{"enum": []string{"same", "gone", "new"}}, "text": text,
	}}}
	return object{ImprovePath: object{"post": object{
		"operationId": "improvePrompt", "tags": []string{"tools"}, "summary": "Improve a prompt for an input of a tool; nothing is run",
		"description": "A model rewrites the prompt, and is paid as for a question. Where there is none, the answer has styles that can be added.",
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"tool", "input", "text"}, "properties": object{"tool": text, "input": text, "text": text, "model": object{"enum": []string{"anthropic", "openai"}}},
		}}}},
		"responses": object{
			"200": object{"description": "The prompt, or styles", "content": object{"application/json": object{"schema": object{"type": "object", "properties": object{
				"id": text, "text": text, "difference": pieces, "model": text, "stop": text, "notice": text, "usage": object{"type": "object"},
				"styles": object{"type": "array", "items": object{"type": "object", "required": []string{"id", "name", "text", "difference"}, "properties": object{"id": text, "name": text, "text": text, "difference": pieces}}},
			}}}}},
			"default": object{"$ref": "#/components/responses/Problem"},
		},
	}}}
}
