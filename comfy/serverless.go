package comfy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/api"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/comfy/needs"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/runpod"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/clock"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// Endpoint is a serverless endpoint (RunPod's, with worker-comfyui) that runs prompts beside the servers of a fleet. It declares nothing by itself, so
// what it has stands in a file, and it gives back pictures only.
type Endpoint struct {
	Name   string // host and path
	AtOnce int    // jobs that it gets at a time

	client *runpod.Client
	files  *http.Client // for results that are elsewhere
	info   *objectinfo.Info
	hash   string
	gpu    string
}

const (
	endpointAtOnce = 3        // workers that an endpoint has where nobody says
	handleKey      = "handle" // in a ticket's Extra: the id by which the fleet counts the job
)

// ReadEndpoints reads a file of endpoints:
//
//	[{"endpoint": "https://api.runpod.ai/v2/abc123", "key": "...", "objectInfo": "object_info.json", "gpu": "NVIDIA L4", "atOnce": 3}]
//
// objectInfo is what GET /object_info of a ComfyUI with the same nodes and models gives, in a file beside this one. client sends the requests, and
// files fetches results from addresses that an endpoint gives. Errors show no key.
func ReadEndpoints(file string, client, files *http.Client) ([]*Endpoint, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Endpoint   string `json:"endpoint"`
		Key        string `json:"key"`
		ObjectInfo string `json:"objectInfo"`
		GPU        string `json:"gpu"`
		AtOnce     int    `json:"atOnce"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if d.Decode(&list) != nil {
		return nil, fmt.Errorf(`%s is not as in [{"endpoint": "https://api.runpod.ai/v2/abc123", "key": "...", "objectInfo": "object_info.json"}]`, file)
	}
	var endpoints []*Endpoint
	for _, each := range list {
		u, err := url.Parse(each.Endpoint)
		if err != nil || u.Host == "" || u.Path == "" || u.User != nil {
			return nil, fmt.Errorf("%s: an endpoint has an address such as https://api.runpod.ai/v2/abc123", file)
		}
		e := &Endpoint{Name: EngineName(u), AtOnce: each.AtOnce, gpu: each.GPU, files: files}
		switch {
		case each.Key == "" || strings.ContainsAny(each.Key, " \r\n\t"):
			return nil, fmt.Errorf("%s: %s needs a key without spaces", file, e.Name)
		case each.AtOnce < 0:
			return nil, fmt.Errorf("%s: atOnce of %s is %d; a number of jobs is expected, such as 3", file, e.Name, each.AtOnce)
		case each.AtOnce == 0:
			e.AtOnce = endpointAtOnce
		}
		if slices.ContainsFunc(endpoints, func(other *Endpoint) bool { return other.Name == e.Name }) {
			return nil, fmt.Errorf("%s: %s is there twice", file, e.Name)
		}
		if e.client, err = runpod.New(each.Endpoint, each.Key, client); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := e.readInfo(file, each.ObjectInfo); err != nil {
			return nil, err
		}
		endpoints = append(endpoints, e)
	}
	return endpoints, nil
}

func (e *Endpoint) readInfo(file, name string) error {
	if name == "" {
		return fmt.Errorf("%s: %s needs objectInfo: the file with what GET /object_info of a ComfyUI with its nodes and models gives", file, e.Name)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	data, err := os.ReadFile(name)
	if err == nil {
		e.info, e.hash, err = api.ParseDeclarations(data)
	}
	return errs.Wrap(err, "%s: objectInfo of %s", file, e.Name)
}

// probe asks how an endpoint is. That it answers is enough: workers start when there is work. What it has stands in its file.
func (e *Endpoint) probe(ctx context.Context, k *knowledge) (idle bool) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	waiting, err := e.client.Waiting(ctx)
	k.err = err
	k.info, k.infoHash, k.infoAt = e.info, e.hash, k.checked
	k.stats = api.SystemStats{Version: "serverless"}
	if e.gpu != "" {
		k.stats.GPUs = []string{e.gpu}
	}
	return err == nil && waiting == 0
}

// queueLength is how many prompts the engine has, everybody's.
func (e *Engine) queueLength(ctx context.Context) (int, error) {
	if e.endpoint != nil {
		return e.endpoint.client.Waiting(ctx)
	}
	return e.Client.QueueLength(ctx)
}

// lacks names what an engine lacks for the workflow of a tool.
func (e *Engine) lacks(info *objectinfo.Info, tool string, need workflow.Requirements) []string {
	missing := e.missing.Missing(info, tool, need)
	if len(need.Tags) > 0 {
		if lacks := e.tags.Lacks(need.Tags, e.knowledge().stats.Memory.Total); len(lacks) > 0 {
			return append(lacks, missing...)
		}
	}
	if e.endpoint != nil && !need.PicturesOnly && len(need.Classes) > 0 {
		return append(missing, needs.Returns)
	}
	return missing
}

// errUnfit is in the chain of an error for a call that an endpoint can't take, whatever its state.
var errUnfit = errors.New("the endpoint can't take it")

// submitJob begins a job. Where it goes is noted before, and its id as soon as that is known: the service can't be asked for it.
func (p *Provider) submitJob(ctx context.Context, at place, c registry.Call, tpl *loader.Template) (registry.Ticket, error) {
	e := at.engine
	in, pl, err := p.job(ctx, e, c, tpl)
	if err != nil {
		return registry.Ticket{}, err
	}
	ticket, err := pl.ticket(c, e, "")
	if err != nil {
		return registry.Ticket{}, err
	}
	ticket.ProviderID, ticket.Extra[handleKey] = "", handleOf(c)
	if err := note(ctx, c, ticket); err != nil {
		return registry.Ticket{}, err
	}
	ticket.ProviderID, err = e.endpoint.client.Run(ctx, in)
	if err == nil {
		return ticket, note(context.WithoutCancel(ctx), c, ticket)
	}
	if errors.Is(err, runpod.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", errUnfit, registry.Say(registry.CodeInvalidInput, said.EngineFileLarge).Because(err))
	}
	if failure := registry.AsError(err); failure.Code != registry.CodeLost && ctx.Err() == nil { // it surely does not run
		if err := note(ctx, c, registry.Ticket{}); err != nil {
			return registry.Ticket{}, err
		}
		if failure.Code == registry.CodeUnavailable {
			err = fmt.Errorf("%w: %w", api.ErrUnreached, err)
		}
	}
	return registry.Ticket{}, err
}

// job makes the prompt of a call with its files.
func (p *Provider) job(ctx context.Context, e *Engine, c registry.Call, tpl *loader.Template) (runpod.Input, plan, error) {
	in := runpod.Input{}
	names := make(map[string][]string)
	room := int64(runpod.MaxBody)
	for _, f := range c.Tool.InputSchema {
		if !f.Type.IsMedia() {
			continue
		}
		for _, ref := range mediaRefs(c.Inputs[f.Name]) {
			if tpl.TakesURL(f.Name) {
				address, err := p.mediaURL(ctx, ref)
				if err != nil {
					return in, plan{}, err
				}
				names[f.Name] = append(names[f.Name], address)
				continue
			}
			image, err := carried(ctx, c.Media, ref, room)
			if err != nil {
				failure := *registry.AsError(err)
				failure.Field = f.Name
				return in, plan{}, fmt.Errorf("%w: %w", errUnfit, &failure)
			}
			room -= int64(len(image.Data))
			in.Images, names[f.Name] = append(in.Images, image), append(names[f.Name], image.Name)
		}
	}
	applied, err := tpl.Binding.Apply(c.Inputs, names, nil)
	if err != nil {
		return in, plan{}, err
	}
	needs.Spell(e.endpoint.info, applied.Prompt)
	keepResults(applied.Prompt)
	pl := newPlan(tpl, applied.Prompt)
	pl.Fees = p.fees(ctx, e, c, tpl)
	markResults(applied.Prompt, pl.Outputs)
	in.Workflow = applied.Prompt
	if hasPartners(e.endpoint.info, applied.Prompt) {
		in.PartnerKey = p.cfg.PartnerKey
	}
	return in, pl, nil
}

// carried reads a file that goes along with a job, of at most room bytes.
func carried(ctx context.Context, media registry.MediaOpener, ref registry.Media, room int64) (runpod.Image, error) {
	content, info, err := media.OpenMedia(ctx, ref)
	if err != nil {
		return runpod.Image{}, registry.Say(registry.CodeInvalidInput, said.EngineFileGone).Because(err)
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, room+1))
	if err != nil {
		return runpod.Image{}, registry.Say(registry.CodeUnavailable, said.EngineFile).Again().Because(err)
	}
	if int64(len(data)) > room {
		return runpod.Image{}, registry.Say(registry.CodeInvalidInput, said.EngineFileLarge)
	}
	return runpod.Image{Name: uploadName(ref, info), Data: data}, nil
}

// markResults has each output node name its files after its place among the outputs, since the worker does not say which node made a picture; and
// has temporary pictures kept, which the worker leaves out.
func markResults(prompt graph.Prompt, outputs []planOutput) {
	for i, out := range outputs {
		n := prompt.Node(out.Node)
		if n == nil {
			continue
		}
		if n.Class == "PreviewImage" {
			n.Class = "SaveImage"
		}
		name, _ := n.Inputs.Get("filename_prefix")
		text, _ := name.(string)
		n.Inputs.Set("filename_prefix", "o"+strconv.Itoa(i)+"_"+text[strings.LastIndexAny(text, `/\`)+1:])
	}
}

// outputOf finds the output that a file was made by, and the file's own name.
func outputOf(outputs []planOutput, filename string) (planOutput, string, bool) {
	mark, name, ok := strings.Cut(filename[strings.LastIndexAny(filename, `/\`)+1:], "_")
	i, err := strconv.Atoi(strings.TrimPrefix(mark, "o"))
	if !ok || err != nil || !strings.HasPrefix(mark, "o") || i < 0 || i >= len(outputs) {
		return planOutput{}, "", false
	}
	return outputs[i], strings.TrimLeft(name, "_"), true
}

// pollJob asks after a job.
func (p *Provider) pollJob(ctx context.Context, e *Engine, t registry.Ticket) (registry.Progress, error) {
	handle := t.Extra[handleKey]
	if p.cfg.Fleet.isReleased(e) {
		e.free(handle)
		return registry.Progress{}, gone(e)
	}
	pl, err := planOf(t)
	if err != nil {
		return registry.Progress{}, err
	}
	job, err := e.endpoint.client.Status(ctx, t.ProviderID)
	if err != nil {
		if registry.AsError(err).Code == registry.CodeLost {
			e.free(handle)
		}
		return registry.Progress{}, err
	}
	progress := job.State()
	if !progress.State.Terminal() {
		e.hold(handle)
		return progress, nil
	}
	e.free(handle)
	switch progress.State {
	case registry.RunFailed:
		progress.Err = jobError(e, job)
	case registry.RunSucceeded:
		progress.Result = &registry.Result{Usage: registry.Usage{RunTime: job.RunTime(), Machine: e.machine(), FeesUSD: sumOf(pl.Fees, nil)}}
		if progress.Result.Outputs, err = e.endpoint.outputs(job, pl); err != nil {
			failed := registry.Say(registry.CodeBadOutput, said.EnginePart).Because(fmt.Errorf("%s: job %s: %w", e.Name, job.ID, err))
			return registry.Progress{State: registry.RunFailed, Err: failed}, nil
		}
	}
	return progress, nil
}

func jobError(e *Engine, job runpod.Job) *registry.Error {
	cause := fmt.Errorf("%s: job %s: %.2000s", e.Name, job.ID, job.Failure())
	switch {
	case job.Status == "TIMED_OUT":
		return registry.Say(registry.CodeTimeout, said.WorkflowLong).Because(cause)
	case api.OutOfMemory(job.Failure()):
		return registry.Say(registry.CodeProvider, said.EngineMemory, "node", said.NodeUnknown).Because(cause)
	}
	return registry.Say(registry.CodeProvider, said.EngineFails, "node", said.NodeUnknown).Because(cause)
}

// outputs are the pictures of a job; each output has to have one.
func (e *Endpoint) outputs(job runpod.Job, pl plan) ([]registry.Output, error) {
	results, err := job.Results()
	if err != nil {
		return nil, err
	}
	var outputs []registry.Output
	for _, r := range results {
		out, name, ok := outputOf(pl.Outputs, r.Filename)
		if !ok {
			return nil, fmt.Errorf("the file %.80q is none of the outputs'", r.Filename)
		}
		info := registry.MediaInfo{}
		if api.PlainName(name) {
			info.Name = name
		}
		if r.URL != "" {
			outputs = append(outputs, upstream.File(e.files, out.Name, "image", r.URL, info))
			continue
		}
		outputs = append(outputs, registry.Output{Name: out.Name, Type: "image", Info: info, Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(r.Data)), nil
		}})
	}
	for _, out := range pl.Outputs {
		if !slices.ContainsFunc(outputs, func(o registry.Output) bool { return o.Name == out.Name }) {
			return nil, fmt.Errorf("no picture of the output %s", out.Name)
		}
	}
	return outputs, nil
}

// watchJob asks after a job until it is over.
func (p *Provider) watchJob(ctx context.Context, e *Engine, t registry.Ticket, report func(registry.Progress)) error {
	for {
		progress, err := p.pollJob(ctx, e, t)
		if err != nil {
			return fmt.Errorf("following run %s on %s: %w", t.RunID, e.Name, err)
		}
		report(progress)
		if progress.State.Terminal() {
			return nil
		}
		if err := clock.Sleep(ctx, p.cfg.ReconcileEvery); err != nil {
			return err
		}
	}
}

// cancelJob ends a job. Without its id nothing can be done: it ends by itself.
func (e *Engine) cancelJob(ctx context.Context, t registry.Ticket) error {
	if t.ProviderID == "" {
		return nil
	}
	err := e.endpoint.client.Cancel(ctx, t.ProviderID)
	if err == nil {
		e.free(t.Extra[handleKey])
	}
	return err
}

// sentJob is the ticket of a job that was sent, or may have been.
func sentJob(t registry.Ticket) (registry.Ticket, error) {
	if t.ProviderID == "" {
		return registry.Ticket{}, registry.Say(registry.CodeLost, said.LostRun, "service", "RunPod")
	}
	return t, nil
}
