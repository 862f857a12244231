// Package comfyrouter makes tools of the models that Comfy Router runs: those of its catalogue that the operator wants, with the inputs
// that their own schema has. Runs go through its queue. The protocol is that of https://docs.comfy.org/development/comfy-router.
//
// The service names the price of a call beforehand, exactly or as a range, and of a run that is over in credits. A request carries the run's
// handle as its Idempotency-Key, so that one whose answer was lost can be sent again. It sends no webhooks.
package comfyrouter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "comfyrouter"

const (
	label         = "Comfy Router"
	inline        = 4 << 20  // bytes of a file within a request
	answerLimit   = 32 << 20 // of a model's description, or a result
	pageSize      = 100      // models of the catalogue in one answer
	maxPages      = 50       // of the catalogue
	keyModel      = "model"  // of a tool's metadata
	errorHeader   = "X-Comfy-Error-Type"
	creditsHeader = "X-Comfy-Credits-Used"
	creditsPerUSD = 211 // as the service's price list says
)

// Config is the account at Comfy Router.
type Config struct {
	Key     string
	BaseURL string // https://api.comfy.org
	// Models are those of the catalogue to offer: owner/name, or a pattern such as bfl/* or *.
	Models []string
	// Prices are what models cost, before what the service says; USDPerRun is what a run costs where neither says anything, an exact decimal.
	Prices    modelhub.Prices
	USDPerRun json.Number
	// MediaURL gives an address from which the service can fetch a stored file that is too large for a request.
	MediaURL func(ctx context.Context, ref registry.Media) (string, error)
	HTTP     *http.Client // nil: one of its own
	Guard    *http.Client // of internal/outbound, for fetching results
	Now      func() time.Time
}

// Provider is the loader of the models and runs them.
type Provider struct {
	cfg    Config
	client *upstream.Client
	files  modelhub.Files
}

var (
	_ registry.Loader    = (*Provider)(nil)
	_ registry.Submitter = (*Provider)(nil)
	_ registry.Canceler  = (*Provider)(nil)
	_ registry.Pricer    = (*Provider)(nil)
	_ registry.Readier   = (*Provider)(nil)
)

// pattern is a model of the catalogue, or several.
var pattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\*|[a-z0-9][a-z0-9._-]{0,63}/(\*|[a-z0-9][a-z0-9._*-]{0,127}))$`)
})

// IsPattern reports whether a text names models of the catalogue: owner/name, owner/*, owner/name-* or *.
func IsPattern(text string) bool { return pattern().MatchString(text) }

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	p := &Provider{cfg: cfg, files: modelhub.Files{Inline: inline, MediaURL: cfg.MediaURL}}
	var err error
	p.client, err = upstream.New(upstream.Config{
		Name: label, BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, Authorize: func(r *http.Request) { r.Header.Set("X-API-Key", cfg.Key) },
		HTTP: cfg.HTTP, Now: cfg.Now, Timeout: time.Minute, Limit: answerLimit, Failure: failure,
	})
	return p, err
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load lists the catalogue, and asks the service to describe those of its models that are wanted. One that was named and is not there is a
// problem with its name.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	all, err := p.catalogue(ctx)
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, model := range all {
		if slices.ContainsFunc(p.cfg.Models, func(pattern string) bool { return matches(pattern, model) }) {
			wanted = append(wanted, model)
		}
	}
	for _, named := range p.cfg.Models {
		if !strings.Contains(named, "*") && !slices.Contains(all, named) {
			wanted = append(wanted, named) // the service says that there is none
		}
	}
	return modelhub.Load(ctx, wanted, p.describe)
}

func matches(pattern, model string) bool {
	if pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, model)
	return err == nil && ok
}

// catalogue is the ids of all models, each once.
func (p *Provider) catalogue(ctx context.Context) (models []string, err error) {
	seen := map[string]bool{}
	query := url.Values{"limit": {fmt.Sprint(pageSize)}}
	for range maxPages {
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
			More bool   `json:"has_more"`
			Next string `json:"next_cursor"`
		}
		if err := p.client.Get(ctx, "v2/models", query, &page); err != nil {
			return nil, fmt.Errorf("the catalogue: %w", err)
		}
		for _, m := range page.Data {
			if IsPattern(m.ID) && !strings.Contains(m.ID, "*") && !seen[m.ID] {
				seen[m.ID] = true
				models = append(models, m.ID)
			}
		}
		if !page.More || page.Next == "" {
			break
		}
		query.Set("cursor", page.Next)
	}
	return models, nil
}

func modelPath(model string) string { return "v2/models/" + model }

func (p *Provider) describe(ctx context.Context, model string) (registry.Tool, error) {
	var doc modelhub.Document
	if err := p.client.Get(ctx, modelPath(model)+"/openapi.json", nil, &doc); err != nil {
		return registry.Tool{}, err
	}
	inputs, _ := doc.Inputs("/" + modelPath(model))
	if len(inputs) == 0 { // also where it takes any object, and says nothing of what is in it
		return registry.Tool{}, registry.Say(registry.CodeBadOutput, said.ModelUndescribed, "service", label)
	}
	price, known := p.cfg.Prices.Of(Service, model)
	if !known {
		price = modelhub.Price{USD: p.cfg.USDPerRun, Per: modelhub.PerRun}
	}
	return modelhub.Model{
		Service: Service, Label: label, ID: model, Description: doc.Info.Description, Price: price,
		Inputs: inputs, Metadata: map[string]any{keyModel: model},
	}.Tool(), nil
}

func modelOf(t registry.Tool) string {
	model, _ := t.Metadata[keyModel].(string)
	return model
}

// Ready says that a definition names no model to run.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if modelOf(tool) == "" {
		return registry.Say(registry.CodeUnavailable, said.ModelNone, "tool", tool.DisplayName)
	}
	return nil
}

// estimate is what the service says that a call will cost.
type estimate struct {
	Source string      `json:"source"` // exact, estimated, unknown
	Amount json.Number `json:"amount"` // US dollars
	Low    json.Number `json:"min_amount"`
	High   json.Number `json:"max_amount"`
}

// price is the estimate as the price of a call; empty where it says nothing.
func (e estimate) price() registry.Price {
	switch {
	case e.Source == "exact" && isAmount(e.Amount):
		return registry.Price{CostUSD: e.Amount.String()}
	case e.Source == "estimated" && isAmount(e.Low) && isAmount(e.High):
		return registry.Price{CostUSD: e.High.String(), LowUSD: e.Low.String()}
	}
	return registry.Price{}
}

func isAmount(n json.Number) bool {
	amount, err := decimal.Parse(n)
	return err == nil && amount.Sign() >= 0
}

// Price is what a call costs by the operator's list, else by the service's estimate; where neither knows, by what is set for such runs.
func (p *Provider) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	if _, known := p.cfg.Prices.Of(Service, modelOf(c.Tool)); known {
		return modelhub.Quote(c), nil
	}
	values, err := p.files.Values(ctx, c)
	if err != nil {
		return modelhub.Quote(c), nil // such as of a file that is chosen later
	}
	answer, err := p.client.Do(ctx, upstream.Request{Method: http.MethodPost, Path: modelPath(modelOf(c.Tool)) + "/estimate", JSON: values, Repeatable: true})
	if err != nil {
		return modelhub.Quote(c), nil // not every account is told, nor of values that are not whole yet
	}
	var e estimate
	if err := p.client.Decode(answer, &e); err != nil {
		return registry.Price{}, err
	}
	if named := e.price(); named.CostUSD != "" {
		return named, nil
	}
	return modelhub.Quote(c), nil
}

// Submit puts a request into the queue. The service knows one that it has taken by the handle.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	values, err := p.files.Values(ctx, c)
	if err != nil {
		return registry.Ticket{}, err
	}
	model := modelOf(c.Tool)
	answer, err := p.client.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: modelPath(model) + "/requests", JSON: values, Header: http.Header{"Idempotency-Key": {c.Handle}}, Begins: true, Repeatable: true,
	})
	if status := new(registry.StatusError); errors.As(err, &status) && status.Status == http.StatusConflict && registry.AsError(err).Code == registry.CodeInvalidInput {
		// The handle was used: for other values, such as an address of a file that has changed since, or for what can't be told again.
		return registry.Ticket{}, registry.Say(registry.CodeLost, said.LostRun, "service", label).Because(err)
	}
	if err != nil {
		return registry.Ticket{}, err
	}
	id, err := modelhub.Queued(p.client, label, answer)
	if err != nil {
		return registry.Ticket{}, err
	}
	ticket := registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: id, Endpoint: model}
	return ticket, modelhub.KeepPrice(c, &ticket)
}

func requestPath(t registry.Ticket) string {
	return modelPath(t.Endpoint) + "/requests/" + url.PathEscape(t.ProviderID)
}

// status is how far a request is. One that failed or was canceled is completed, too, with the kind of its error.
type status struct {
	modelhub.QueueStatus
	Error string `json:"error_type"`
}

// Poll asks how far a request is, and for its result where there is one.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	var now status
	if err := p.client.Get(ctx, requestPath(t)+"/status", nil, &now); err != nil {
		return registry.Progress{}, err
	}
	progress := now.Progress()
	switch {
	case progress.State != registry.RunSucceeded:
		return progress, nil
	case now.Error != "":
		return registry.Progress{State: registry.RunFailed, Err: failed(now.Error)}, nil
	}
	return p.result(ctx, t)
}

// result fetches what a completed request made.
func (p *Provider) result(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	answer, err := p.client.Do(ctx, upstream.Request{Path: requestPath(t)})
	if err != nil {
		return registry.Progress{}, err
	}
	if answer.Status == http.StatusAccepted {
		return registry.Progress{State: registry.RunRunning}, nil
	}
	var made any
	if err := p.client.Decode(answer, &made); err != nil {
		return registry.Progress{}, err
	}
	outputs := modelhub.Outputs(p.cfg.Guard, made, true)
	if len(outputs) == 0 {
		return registry.Progress{State: registry.RunFailed, Err: registry.Say(registry.CodeBadOutput, said.AnswerWithoutResult, "service", label)}, nil
	}
	return registry.Progress{State: registry.RunSucceeded, Result: &registry.Result{Outputs: outputs, Usage: p.usage(t, outputs, answer.Header.Get(creditsHeader))}}, nil
}

// usage is what a run has cost: by the operator's list, else by the credits that the service tells, else as ModelUsage knows.
func (p *Provider) usage(t registry.Ticket, outputs []registry.Output, credits string) registry.Usage {
	spent, told := new(big.Rat).SetString(credits)
	if _, listed := p.cfg.Prices.Of(Service, t.Endpoint); listed || !told || spent.Sign() < 0 {
		return modelhub.Usage(t, outputs, "", registry.Usage{})
	}
	return registry.Usage{CostUSD: spent.Quo(spent, big.NewRat(creditsPerUSD, 1)).FloatString(9)}
}

// Cancel asks the service to stop a request. One that is over or unknown is left.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	_, err := p.client.Do(ctx, upstream.Request{Method: http.MethodPut, Path: requestPath(t) + "/cancel", Repeatable: true})
	return upstream.Stopped(ctx, err, p, t)
}

// failure names a value that was refused, or reads the kind of the error.
func failure(answer upstream.Response) *registry.Error {
	if answer.Status == http.StatusUnprocessableEntity {
		if field, _ := modelhub.RefusedValue(answer.Body); field != "" {
			return registry.Say(registry.CodeInvalidInput, said.ModelValue, "field", field)
		}
		return nil
	}
	switch kind := answer.Header.Get(errorHeader); kind {
	case "content_policy_violation", "insufficient_credits", "request_not_found":
		return failed(kind)
	case "concurrency_limit_exceeded": // also of a request that is under way by the same key
		return registry.Say(registry.CodeRateLimited, said.ServiceBusy, "service", label).Again()
	case "not_enabled", "forbidden":
		return registry.Say(registry.CodeUnauthorized, said.KeyRefused, "service", label)
	}
	return nil // the status says enough
}

// failed is why a request came to nothing, by the kind of its error. A kind that is not known is the service's trouble.
func failed(kind string) *registry.Error {
	switch kind {
	case "content_policy_violation":
		return registry.Say(registry.CodeRefused, said.ModelRules)
	case "insufficient_credits":
		return registry.Say(registry.CodeUnavailable, said.ServiceNoMoney, "service", label)
	case "invalid_input":
		return registry.Say(registry.CodeInvalidInput, said.ServiceValues, "service", label)
	case "request_not_found":
		return registry.Say(registry.CodeLost, said.ServiceUnknown, "service", label)
	case "provider_timeout", "queue_timeout", "service_unavailable", "rate_limited", "queue_backlog_full":
		return registry.Say(registry.CodeUnavailable, said.ServiceNotNow, "service", label).Again()
	}
	return registry.Say(registry.CodeProvider, said.ModelCould)
}
