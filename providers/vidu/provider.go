// Package vidu makes videos with the Vidu API: from text, from a first picture, between two pictures, with
// given subjects, and, where the operator switches them on, effects and enlarging.
//
// A task carries our handle in its payload, so that after a crash it is found again in the list of tasks
// instead of being made twice. What a task costs is the number of credits that it reports.
package vidu

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the formats of pictures
	_ "image/png"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "vidu"

const (
	maxBody     = 20 << 20 // bytes of a request, by the service's rules
	minSide     = 128      // pixels
	maxRatio    = 4        // of the sides of a picture
	searchBack  = 24 * time.Hour
	searchPages = 20
	pageSize    = 100
)

// Config is the account at Vidu.
type Config struct {
	Key, BaseURL string // with its version: https://api.vidu.com/ent/v2
	// USDPerCredit is what a credit costs, an exact decimal.
	USDPerCredit json.Number
	// Templates are the names of the effects to offer; none: no effects.
	Templates []string
	// Upscale offers to enlarge videos. That part of the API is not documented well enough to be on for
	// everybody. It needs MediaURL.
	Upscale bool
	// MediaURL gives an address from which the service can fetch a stored file.
	MediaURL func(ctx context.Context, ref registry.Media) (string, error)
	HTTP     *http.Client // nil: one of its own
	Guard    *http.Client // of internal/outbound, for fetching results
	Now      func() time.Time
}

// Provider is the loader of Vidu's tools and runs them.
type Provider struct {
	cfg    Config
	client *upstream.Client
	tasks  []task
	prices prices
}

var (
	_ registry.Loader           = (*Provider)(nil)
	_ registry.Submitter        = (*Provider)(nil)
	_ registry.Canceler         = (*Provider)(nil)
	_ registry.Finder           = (*Provider)(nil)
	_ registry.Pricer           = (*Provider)(nil)
	_ registry.CallbackVerifier = (*Provider)(nil)
)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	client, err := upstream.New(upstream.Config{
		Name: "Vidu", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, HTTP: cfg.HTTP, Failure: failure, Now: cfg.Now, Timeout: time.Minute,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Token "+cfg.Key) },
	})
	if err != nil {
		return nil, err
	}
	if cfg.Upscale && cfg.MediaURL == nil {
		return nil, errors.New("enlarging videos with Vidu needs an address from which it can fetch them: set PUBLIC_URL")
	}
	list, err := parsePrices(defaultPrices, cfg.USDPerCredit)
	if err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg, client: client, tasks: tasks(cfg), prices: list}, nil
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load describes the tasks as tools; they come with the program, so nothing is asked.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	tools := make([]registry.Tool, len(p.tasks))
	for i, t := range p.tasks {
		tools[i] = t.tool(p.prices.fallback())
	}
	return tools, ctx.Err()
}

// Price estimates a call by the price list, where that has the model.
func (p *Provider) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	t, m, err := p.taskOf(c)
	if err != nil {
		return registry.Price{}, err
	}
	if len(t.models) == 0 {
		return registry.Price{}, nil
	}
	return registry.Price{CostUSD: p.prices.estimate(m, c.Inputs)}, nil
}

func (p *Provider) taskOf(c registry.Call) (task, model, error) {
	i := slices.IndexFunc(p.tasks, func(t task) bool { return t.id() == c.Tool.ToolID })
	if i < 0 {
		return task{}, model{}, registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", c.Tool.DisplayName)
	}
	t := p.tasks[i]
	name, _ := c.Inputs["model"].(string)
	m, ok := t.model(name)
	if len(t.models) > 0 && !ok {
		return t, m, registry.Say(registry.CodeInvalidInput, said.NotOffered, "tool", name).At("model")
	}
	return t, m, nil
}

// created is a task as the service tells of it.
type created struct {
	TaskID  string      `json:"task_id"`
	ID      string      `json:"id"` // in lists
	State   string      `json:"state"`
	ErrCode string      `json:"err_code"`
	Credits json.Number `json:"credits"`
	Payload string      `json:"payload"`
	Made    []struct {
		URL string `json:"url"`
	} `json:"creations"`
}

func (c created) id() string {
	if c.TaskID != "" {
		return c.TaskID
	}
	return c.ID
}

// Submit starts a task. A call that may have been submitted before is looked for first.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	t, m, err := p.taskOf(c)
	if err != nil {
		return registry.Ticket{}, err
	}
	if len(t.models) > 0 {
		if refusal := m.check(c.Inputs); refusal != nil {
			return registry.Ticket{}, refusal
		}
	}
	if c.Repeated {
		if id, err := p.find(ctx, c.Handle); err != nil || id != "" {
			return p.ticket(c, id), err
		}
	}
	body, err := p.body(ctx, t, m, c)
	if err != nil {
		return registry.Ticket{}, err
	}
	var answer created
	if err := p.client.Begin(ctx, t.path, body, &answer); err != nil {
		return registry.Ticket{}, arrived(err)
	}
	if answer.id() == "" {
		return registry.Ticket{}, registry.Say(registry.CodeProvider, said.ServiceTaskUnnamed, "service", "Vidu")
	}
	return p.ticket(c, answer.id()), nil
}

// arrived makes a lost answer one that may be asked after: the next try looks for the task first.
func arrived(err error) error {
	if !errors.Is(err, upstream.ErrUnconfirmed) {
		return err
	}
	return registry.Say(registry.CodeUnavailable, said.ServiceTaskUnconfirmed, "service", "Vidu").Again().Because(err)
}

func (p *Provider) ticket(c registry.Call, id string) registry.Ticket {
	return registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: id}
}

// Find gives the task that carries a call's handle.
func (p *Provider) Find(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	id, err := p.find(ctx, c.Handle)
	if err == nil && id == "" {
		err = registry.Say(registry.CodeLost, said.ServiceTaskUnknown, "service", "Vidu")
	}
	return p.ticket(c, id), err
}

// find looks for a task by its payload among those of the last day, the newest first; "" where there is none.
func (p *Provider) find(ctx context.Context, handle string) (string, error) {
	query := url.Values{"created_at.from": {p.cfg.Now().Add(-searchBack).UTC().Format(time.RFC3339)}, "pager.pagesz": {strconv.Itoa(pageSize)}}
	for range searchPages {
		var page struct {
			Next  string    `json:"next_page_token"`
			Tasks []created `json:"tasks"`
		}
		if err := p.client.Get(ctx, "tasks", query, &page); err != nil {
			return "", err
		}
		for _, t := range page.Tasks {
			if t.Payload == handle {
				return t.id(), nil
			}
		}
		if page.Next == "" {
			break
		}
		query.Set("pager.page_token", page.Next)
	}
	return "", nil
}

// body is the request of a task: inputs go by their own names, but pictures, which the service takes as a list.
func (p *Provider) body(ctx context.Context, t task, m model, c registry.Call) (map[string]any, error) {
	body := map[string]any{"payload": c.Handle}
	if c.CallbackURL != "" {
		body["callback_url"] = c.CallbackURL
	}
	if len(t.models) > 0 {
		body["model"] = m.name
	}
	for _, f := range c.Tool.InputSchema {
		if value, given := c.Inputs[f.Name]; given && !f.Type.IsMedia() && m.takes(f.Name) {
			body[f.Name] = value
		}
	}
	if t.upscales {
		address, err := p.cfg.MediaURL(ctx, fmt.Sprint(c.Inputs["video"]))
		if err != nil {
			return nil, registry.Say(registry.CodeInvalidInput, said.VideoHand).At("video").Because(err)
		}
		body["video_url"] = address
	}
	images, err := readPictures(ctx, t, c)
	if len(images) > 0 {
		body["images"] = images
	}
	return body, err
}

// takes reports whether a model knows a parameter.
func (m model) takes(name string) bool {
	switch name {
	case "audio":
		return m.family == "q3"
	case "bgm":
		return m.family != "q3"
	case "style", "movement_amplitude":
		return m.family != "q3" && m.family != "q2"
	}
	return true
}

// readPictures gives a task's pictures as data URIs.
func readPictures(ctx context.Context, t task, c registry.Call) ([]string, error) {
	var uris []string
	var sizes []image.Config
	room := maxBody - 64<<10 // for all but the pictures
	for _, f := range t.pictures {
		refs, list := c.Inputs[f.Name].([]any)
		if one := c.Inputs[f.Name]; !list && one != nil {
			refs = []any{one}
		}
		for _, ref := range refs {
			uri, size, err := readPicture(ctx, c, f.Name, fmt.Sprint(ref), room)
			if err != nil {
				return nil, err
			}
			room -= len(uri)
			uris, sizes = append(uris, uri), append(sizes, size)
		}
		if len(uris) > t.most {
			return nil, registry.Say(registry.CodeInvalidInput, said.PicturesMany, "n", len(uris), "most", t.most).At(f.Name)
		}
	}
	if t.path == "start-end2video" && len(sizes) == 2 {
		if r := float64(sizes[0].Width*sizes[1].Height) / float64(sizes[0].Height*sizes[1].Width); r < 0.8 || r > 1.25 {
			return nil, wrong("end", "has another shape (%dx%d) than the first frame (%dx%d)", sizes[1].Width, sizes[1].Height, sizes[0].Width, sizes[0].Height)
		}
	}
	return uris, nil
}

func readPicture(ctx context.Context, c registry.Call, field, ref string, room int) (string, image.Config, error) {
	body, _, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		return "", image.Config{}, registry.Say(registry.CodeInvalidInput, said.PictureUnopened).At(field).Because(err)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err != nil {
		return "", image.Config{}, registry.Say(registry.CodeInternal, said.PictureUnread).At(field).Because(err)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return "", size, wrong(field, "a file is none of PNG, JPEG and WebP")
	case size.Width < minSide || size.Height < minSide:
		return "", size, wrong(field, "a picture has %dx%d pixels, at least %dx%d are needed", size.Width, size.Height, minSide, minSide)
	case size.Width >= maxRatio*size.Height || size.Height >= maxRatio*size.Width:
		return "", size, wrong(field, "a picture of %dx%d pixels is too long: one side must be less than %d times the other", size.Width, size.Height, maxRatio)
	}
	uri := "data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(data)
	if len(uri) > room {
		return "", size, wrong(field, "the pictures are too large together: about %d MB are taken", maxBody*3/4>>20)
	}
	return uri, size, nil
}

// Poll asks how far a task is.
func (p *Provider) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	var now created
	if err := p.client.Get(ctx, "tasks/"+url.PathEscape(t.ProviderID)+"/creations", nil, &now); err != nil {
		return registry.Progress{}, err
	}
	progress := stateOf(now.State)
	switch progress.State {
	case registry.RunFailed:
		progress.Err = byCode(now.ErrCode)
	case registry.RunSucceeded:
		if len(now.Made) == 0 || now.Made[0].URL == "" {
			return registry.Progress{State: registry.RunFailed, Err: registry.Say(registry.CodeBadOutput, said.AnswerWithoutVideo, "service", "Vidu")}, nil
		}
		progress.Result = &registry.Result{
			Outputs: []registry.Output{upstream.File(p.cfg.Guard, "video", "video", now.Made[0].URL, registry.MediaInfo{Name: "video.mp4", MIMEType: "video/mp4"})},
			Usage:   registry.Usage{CostUSD: p.prices.usd(now.Credits)},
		}
	}
	return progress, nil
}

func stateOf(word string) registry.Progress {
	switch word {
	case "created", "queueing", "preparation", "scheduling":
		return registry.Progress{State: registry.RunQueued}
	case "processing":
		return registry.Progress{State: registry.RunRunning}
	case "success":
		return registry.Progress{State: registry.RunSucceeded}
	case "failed":
		return registry.Progress{State: registry.RunFailed}
	case "canceled", "cancelled":
		return registry.Progress{State: registry.RunCanceled}
	}
	return registry.Progress{State: registry.RunRunning, Unknown: word}
}

// Cancel asks the service to stop a task. It does so only for some; a task that is over or unknown is left.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	err := p.client.Post(ctx, "tasks/"+url.PathEscape(t.ProviderID)+"/cancel", map[string]string{"id": t.ProviderID}, nil)
	return upstream.Stopped(ctx, err, p, t)
}

// Ready says that a tool is none of those that are offered.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if !slices.ContainsFunc(p.tasks, func(t task) bool { return t.id() == tool.ToolID }) {
		return registry.Say(registry.CodeUnavailable, said.NotOffered, "tool", tool.DisplayName)
	}
	return nil
}
