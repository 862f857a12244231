// Package replicate makes tools of models that Replicate hosts: those that the operator names, with the inputs that
// their own schema has.
//
// A run is billed by what its model is priced by, or by the seconds of work that the service reports, at the operator's rate. The service can't be asked after
// a prediction without its id, so one whose answer was lost is given up, not made twice.
package replicate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "replicate"

const (
	inline      = 256 << 10 // bytes of a file within a request, by the service's rules
	answerLimit = 32 << 20  // of a model's description, or a prediction
	keyVersion  = "version" // of a tool's metadata: what was described is what is run
)

// Config is the account at Replicate.
type Config struct {
	Token, BaseURL string // with its version: https://api.replicate.com/v1
	// Models are those to offer: owner/name, or owner/name:version.
	Models []string
	// Prices are what models cost; USDPerSecond is what a second of work costs of one that is not among them, an exact decimal.
	Prices       modelhub.Prices
	USDPerSecond json.Number
	// MediaURL gives an address from which the service can fetch a stored file that is too large for a request.
	MediaURL func(ctx context.Context, ref registry.Media) (string, error)
	HTTP     *http.Client // nil: one of its own
	Guard    *http.Client // of internal/outbound, for fetching results
	Now      func() time.Time
}

// Provider is the loader of the models and runs them.
type Provider struct {
	cfg     Config
	client  *upstream.Client
	files   modelhub.Files
	refused upstream.Refused
	secret  secret
}

var (
	_ registry.Loader           = (*Provider)(nil)
	_ registry.Submitter        = (*Provider)(nil)
	_ registry.Canceler         = (*Provider)(nil)
	_ registry.CallbackVerifier = (*Provider)(nil)
	_ registry.Pricer           = (*Provider)(nil)
)

var modelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[A-Za-z0-9][A-Za-z0-9._-]{0,63}(:[a-f0-9]{64})?$`)
})

// IsModel reports whether a text names a model: owner/name, or owner/name:version.
func IsModel(text string) bool { return modelName().MatchString(text) }

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client, err := upstream.New(upstream.Config{
		Name: "Replicate", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Token}, HTTP: cfg.HTTP, Now: cfg.Now, Timeout: time.Minute, Limit: answerLimit,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Token) },
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{cfg: cfg, client: client, files: modelhub.Files{Inline: inline, MediaURL: cfg.MediaURL}}
	p.secret.fetch = p.fetchSecret
	return p, nil
}

func (p *Provider) fetchSecret(ctx context.Context) ([]byte, error) {
	var answer struct {
		Key string `json:"key"`
	}
	if err := p.client.Get(ctx, "webhooks/default/secret", nil, &answer); err != nil {
		return nil, err
	}
	return signature.ParseSecret(answer.Key)
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load asks the service to describe the models.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	return modelhub.Load(ctx, p.cfg.Models, p.describe)
}

// described is a model, or a version of one, as the service tells of it.
type described struct {
	ID          string `json:"id"` // of a version
	Description string `json:"description"`
	Latest      *struct {
		ID     string          `json:"id"`
		Schema json.RawMessage `json:"openapi_schema"`
	} `json:"latest_version"`
	Schema json.RawMessage `json:"openapi_schema"` // of a version
}

func (p *Provider) describe(ctx context.Context, model string) (registry.Tool, error) {
	name, version, pinned := strings.Cut(model, ":")
	var m described
	if err := p.client.Get(ctx, "models/"+name, nil, &m); err != nil {
		return registry.Tool{}, err
	}
	description := m.Description
	if pinned {
		if err := p.client.Get(ctx, "models/"+name+"/versions/"+version, nil, &m); err != nil {
			return registry.Tool{}, err
		}
	} else if m.Latest != nil {
		m.ID, m.Schema = m.Latest.ID, m.Latest.Schema
	}
	var document struct {
		Components struct {
			Schemas modelhub.Schemas `json:"schemas"`
		} `json:"components"`
	}
	if err := decimal.Unmarshal(m.Schema, &document); err != nil || m.ID == "" {
		return registry.Tool{}, registry.Say(registry.CodeBadOutput, said.ModelVersion, "service", "Replicate")
	}
	schemas := document.Components.Schemas
	price, known := p.cfg.Prices.Of(Service, name)
	if !known {
		price = modelhub.Price{USD: p.cfg.USDPerSecond, Per: modelhub.PerHardwareSecond}
	}
	return modelhub.Model{
		Service: Service, Label: "Replicate", ID: name, Description: description, Inputs: schemas.Inputs(schemas["Input"]), Price: price,
		Metadata: map[string]any{keyVersion: m.ID, keyText: !makesFiles(schemas)},
	}.Tool(), nil
}

// Price is what a call will cost, where the model is not priced by the time of its work.
func (p *Provider) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	return modelhub.Quote(c), nil
}

// keyText is the member of a tool's metadata, and of a ticket, that says that the model makes texts, in which addresses are
// no files.
const keyText = "text"

// makesFiles reports whether a model's output is, or may hold, addresses of files.
func makesFiles(schemas modelhub.Schemas) bool {
	out := schemas.Resolve(schemas["Output"])
	if out.Type == "array" && out.Items != nil {
		out = schemas.Resolve(*out.Items)
	}
	return out.Type != "string" || out.Format == "uri"
}

// Submit starts a prediction of the version that was described. One that may have been started before is lost, since
// nobody can tell.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	lost := registry.Say(registry.CodeLost, said.LostRun, "service", "Replicate")
	id, err := p.refused.Start(c, lost, func() (string, error) { return p.start(ctx, c) })
	if err != nil {
		return registry.Ticket{}, err
	}
	ticket := registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: id}
	if text, _ := c.Tool.Metadata[keyText].(bool); text {
		ticket.Extra = map[string]string{keyText: "yes"}
	}
	return ticket, modelhub.KeepPrice(c, &ticket)
}

func (p *Provider) start(ctx context.Context, c registry.Call) (string, error) {
	values, err := p.files.Values(ctx, c)
	if err != nil {
		return "", err
	}
	body := map[string]any{"version": c.Tool.Metadata[keyVersion], "input": values}
	if c.CallbackURL != "" {
		body["webhook"], body["webhook_events_filter"] = c.CallbackURL, []string{"start", "completed"}
	}
	var made prediction
	if err := p.client.Begin(ctx, "predictions", body, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", registry.Say(registry.CodeProvider, said.ServiceRunUnnamed, "service", "Replicate")
	}
	return made.ID, nil
}

// prediction is a run as the service tells of it.
type prediction struct {
	ID        string     `json:"id"`
	Status    string     `json:"status"`
	Output    any        `json:"output"`
	Error     any        `json:"error"`
	Removed   bool       `json:"data_removed"`
	Started   *time.Time `json:"started_at"`
	Completed *time.Time `json:"completed_at"`
	Metrics   struct {
		Seconds float64 `json:"predict_time"`
	} `json:"metrics"`
}

// Poll asks how far a prediction is.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	var now prediction
	if err := p.client.Get(ctx, "predictions/"+url.PathEscape(t.ProviderID), nil, &now); err != nil {
		return registry.Progress{}, err
	}
	progress := stateOf(now.Status)
	switch progress.State {
	case registry.RunFailed:
		progress.Err = failed(now.Error)
	case registry.RunSucceeded:
		outputs := modelhub.Outputs(p.cfg.Guard, now.Output, t.Extra[keyText] == "")
		if len(outputs) == 0 {
			return registry.Progress{State: registry.RunFailed, Err: registry.Say(registry.CodeBadOutput, said.AnswerWithoutResultKept, "service", "Replicate")}, nil
		}
		progress.Result = &registry.Result{Outputs: outputs, Usage: modelhub.Usage(t, outputs, "", registry.Usage{RunTime: now.took()})}
	}
	return progress, nil
}

// took is the time of work.
func (n prediction) took() time.Duration {
	var between time.Duration
	if n.Started != nil && n.Completed != nil {
		between = max(n.Completed.Sub(*n.Started), 0)
	}
	return cmp.Or(max(time.Duration(n.Metrics.Seconds*float64(time.Second)), 0), between)
}

func stateOf(word string) registry.Progress {
	switch word {
	case "starting":
		return registry.Progress{State: registry.RunQueued}
	case "processing":
		return registry.Progress{State: registry.RunRunning}
	case "succeeded":
		return registry.Progress{State: registry.RunSucceeded}
	case "failed":
		return registry.Progress{State: registry.RunFailed}
	case "canceled", "aborted":
		return registry.Progress{State: registry.RunCanceled}
	}
	return registry.Progress{State: registry.RunRunning, Unknown: word}
}

// failed is what went wrong with a prediction. Models say it in words of their own, which are for logs.
func failed(why any) *registry.Error {
	words, _ := why.(string)
	failure := registry.Say(registry.CodeProvider, said.ModelCould)
	if low := strings.ToLower(words); strings.Contains(low, "nsfw") || strings.Contains(low, "sensitive") || strings.Contains(low, "safety") {
		failure = registry.Say(registry.CodeRefused, said.ModelRules)
	}
	failure.Cause = errors.New(words[:min(len(words), 500)])
	return failure
}

// Cancel stops a prediction. One that is over or unknown is left.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	err := p.client.Post(ctx, "predictions/"+url.PathEscape(t.ProviderID)+"/cancel", struct{}{}, nil)
	return upstream.Stopped(ctx, err, p, t)
}

// VerifyCallback checks the signature of a webhook by Standard Webhooks, with the account's own secret.
func (p *Provider) VerifyCallback(ctx context.Context, r registry.CallbackRequest) (registry.Callback, error) {
	var id string
	err := p.secret.verify(ctx, r.At, func(key []byte) (err error) {
		id, err = signature.Standard(r.Header, r.Body, r.At, [][]byte{key})
		return err
	})
	if err != nil {
		return registry.Callback{}, err
	}
	var body prediction
	if err := json.Unmarshal(r.Body, &body); err != nil || body.ID == "" {
		return registry.Callback{}, errors.New("the callback names no prediction")
	}
	return registry.Callback{ProviderID: body.ID, EventID: id, State: stateOf(body.Status).State}, nil
}

// Ready says that a definition names no version of a model to run.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if name, _ := tool.Metadata[keyVersion].(string); name == "" {
		return registry.Say(registry.CodeUnavailable, said.ModelVersionNone, "tool", tool.DisplayName)
	}
	return nil
}
