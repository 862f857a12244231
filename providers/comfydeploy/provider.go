// Package comfydeploy runs workflows that are deployed at ComfyUI Deploy: each deployed workflow is a tool,
// described by its notes, fed by its external nodes, billed by the seconds of the GPU that ran it.
//
// The service has no idempotency handle. A run carries ours among its inputs, where no node looks for it,
// so that after a crash it is found again in the list of the deployment's runs.
package comfydeploy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "comfydeploy"

const (
	handleInput = "signalbox_handle" // an input that no node has
	maxUpload   = 64 << 20           // bytes
	searchRuns  = 200                // the newest, where a run is looked for
)

// Config is the account at ComfyUI Deploy.
type Config struct {
	Key, BaseURL string       // https://api.comfydeploy.com/api
	HTTP         *http.Client // nil: one of its own
	Guard        *http.Client // of internal/outbound, for fetching results
	Logger       *slog.Logger
}

// Provider is the loader of the deployed workflows and runs them.
type Provider struct {
	cfg      Config
	client   *upstream.Client
	versions versionCache
}

var (
	_ registry.Loader    = (*Provider)(nil)
	_ registry.Submitter = (*Provider)(nil)
	_ registry.Canceler  = (*Provider)(nil)
	_ registry.Finder    = (*Provider)(nil)
	_ registry.Pricer    = (*Provider)(nil)
)

// New checks the configuration; it sends nothing.
func New(cfg Config) (*Provider, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	client, err := upstream.New(upstream.Config{
		Name: "ComfyDeploy", BaseURL: cfg.BaseURL, Secrets: []string{cfg.Key}, HTTP: cfg.HTTP, Failure: failure, Limit: 64 << 20, Timeout: time.Minute,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) },
	})
	if err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg, client: client, versions: versionCache{known: map[string]version{}}}, nil
}

// Price names the GPU that a call will run on, so that it is quoted at that one's rate.
func (p *Provider) Price(_ context.Context, c registry.Call) (registry.Price, error) {
	return registry.Price{Machine: text(c.Tool.Metadata, keyMachine)}, nil
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// Submit queues a run. A call that may have been submitted before is looked for first.
func (p *Provider) Submit(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	if c.Repeated {
		if id, err := p.find(ctx, c); err != nil || id != "" {
			return ticketOf(c, id), err
		}
	}
	inputs, err := p.inputs(ctx, c)
	if err != nil {
		return registry.Ticket{}, err
	}
	body := map[string]any{"deployment_id": text(c.Tool.Metadata, keyDeployment), "inputs": inputs}
	if c.CallbackURL != "" {
		body["webhook"], body["webhook_intermediate_status"] = c.CallbackURL, true
	}
	var answer struct {
		RunID string `json:"run_id"`
	}
	if err := p.client.Begin(ctx, "run/deployment/queue", body, &answer); err != nil {
		return registry.Ticket{}, arrived(err)
	}
	if answer.RunID == "" {
		return registry.Ticket{}, registry.Say(registry.CodeProvider, said.ServiceRunUnnamed, "service", "ComfyDeploy")
	}
	return ticketOf(c, answer.RunID), nil
}

// arrived makes a lost answer one that may be asked after: the next try looks for the run first.
func arrived(err error) error {
	if !errors.Is(err, upstream.ErrUnconfirmed) {
		return err
	}
	return registry.Say(registry.CodeUnavailable, said.ServiceRunUnconfirmed, "service", "ComfyDeploy").Again().Because(err)
}

// ticketOf notes which node gives which result, so that an answer can be read without the tool.
func ticketOf(c registry.Call, id string) registry.Ticket {
	t := registry.Ticket{RunID: c.RunID, Service: Service, ProviderID: id, Extra: map[string]string{}}
	nodes, _ := c.Tool.Metadata[keyOutputs].(map[string]any)
	for node, name := range nodes {
		t.Extra["node:"+node] = fmt.Sprint(name)
	}
	for _, f := range c.Tool.OutputSchema {
		if _, taken := t.Extra["type:"+f.Type]; !taken {
			t.Extra["type:"+f.Type] = f.Name
		}
	}
	return t
}

// Find gives the run that carries a call's handle.
func (p *Provider) Find(ctx context.Context, c registry.Call) (registry.Ticket, error) {
	id, err := p.find(ctx, c)
	if err == nil && id == "" {
		err = registry.Say(registry.CodeLost, said.ServiceRunUnknown, "service", "ComfyDeploy")
	}
	return ticketOf(c, id), err
}

// find looks for a run by our handle among the newest of its workflow; "" where there is none.
func (p *Provider) find(ctx context.Context, c registry.Call) (string, error) {
	var runs []run
	address := "workflow/" + url.PathEscape(text(c.Tool.Metadata, keyWorkflow)) + "/runs"
	if err := p.client.Get(ctx, address, url.Values{"limit": {fmt.Sprint(searchRuns)}}, &runs); err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.Inputs[handleInput] == c.Handle {
			return r.ID, nil
		}
	}
	return "", nil
}

// inputs are a call's values by the service's ids; files are uploaded to the service's own storage, so that it
// never fetches an address that came from a person.
func (p *Provider) inputs(ctx context.Context, c registry.Call) (map[string]any, error) {
	ids, _ := c.Tool.Metadata[keyInputs].(map[string]any)
	values := map[string]any{handleInput: c.Handle}
	for _, f := range c.Tool.InputSchema {
		value, given := c.Inputs[f.Name]
		id, known := ids[f.Name].(string)
		if !given || !known {
			continue
		}
		if f.Type.IsMedia() {
			var err error
			if value, err = p.upload(ctx, c, f, value); err != nil {
				return nil, err
			}
		}
		values[id] = value
	}
	return values, nil
}

// upload stores a field's files at the service and gives their addresses: one, or a JSON list of them.
func (p *Provider) upload(ctx context.Context, c registry.Call, f registry.InputField, value any) (any, error) {
	refs, several := value.([]any)
	if !several {
		return p.uploadOne(ctx, c, f, fmt.Sprint(value))
	}
	addresses := make([]string, len(refs))
	for i, ref := range refs {
		var err error
		if addresses[i], err = p.uploadOne(ctx, c, f, fmt.Sprint(ref)); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(addresses)
	return string(list), err
}

func (p *Provider) uploadOne(ctx context.Context, c registry.Call, f registry.InputField, ref registry.Media) (string, error) {
	body, info, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		return "", registry.Say(registry.CodeInvalidInput, said.FileUnopened).At(f.Name).Because(err)
	}
	defer body.Close()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreatePart(fileHeader(info, f))
	if err != nil {
		return "", err
	}
	n, err := io.Copy(part, io.LimitReader(body, maxUpload+1))
	switch {
	case err != nil:
		return "", registry.Say(registry.CodeInternal, said.FileUnread).At(f.Name).Because(err)
	case n > maxUpload:
		return "", registry.Say(registry.CodeInvalidInput, said.FileMB, "n", maxUpload>>20).At(f.Name)
	}
	if err := writer.Close(); err != nil {
		return "", err
	}
	answer, err := p.client.Do(ctx, upstream.Request{
		Method: http.MethodPost, Path: "assets/upload", Body: &form, ContentType: writer.FormDataContentType(), Repeatable: true, // a second copy does no harm
	})
	if err != nil {
		return "", err
	}
	var stored struct {
		URL string `json:"url"`
	}
	if err := p.client.Decode(answer, &stored); err != nil {
		return "", err
	}
	if stored.URL == "" {
		return "", registry.Say(registry.CodeProvider, said.ServiceStored, "service", "ComfyDeploy")
	}
	return stored.URL, nil
}

func fileHeader(info registry.MediaInfo, f registry.InputField) textproto.MIMEHeader {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' || r == 0x7f {
			return '_'
		}
		return r
	}, path.Base(info.Name))
	if info.Name == "" {
		name = f.Name
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename="%s"`, name))
	header.Set("Content-Type", "application/octet-stream")
	if info.MIMEType != "" {
		header.Set("Content-Type", info.MIMEType)
	}
	return header
}

// Cancel stops a run. One that is over or unknown is left.
func (p *Provider) Cancel(ctx context.Context, t registry.Ticket) error {
	err := p.client.Post(ctx, "run/"+url.PathEscape(t.ProviderID)+"/cancel", struct{}{}, nil)
	return upstream.Stopped(ctx, err, p, t)
}

// failure reads FastAPI's {"detail": text} and {"detail": [{loc, msg, type}]}.
func failure(answer upstream.Response) *registry.Error {
	var body struct {
		Detail []struct {
			Location []any `json:"loc"`
		} `json:"detail"`
	}
	if answer.Status == http.StatusUnprocessableEntity && json.Unmarshal(answer.Body, &body) == nil && len(body.Detail) > 0 {
		words := make([]string, len(body.Detail[0].Location))
		for i, w := range body.Detail[0].Location {
			words[i] = fmt.Sprint(w)
		}
		return registry.Say(registry.CodeInvalidInput, said.ServiceValueAt, "service", "ComfyDeploy", "place", fmt.Sprintf("%.100s", strings.Join(words, ".")))
	}
	return nil
}

// Ready says that a definition names no deployment to run.
func (p *Provider) Ready(_ context.Context, tool registry.Tool) error {
	if name, _ := tool.Metadata[keyDeployment].(string); name == "" {
		return registry.Say(registry.CodeUnavailable, said.DeploymentNone, "tool", tool.DisplayName)
	}
	return nil
}
