// Package fal makes tools of models that fal.ai hosts: those that the operator names, with the inputs that their own
// schema has. Runs go through its queue.
//
// A run is billed by the units that the service counts, at the price that it or the operator names, else by the seconds of work. The service can't be asked after
// a request without its id, so one whose answer was lost is given up, not made twice.
package fal

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/signature"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "fal"

const (
	inline      = 4 << 20  // bytes of a file within a request
	answerLimit = 32 << 20 // of a model's description, or a result
	keysTimeout = 10 * time.Second
	keyModel    = "model"                // of a tool's metadata
	unitsHeader = "X-Fal-Billable-Units" // how many of the units that the model is priced by
)

// Config is the account at fal.ai.
type Config struct {
	Key      string
	QueueURL string // https://queue.fal.run
	DocsURL  string // where models are described: https://fal.ai
	RestURL  string // where the keys of webhooks are: https://rest.fal.ai
	// Models are those to offer: owner/name, perhaps with a path.
	Models    []string
	PricesURL string // where prices are asked for: https://api.fal.ai; empty: nowhere
	// Prices are what models cost, before what the service says; USDPerSecond is what a second of work costs of a model whose price
	// nobody knows, an exact decimal.
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
	cfg         Config
	queue, docs *upstream.Client
	prices      *upstream.Client // nil: prices are not asked for
	files       modelhub.Files
	refused     upstream.Refused
	keys        signature.Keys
}

var (
	_ registry.Loader           = (*Provider)(nil)
	_ registry.Submitter        = (*Provider)(nil)
	_ registry.Canceler         = (*Provider)(nil)
	_ registry.CallbackVerifier = (*Provider)(nil)
	_ registry.Pricer           = (*Provider)(nil)
)

var modelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){1,5}$`)
})

// IsModel reports whether a text names a model: owner/name, perhaps with a path.
func IsModel(text string) bool { return modelName().MatchString(text) }

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Provider{cfg: cfg, files: modelhub.Files{Inline: inline, MediaURL: cfg.MediaURL}}
	var err error
	withKey := func(r *http.Request) { r.Header.Set("Authorization", "Key "+cfg.Key) }
	if p.queue, err = p.newClient(cfg.QueueURL, withKey); err != nil {
		return nil, err
	}
	if cfg.PricesURL != "" {
		if p.prices, err = p.newClient(cfg.PricesURL, withKey); err != nil {
			return nil, err
		}
	}
	if p.docs, err = p.newClient(cfg.DocsURL, nil); err != nil {
		return nil, err
	}
	rest, err := p.newClient(cfg.RestURL, nil)
	if err != nil {
		return nil, err
	}
	p.keys.Now = cfg.Now
	p.keys.Fetch = func(ctx context.Context) ([]byte, error) {
		answer, err := rest.Do(ctx, upstream.Request{Path: ".well-known/jwks.json"})
		return answer.Body, err
	}
	return p, nil
}

func (p *Provider) newClient(base string, authorize func(*http.Request)) (*upstream.Client, error) {
	return upstream.New(upstream.Config{
		Name: "fal.ai", BaseURL: base, Secrets: []string{p.cfg.Key}, Authorize: authorize, HTTP: p.cfg.HTTP, Now: p.cfg.Now,
		Timeout: time.Minute, Limit: answerLimit, Failure: failure,
	})
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load asks the service to describe the models.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	return modelhub.Load(ctx, p.cfg.Models, p.describe)
}

func (p *Provider) describe(ctx context.Context, model string) (registry.Tool, error) {
	var doc modelhub.Document
	if err := p.docs.Get(ctx, "api/openapi/queue/openapi.json", url.Values{"endpoint_id": {model}}, &doc); err != nil {
		return registry.Tool{}, err
	}
	inputs, described := doc.Inputs("/" + model)
	if !described {
		return registry.Tool{}, registry.Say(registry.CodeBadOutput, said.ModelUndescribed, "service", "fal.ai")
	}
	price, unpriced, err := p.priceOf(ctx, model)
	if err != nil {
		return registry.Tool{}, err
	}
	return modelhub.Model{
		Service: Service, Label: "fal.ai", ID: model, Description: doc.Info.Description, Price: price, Unpriced: unpriced,
		Inputs: inputs, Metadata: map[string]any{keyModel: model},
	}.Tool(), nil
}

// priceOf is what a model costs: as the operator's list says, else as the service does; a price by what is not known here is
// none.
func (p *Provider) priceOf(ctx context.Context, model string) (price modelhub.Price, unpriced string, err error) {
	if price, known := p.cfg.Prices.Of(Service, model); known {
		return price, "", nil
	}
	price = modelhub.Price{USD: p.cfg.USDPerSecond, Per: modelhub.PerHardwareSecond}
	if p.prices == nil {
		return price, "", nil
	}
	var list struct {
		Prices []struct {
			Model    string      `json:"endpoint_id"`
			USD      json.Number `json:"unit_price"`
			Unit     string      `json:"unit"`
			Currency string      `json:"currency"`
		} `json:"prices"`
	}
	err = p.prices.Get(ctx, "v1/models/pricing", url.Values{"endpoint_id": {model}}, &list)
	switch failure := registry.AsError(err); {
	case failure == nil || failure.Code == registry.CodeLost:
	case failure.Code == registry.CodeUnauthorized:
		return price, "fal.ai does not tell this key what it costs: the operator has to set its price in MODEL_PRICES_FILE", nil
	default:
		return price, "", err
	}
	for _, one := range list.Prices {
		if one.Model != model {
			continue
		}
		per, known := modelhub.PerOf(one.Unit)
		if !known || one.Currency != "" && one.Currency != "USD" {
			return price, fmt.Sprintf("it is priced by %.40q (%.10s), which is not known here: the operator has to set its price in MODEL_PRICES_FILE", one.Unit, one.Currency), nil
		}
		return modelhub.Price{USD: one.USD, Per: per}, "", nil
	}
	return price, "", nil
}

// Price is what a call will cost, where the model is not priced by the time of its work.
func (p *Provider) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	return modelhub.Quote(c), nil
}

// rootOf is the part of a model's name under which its requests are kept: without the path.
func rootOf(model string) string {
	parts, length := strings.Split(model, "/"), 2
	if slices.Contains([]string{"workflows", "comfy"}, parts[0]) {
		length = 3
	}
	return strings.Join(parts[:min(length, len(parts))], "/")
}

// Submit puts a request into the queue. One that may have been put there before is lost, since nobody can tell.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	model, _ := c.Tool.Metadata[keyModel].(string)
	lost := registry.Say(registry.CodeLost, said.LostRun, "service", "fal.ai")
	id, err := p.refused.Start(c, lost, func() (string, error) { return p.enqueue(ctx, model, c) })
	if err != nil {
		return registry.Ticket{}, err
	}
	ticket := registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: id, Endpoint: rootOf(model)}
	return ticket, modelhub.KeepPrice(c, &ticket)
}

func (p *Provider) enqueue(ctx context.Context, model string, c registry.Call) (string, error) {
	values, err := p.files.Values(ctx, c)
	if err != nil {
		return "", err
	}
	request := upstream.Request{Method: http.MethodPost, Path: model, JSON: values, Begins: true}
	if c.CallbackURL != "" {
		request.Query = url.Values{"fal_webhook": {c.CallbackURL}}
	}
	answer, err := p.queue.Do(ctx, request)
	if err != nil {
		return "", err
	}
	return modelhub.Queued(p.queue, "fal.ai", answer)
}

func pathOf(t registry.Ticket) string {
	return t.Endpoint + "/requests/" + url.PathEscape(t.ProviderID)
}

// status is how far a request is.
type status struct {
	modelhub.QueueStatus
	Error   string `json:"error"`
	Metrics struct {
		Seconds float64 `json:"inference_time"`
	} `json:"metrics"`
}

// Poll asks how far a request is, and for its result where there is one.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	var now status
	if err := p.queue.Get(ctx, pathOf(t)+"/status", nil, &now); err != nil {
		return registry.Progress{}, err
	}
	if progress := now.Progress(); progress.State != registry.RunSucceeded {
		return progress, nil
	}
	return p.result(ctx, t, now)
}

// result fetches what a completed request made. One that failed is completed, too, and says so only here.
func (p *Provider) result(ctx context.Context, t registry.Ticket, now status) (registry.Progress, error) {
	var made any
	answer, err := p.queue.Do(ctx, upstream.Request{Path: pathOf(t)})
	if err == nil {
		err = p.queue.Decode(answer, &made)
	}
	switch why := registry.AsError(err); {
	case err == nil && now.Error != "":
		err := registry.Say(registry.CodeProvider, said.ModelCould)
		err.Cause = errors.New(now.Error[:min(len(now.Error), 500)])
		return registry.Progress{State: registry.RunFailed, Err: err}, nil
	case err == nil:
	case why.Code == registry.CodeInvalidInput || why.Code == registry.CodeRefused:
		return registry.Progress{State: registry.RunFailed, Err: why}, nil
	default:
		return registry.Progress{}, err
	}
	outputs := modelhub.Outputs(p.cfg.Guard, made, false)
	if len(outputs) == 0 {
		return registry.Progress{State: registry.RunFailed, Err: registry.Say(registry.CodeBadOutput, said.AnswerWithoutResult, "service", "fal.ai")}, nil
	}
	took := time.Duration(max(now.Metrics.Seconds, 0) * float64(time.Second))
	return registry.Progress{State: registry.RunSucceeded, Result: &registry.Result{Outputs: outputs, Usage: modelhub.Usage(t, outputs, answer.Header.Get(unitsHeader), registry.Usage{RunTime: took})}}, nil
}

// failure names a value that was refused, or says that the content was; else the status says enough.
func failure(answer upstream.Response) *registry.Error {
	switch field, reason := modelhub.RefusedValue(answer.Body); {
	case reason == "content_policy_violation":
		return registry.Say(registry.CodeRefused, said.ModelRules)
	case answer.Status == http.StatusUnprocessableEntity && field != "":
		return registry.Say(registry.CodeInvalidInput, said.ModelValue, "field", field)
	}
	return nil
}

// Cancel stops a request. One that is over or unknown is left.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	_, err := p.queue.Do(ctx, upstream.Request{Method: http.MethodPut, Path: pathOf(t) + "/cancel", Repeatable: true})
	return upstream.Stopped(ctx, err, p, t)
}

// VerifyCallback checks the signature of a webhook with the service's public keys.
func (p *Provider) VerifyCallback(ctx context.Context, r registry.CallbackRequest) (registry.Callback, error) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	var id string
	err := p.keys.Verify(ctx, func(keys ...ed25519.PublicKey) (err error) {
		id, err = signature.Fal(r.Header, r.Body, r.At, keys...)
		return err
	})
	if err != nil {
		return registry.Callback{}, err
	}
	var body struct {
		ID     string `json:"request_id"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil || body.ID == "" {
		return registry.Callback{}, errors.New("the callback names no request")
	}
	state := registry.RunSucceeded
	if body.Status != "OK" {
		state = registry.RunFailed
	}
	return registry.Callback{ProviderID: body.ID, EventID: id, State: state}, nil
}

// Ready says that a definition names no model to run.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if name, _ := tool.Metadata[keyModel].(string); name == "" {
		return registry.Say(registry.CodeUnavailable, said.ModelNone, "tool", tool.DisplayName)
	}
	return nil
}
