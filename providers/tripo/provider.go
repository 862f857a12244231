// Package tripo makes 3D models with the Tripo API: from text, pictures and views, and further work on models
// that it made: textures, rigs, animations, styles and formats.
//
// The kinds of tasks and their prices are data, in tasks.json and prices.json. A model comes with the preview that the
// service renders, and with its task's code, by which further work finds it. What a task costs is the number of
// credits that it reports. The service can't be asked after a task without its id, so a task whose answer was
// lost is given up, not made twice; and it has neither callbacks nor a way to cancel.
package tripo

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// keyCredits is the member of a ticket with what the list says the task takes, for one that does not report it.
const keyCredits = "credits"

// Config is the account at Tripo.
type Config struct {
	Key, BaseURL string // with its version: https://api.tripo3d.ai/v2/openapi
	// USDPerCredit is what a credit costs, an exact decimal.
	USDPerCredit json.Number
	HTTP         *http.Client // nil: one of its own
	Guard        *http.Client // of internal/outbound, for fetching results
	Now          func() time.Time
}

// Provider is the loader of Tripo's tools and runs them.
type Provider struct {
	cfg    Config
	client *upstream.Client
	tasks  []task
	prices prices

	refused upstream.Refused
}

var (
	_ registry.Loader     = (*Provider)(nil)
	_ registry.Submitter  = (*Provider)(nil)
	_ registry.Pricer     = (*Provider)(nil)
	_ registry.Progresser = (*Provider)(nil)
)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	client, err := upstream.New(upstream.Config{
		Name: "Tripo", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, HTTP: cfg.HTTP, Failure: failure, Now: cfg.Now, Timeout: time.Minute,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) },
	})
	if err != nil {
		return nil, err
	}
	p := &Provider{cfg: cfg, client: client}
	if p.tasks, err = parseTasks(defaultTasks); err != nil {
		return nil, err
	}
	p.prices, err = parsePrices(defaultPrices, cfg.USDPerCredit)
	return p, err
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load describes the tasks as tools; they come with the program, so nothing is asked.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	tools := make([]registry.Tool, len(p.tasks))
	for i, t := range p.tasks {
		tools[i] = t.tool(json.Number(p.prices.usd(p.prices.credits(t.Type, nil))))
	}
	return tools, ctx.Err()
}

// Price is what the price list says a call takes, which is also the most that it is billed.
func (p *Provider) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	t, err := p.taskOf(c)
	if err != nil {
		return registry.Price{}, err
	}
	return registry.Price{CostUSD: p.prices.usd(p.prices.credits(t.Type, c.Inputs))}, nil
}

func (p *Provider) taskOf(c registry.Call) (task, error) {
	i := slices.IndexFunc(p.tasks, func(t task) bool { return t.id() == c.Tool.ToolID })
	if i < 0 {
		return task{}, registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", c.Tool.DisplayName)
	}
	return p.tasks[i], nil
}

// ask makes a request and reads the data of its envelope. A code other than zero is a refusal, whatever the
// status.
func (p *Provider) ask(ctx context.Context, r upstream.Request, data any) error {
	answer, err := p.client.Do(ctx, r)
	if err != nil {
		return err
	}
	var envelope struct {
		Code int             `json:"code"`
		Data json.RawMessage `json:"data"`
	}
	if err := p.client.Decode(answer, &envelope); err != nil {
		return err
	}
	if envelope.Code != 0 {
		return byCode(envelope.Code)
	}
	return p.client.Decode(upstream.Response{Body: envelope.Data}, data)
}

// Submit starts a task. One that may have been started before is lost, since nobody can tell.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	t, err := p.taskOf(c)
	if err == nil {
		err = t.check(c.Inputs)
	}
	if err != nil {
		return registry.Ticket{}, err
	}
	lost := registry.Say(registry.CodeLost, said.LostTask, "service", "Tripo")
	id, err := p.refused.Start(c, lost, func() (string, error) { return p.start(ctx, t, c) })
	if err != nil {
		return registry.Ticket{}, err
	}
	extra := map[string]string{keyCredits: p.prices.credits(t.Type, c.Inputs)}
	return registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: id, Extra: extra}, nil
}

// start sends the task and gives its id.
func (p *Provider) start(ctx context.Context, t task, c registry.Call) (string, error) {
	body, err := p.body(ctx, t, c)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"task_id"`
	}
	if err := p.ask(ctx, upstream.Request{Method: http.MethodPost, Path: "task", JSON: body, Begins: true}, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", registry.Say(registry.CodeProvider, said.ServiceTaskUnnamed, "service", "Tripo")
	}
	return made.ID, nil
}

// state is a task as the service tells of it.
type state struct {
	ID        string      `json:"task_id"`
	Status    string      `json:"status"`
	Progress  float64     `json:"progress"`    // percent
	Queue     int         `json:"queuing_num"` // -1: not queued
	ErrorCode int         `json:"error_code"`
	Credits   json.Number `json:"consumed_credit"`
	Output    struct {
		Model    string `json:"model"`
		Base     string `json:"base_model"`
		PBR      string `json:"pbr_model"`
		Rendered string `json:"rendered_image"`
	} `json:"output"`
}

// Poll asks how far a task is.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	var now state
	if err := p.ask(ctx, upstream.Request{Path: "task/" + url.PathEscape(t.ProviderID)}, &now); err != nil {
		return registry.Progress{}, err
	}
	return p.progress(t, now), nil
}

func (p *Provider) progress(t registry.Ticket, now state) registry.Progress {
	switch now.Status {
	case "queued":
		return registry.Progress{State: registry.RunQueued, QueuePosition: max(now.Queue, 0)}
	case "running":
		return registry.Progress{State: registry.RunRunning, Fraction: min(max(now.Progress/100, 0), 1), HasFraction: true}
	case "success":
		return p.finished(t, now)
	case "cancelled":
		return registry.Progress{State: registry.RunCanceled}
	case "failed":
		return failedBy(byCode(now.ErrorCode))
	case "banned":
		return failedBy(byCode(2008))
	case "expired":
		return failedBy(registry.Say(registry.CodeTimeout, said.TaskExpired, "service", "Tripo"))
	}
	return registry.Progress{State: registry.RunRunning, Unknown: now.Status}
}

func failedBy(err *registry.Error) registry.Progress {
	return registry.Progress{State: registry.RunFailed, Err: err}
}

func (p *Provider) finished(t registry.Ticket, now state) registry.Progress {
	model := cmp.Or(now.Output.PBR, now.Output.Model, now.Output.Base)
	if model == "" {
		return failedBy(registry.Say(registry.CodeBadOutput, said.AnswerWithoutModel, "service", "Tripo"))
	}
	outputs := []registry.Output{p.file(outModel, "file", model)}
	if now.Output.Rendered != "" {
		outputs = append(outputs, p.file(outPreview, "image", now.Output.Rendered))
	}
	outputs = append(outputs, registry.Output{Name: outTask, Type: "text", Text: t.ProviderID})
	credits := cmp.Or(now.Credits.String(), t.Extra[keyCredits])
	return registry.Progress{State: registry.RunSucceeded, Result: &registry.Result{Outputs: outputs, Usage: registry.Usage{CostUSD: p.prices.usd(credits)}}}
}

// mediaTypes are those of the files that the service makes; systems seldom know them.
var mediaTypes = map[string]string{
	".glb": "model/gltf-binary", ".gltf": "model/gltf+json", ".fbx": "application/octet-stream", ".obj": "model/obj", ".stl": "model/stl",
	".usdz": "model/vnd.usdz+zip", ".3mf": "model/3mf", ".zip": "application/zip", ".webp": "image/webp", ".png": "image/png", ".jpg": "image/jpeg",
}

// file is a result. Its format is that of its address, which has a signature for a query.
func (p *Provider) file(name, kind, address string) registry.Output {
	info := registry.MediaInfo{Name: name}
	if u, err := url.Parse(address); err == nil {
		if ext := strings.ToLower(path.Ext(u.Path)); mediaTypes[ext] != "" {
			info = registry.MediaInfo{Name: name + ext, MIMEType: mediaTypes[ext]}
		}
	}
	return upstream.File(p.cfg.Guard, name, kind, address, info)
}

// Ready says that a tool is none of those that are offered.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if !slices.ContainsFunc(p.tasks, func(t task) bool { return t.id() == tool.ToolID }) {
		return registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", tool.DisplayName)
	}
	return nil
}
