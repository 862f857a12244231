package askapi

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// The bounds of a request.
const (
	maxConversation = 200 // bytes of a name
	maxAttachments  = 16
)

type askBody struct {
	Question     string           `json:"question"`
	Model        string           `json:"model"`
	Intents      []string         `json:"intents"`
	Conversation string           `json:"conversation"`
	Budget       billing.NanoUSD  `json:"budgetNanoUsd"`
	PlanSchema   json.RawMessage  `json:"planSchema"`
	Attachments  []attachmentBody `json:"attachments"`
}

// attachmentBody is a file by its reference or address, alone as a text or with what it is.
type attachmentBody struct {
	Type string `json:"type"`
	Ref  string `json:"ref"`
	URL  string `json:"url"`
	Name string `json:"name"`
}

// UnmarshalJSON takes a text as a reference.
func (a *attachmentBody) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Ref) == nil {
		return nil
	}
	type plain attachmentBody
	return door.DecodeStrictly(data, (*plain)(a))
}

func readBody(w http.ResponseWriter, r *http.Request) (askBody, error) {
	var body askBody
	if err := door.ReadLike(w, r, &body, `{"question":"find the oak chair"}`); err != nil {
		return body, err
	}
	switch {
	case len(body.Conversation) > maxConversation || strings.ContainsRune(body.Conversation, 0):
		return body, registry.Errorf(registry.CodeInvalidInput, "conversation: expected a name of at most %d bytes", maxConversation)
	case body.Budget < 0:
		return body, registry.Errorf(registry.CodeInvalidInput, "budgetNanoUsd: expected billionths of a US dollar, 0 or more")
	case len(body.Attachments) > maxAttachments:
		return body, registry.Errorf(registry.CodeInvalidInput, "attachments: expected at most %d", maxAttachments)
	}
	for i, a := range body.Attachments {
		if (a.Ref == "") == (a.URL == "") || (a.Type != "" && !registry.InputType(a.Type).IsMedia()) {
			return body, registry.Errorf(registry.CodeInvalidInput, `attachments: %d: expected {"type":"image","ref":"asset:..."} or {"type":"image","url":"https://..."}, the type one of image, video, audio and file`, i)
		}
	}
	if string(body.PlanSchema) == "null" {
		body.PlanSchema = nil
	}
	return body, nil
}

func (b askBody) attachments() []agent.Attachment {
	var list []agent.Attachment
	for _, a := range b.Attachments {
		one := agent.Attachment{Kind: registry.InputType(a.Type), Ref: a.Ref + a.URL, Name: a.Name}
		if one.Kind == "" {
			one.Kind = kindOf(one.Ref)
		}
		list = append(list, one)
	}
	return list
}

// kindOf guesses by the ending of a name; what it does not know is some picture, which most attachments are.
func kindOf(ref string) registry.InputType {
	switch strings.ToLower(path.Ext(ref)) {
	case ".mp4", ".webm", ".mov", ".mkv":
		return registry.TypeVideo
	case ".mp3", ".wav", ".ogg", ".flac", ".m4a":
		return registry.TypeAudio
	case ".pdf", ".txt", ".csv", ".zip", ".glb", ".json", ".srt":
		return registry.TypeFile
	}
	return registry.TypeImage
}

type answerBody struct {
	ID           string          `json:"id,omitempty"`
	Answer       string          `json:"answer"`
	Model        string          `json:"model"`
	Stop         agent.Stop      `json:"stop"`
	Notice       string          `json:"notice,omitempty"`
	Rounds       int             `json:"rounds"`
	Calls        []callBody      `json:"calls"`
	Cards        []agent.Card    `json:"cards"`
	Plan         json.RawMessage `json:"plan,omitempty"`
	Usage        agent.Usage     `json:"usage"`
	Conversation string          `json:"conversation,omitempty"`
	TraceID      string          `json:"traceId"`
}

type callBody struct {
	Round     int             `json:"round"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // missing where the model wrote no JSON
	RunID     string          `json:"runId,omitempty"`
	Card      *agent.Card     `json:"card,omitempty"`
	Result    *runs.Envelope  `json:"result,omitempty"` // missing while it is under way
}

func bodyOf(a agent.Answer, model, conversation string) answerBody {
	body := answerBody{
		ID: a.ID, Answer: a.Text, Model: model, Stop: a.Stop, Notice: a.Notice, Rounds: a.Rounds, Calls: []callBody{}, Cards: []agent.Card{}, Plan: a.Plan, Usage: a.Usage,
		Conversation: conversation, TraceID: a.Context.TraceID,
	}
	for _, s := range a.Steps {
		if s.Card != nil {
			body.Cards = append(body.Cards, *s.Card)
		}
		body.Calls = append(body.Calls, callOf(s))
	}
	return body
}

func callOf(s agent.Step) callBody {
	call := callBody{Round: s.Round, Tool: s.Tool, RunID: s.RunID, Card: s.Card}
	if s.Over() {
		call.Result = &s.Result
	}
	if json.Valid([]byte(s.Arguments)) {
		call.Arguments = json.RawMessage(s.Arguments)
	}
	return call
}
