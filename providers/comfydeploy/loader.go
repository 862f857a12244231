package comfydeploy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/registry"
)

const (
	pageSize    = 100
	maxPages    = 50
	atOnce      = 8 // versions that are read at a time
	defaultRate = json.Number("0.000337")
)

// account is what one look at the service shows.
type account struct {
	deployments []deployment
	names       map[string]string  // of workflows, by id
	machines    map[string]machine // by id
	rates       map[string]json.Number
}

// look lists deployments, then workflows, machines and prices side by side. Without deployments there are no
// tools; what the others lack costs a name, a machine's state or a price.
func (p *Provider) look(ctx context.Context) (account, error) {
	var found account
	// Those with a machine image of their own are a list apart. Of a service that is down one question is enough: five
	// failures at once would close the way to it for runs, too.
	var fluid []deployment
	err := list(ctx, p, "deployments", "page_size", nil, &found.deployments)
	if err == nil {
		err = list(ctx, p, "deployments", "page_size", url.Values{"is_fluid": {"true"}}, &fluid)
	}
	if err != nil {
		return account{}, fmt.Errorf("look at ComfyDeploy: %w", err)
	}
	var workflows []listed
	var machines []machine
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return list(ctx, p, "workflows", "limit", nil, &workflows) })
	g.Go(func() error { return list(ctx, p, "machines", "limit", nil, &machines) })
	g.Go(func() error {
		if err := p.client.Get(ctx, "platform/gpu-pricing", nil, &found.rates); err != nil {
			p.cfg.Logger.WarnContext(ctx, "ComfyDeploy does not tell its prices: those of the rate card count", "error", err)
			found.rates = nil
		}
		return ctx.Err()
	})
	if err := g.Wait(); err != nil {
		return account{}, fmt.Errorf("look at ComfyDeploy: %w", err)
	}
	found.deployments = append(found.deployments, fluid...)
	found.names, found.machines = map[string]string{}, map[string]machine{}
	for _, w := range workflows {
		found.names[w.ID] = w.Name
	}
	for _, m := range machines {
		found.machines[m.ID] = m
	}
	return found, nil
}

// list reads a list page by page; size is the parameter that bounds a page.
func list[T any](ctx context.Context, p *Provider, path, size string, which url.Values, into *[]T) error {
	for page := range maxPages {
		var part []T
		query := url.Values{size: {strconv.Itoa(pageSize)}, "offset": {strconv.Itoa(page * pageSize)}}
		maps.Copy(query, which)
		if err := p.client.Get(ctx, path, query, &part); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		*into = append(*into, part...)
		if len(part) < pageSize {
			return nil
		}
	}
	return fmt.Errorf("%s: more than %d", path, maxPages*pageSize)
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load makes a tool of each workflow that is deployed.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) {
	found, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	chosen := pick(found.deployments)
	versions := make([]version, len(chosen))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, d := range chosen {
		g.Go(func() (err error) {
			versions[i], err = p.versions.get(ctx, p, d)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("look at ComfyDeploy: %w", err)
	}
	tools := make([]registry.Tool, len(chosen))
	for i, d := range chosen {
		m := found.machines[d.MachineID]
		rate := cmp.Or(found.rates[gpuOf(d, m)], defaultRate)
		tools[i] = toolOf(d, nameOf(d, found.names), versions[i], m, rate)
	}
	return tools, nil
}

// versionCache keeps what never changes: the versions of workflows, by id, as long as they are deployed.
type versionCache struct {
	mu    sync.Mutex
	known map[string]version
}

// get reads a deployment's version once. One that the service does not hand out is empty, and asked for
// again the next time.
func (c *versionCache) get(ctx context.Context, p *Provider, d deployment) (version, error) {
	c.mu.Lock()
	v, known := c.known[d.VersionID]
	c.mu.Unlock()
	if known || d.Version.Number == "" {
		return v, nil
	}
	err := p.client.Get(ctx, "workflow/"+url.PathEscape(d.WorkflowID)+"/version/"+url.PathEscape(d.Version.Number.String()), nil, &v)
	if failure := registry.AsError(err); failure != nil {
		if failure.Code == registry.CodeLost || failure.Code == registry.CodeUnauthorized {
			return version{}, nil
		}
		return version{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[d.VersionID] = v
	return v, nil
}
