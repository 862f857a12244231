package api

import (
	"net/http"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// runBody is a run as the API tells it.
type runBody struct {
	RunID         string                 `json:"runId"`
	ToolID        string                 `json:"toolId"`
	ToolVersion   string                 `json:"toolVersion"`
	Status        runs.Status            `json:"status"`
	Progress      *float64               `json:"progress"` // 0..1, null while no real figure is known
	Stage         string                 `json:"stage,omitempty"`
	QueuePosition int                    `json:"queuePosition,omitempty"`
	Notice        runs.Notice            `json:"notice,omitempty"`           // while it is under way: what became of its engine
	Remaining     int                    `json:"remainingSeconds,omitempty"` // by how long such runs took
	Inputs        map[string]any         `json:"inputs"`
	Sources       map[string]runs.Source `json:"sources,omitempty"`
	Outputs       []outputBody           `json:"outputs"`
	Quote         quoteBody              `json:"quoteNanoUsd"`
	Cost          billing.NanoUSD        `json:"costNanoUsd"`
	Receipt       *billing.Receipt       `json:"receipt,omitempty"`
	Error         *runs.Failure          `json:"error,omitempty"`
	CreatedAt     time.Time              `json:"createdAt"`
	StartedAt     *time.Time             `json:"startedAt,omitempty"`
	EndedAt       *time.Time             `json:"endedAt,omitempty"`
	TraceID       string                 `json:"traceId"`
	LatencyMs     int64                  `json:"latencyMs,omitempty"` // once over; see runs.Envelope
	Attempts      int                    `json:"attempts,omitempty"`  // executions until now
	Confirmation  *confirmationBody      `json:"confirmation,omitempty"`
	Preview       *registry.Preview      `json:"preview,omitempty"` // what the call would do, as its provider said before
	Question      *questionBody          `json:"question,omitempty"`
	Granted       []string               `json:"granted,omitzero"` // the personal data that its owner let go to the service; absent: all that the tool asks for
}

// confirmationBody is what a run waits for: its owner's word to exactly this, in time.
type confirmationBody struct {
	Kind      string          `json:"kind"`
	Hash      string          `json:"summaryHash"`
	Personal  []string        `json:"personal,omitempty"` // scopes of personal data that go to the service
	Promise   billing.NanoUSD `json:"promiseNanoUsd"`
	ExpiresAt time.Time       `json:"expiresAt"`
	URL       string          `json:"url"` // the page on which its owner can confirm
}

// questionBody is what a run's service asks its owner, while the call waits.
type questionBody struct {
	ID        string                `json:"id"`
	Message   string                `json:"message"`
	Fields    []registry.InputField `json:"fields"`
	OpenURL   string                `json:"openUrl,omitempty"` // a page that the owner is asked to open; no model gets it
	ExpiresAt time.Time             `json:"expiresAt"`
	URL       string                `json:"url"` // the page on which its owner can answer
}

type quoteBody struct {
	Low  billing.NanoUSD `json:"low"`
	High billing.NanoUSD `json:"high"`
}

type outputBody struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	MIMEType string `json:"mimeType,omitempty"`
	URL      string `json:"url,omitempty"`
	ImageURL string `json:"imageUrl,omitempty"` // the same, of a picture: what planners look for
	Alt      string `json:"alt,omitempty"`      // what the picture shows
	Text     string `json:"text,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"` // its content is gone
}

// teller tells runs to programs.
type teller struct {
	site  door.Site
	links files.Links
}

func (t teller) run(r *http.Request, run runs.Run) runBody {
	b := runBody{
		RunID: run.ID, ToolID: run.Tool.ToolID, ToolVersion: run.Tool.Version, Status: run.Status, Progress: run.Fraction,
		Stage: run.Stage, QueuePosition: run.QueuePosition, Remaining: int(run.Rest(time.Now()).Round(time.Second).Seconds()), Inputs: run.Inputs, Sources: run.Sources, Outputs: []outputBody{},
		Quote: quoteBody{Low: run.Quote.Low, High: run.Quote.High}, Cost: run.Cost, Receipt: run.Receipt, Error: run.Error,
		CreatedAt: run.CreatedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt,
		TraceID: run.Trace(), LatencyMs: run.Latency().Milliseconds(), Attempts: run.Executions(), Granted: run.Granted, Preview: run.Preview,
	}
	if !run.Status.Final() {
		b.Notice = run.Notice
	}
	if run.Status == runs.StatusAwaitingConfirmation {
		said := run.Summary()
		b.Confirmation = &confirmationBody{
			Kind: said.Kind, Hash: said.Hash(), Personal: said.Personal, Promise: said.Promise, ExpiresAt: run.CreatedAt.Add(runs.SummaryLife), URL: t.site.Absolute(r, "/run/"+run.ID),
		}
	}
	if q := run.Question; q != nil {
		b.Question = &questionBody{ID: q.ID, Message: q.Message, Fields: append([]registry.InputField{}, q.Fields...), ExpiresAt: q.Until, URL: t.site.Absolute(r, "/run/"+run.ID)}
		if !door.ByAgent(r.Context()) {
			b.Question.OpenURL = q.URL
		}
	}
	if run.Status == runs.StatusSucceeded {
		b.Progress = new(1.0)
	}
	for _, o := range run.Outputs {
		b.Outputs = append(b.Outputs, t.output(r, run.AccountID, o))
	}
	return b
}

func (t teller) output(r *http.Request, owner string, o runs.Output) outputBody {
	out := outputBody{Name: o.Name, Type: o.Type, MIMEType: o.MIMEType, Text: o.Text, Width: o.Width, Height: o.Height, Bytes: o.Bytes, Alt: o.Alt, Deleted: o.Deleted}
	if o.Media != "" {
		out.URL = t.site.Absolute(r, t.links.File(owner, o.Media, o.FileName))
	}
	if o.Type == string(registry.TypeImage) {
		out.ImageURL = out.URL
	}
	return out
}
