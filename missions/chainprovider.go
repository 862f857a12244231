package missions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// ChainService is the service that chains are tools of, and the name of their loader; ChainKind is their kind.
const (
	ChainService = "chains"
	ChainKind    = "chain"
	chainTimeout = 24 * time.Hour
)

// Chains makes tools of chains and runs them as missions. It is a registry.Loader, and a registry.Submitter that can cancel, name its price
// and tell what it would do.
type Chains struct {
	pool     *pgxpool.Pool
	missions func() *Service
}

var (
	_ registry.Loader    = (*Chains)(nil)
	_ registry.Submitter = (*Chains)(nil)
	_ registry.Canceler  = (*Chains)(nil)
	_ registry.Pricer    = (*Chains)(nil)
	_ registry.Previewer = (*Chains)(nil)
)

// NewChains makes Chains. missions is asked once they run: by then there is a Service.
func NewChains(pool *pgxpool.Pool, missions func() *Service) *Chains { return &Chains{pool, missions} }

// Name names the loader.
func (c *Chains) Name() string { return ChainService }

// Load reads the tools of all chains, and gives the one by which steps are proposed.
func (c *Chains) Load(ctx context.Context) ([]registry.Tool, error) {
	rows, _ := c.pool.Query(ctx, `SELECT convert_to(tool::text, 'UTF8'), account_id::text FROM chains ORDER BY changed_at DESC, id`)
	tools, err := pgx.CollectRows(rows, scanTool)
	if err != nil {
		return nil, fmt.Errorf("read chains: %w", err)
	}
	return append(tools, stepsTool()), nil
}

// scanTool reads the tool of a chain. Its owner's share is not written with it: owners may change, when accounts become one.
func scanTool(row pgx.CollectableRow) (registry.Tool, error) {
	var raw []byte
	var owner string
	if err := row.Scan(&raw, &owner); err != nil {
		return registry.Tool{}, err
	}
	tool, err := registry.DecodeStoredTool(raw)
	tool.Owner = owner
	if err != nil {
		return tool, err
	}
	chain, err := chainOf(tool)
	if err != nil {
		return tool, err
	}
	share, err := billing.ParseShare(chain.Share)
	if err == nil && share != nil && tool.CostingModel != nil {
		share.Author = owner
		tool.CostingModel.Share = share
	}
	return tool, err
}

// plan plans the mission of a call as if it were to begin now.
func (c *Chains) plan(ctx context.Context, call registry.Call) (Document, billing.NanoUSD, error) {
	d, err := c.draft(ctx, call)
	if err != nil {
		return Document{}, 0, err
	}
	d.Budget = call.Budget
	doc, promised, err := c.missions().plan(ctx, call.UserID, d)
	if err == nil && call.Tool.ToolID == StepsTool {
		err = doc.oneWord()
	}
	return doc, promised, err
}

// draft is what a call asks for: the steps that it names, or what a chain has written down.
func (c *Chains) draft(ctx context.Context, call registry.Call) (Draft, error) {
	if call.Tool.ToolID == StepsTool {
		return c.missions().stepsDraft(call.Inputs)
	}
	chain, err := chainOf(call.Tool)
	if err != nil {
		return Draft{}, err
	}
	owner, err := c.owner(ctx, chain.ID)
	if err == nil && (owner == "" || chain.Visibility == Private && owner != call.UserID) {
		err = registry.Say(registry.CodeUnavailable, said.Removed, "tool", call.Tool.DisplayName)
	}
	return chain.draft(call.Inputs), err
}

// Price is what all legs cost at most. They hold and pay for themselves.
func (c *Chains) Price(ctx context.Context, call registry.Call) (registry.Price, error) {
	_, promised, err := c.plan(ctx, call)
	if err != nil {
		return registry.Price{}, err
	}
	return registry.Price{CostUSD: promised.Decimal(), Parts: true}, nil
}

// Preview refuses what can't be run now, or not by this account, and tells the steps that its caller has to see.
func (c *Chains) Preview(ctx context.Context, call registry.Call) (registry.Preview, error) {
	doc, _, err := c.plan(ctx, call)
	if err != nil {
		return registry.Preview{}, err
	}
	shows, err := c.shows(ctx, call, doc)
	switch {
	case err != nil:
		return registry.Preview{}, err
	case shows:
		parts, err := c.missions().parts(doc)
		return registry.Preview{Capability: registry.CapabilityWrite, Parts: parts, Asks: true}, err
	case slices.ContainsFunc(doc.Legs, Leg.leaves): // no model does that unasked
		return registry.Preview{Capability: registry.CapabilityWrite}, nil
	}
	return registry.Preview{}, nil
}

// shows reports whether a call's steps have to be seen before they run: those that a model proposes, and those of somebody else's chain that
// change something or send something out, since they do it with the rights of whoever runs them.
func (c *Chains) shows(ctx context.Context, call registry.Call, doc Document) (bool, error) {
	if call.Tool.ToolID == StepsTool {
		return true, nil
	}
	chain, err := chainOf(call.Tool)
	if err != nil || !slices.ContainsFunc(doc.Legs, Leg.leaves) {
		return false, err
	}
	owner, err := c.owner(ctx, chain.ID)
	return owner != call.UserID, err
}

// owner is whose a chain is; "" where it was deleted.
func (c *Chains) owner(ctx context.Context, chainID string) (owner string, err error) {
	err = c.pool.QueryRow(ctx, `SELECT account_id::text FROM chains WHERE id::text = $1`, chainID).Scan(&owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("whose chain %s is: %w", chainID, err)
	}
	return owner, nil
}

// Submit begins the mission of a run, once for each handle: its owner has confirmed all legs by the run.
func (c *Chains) Submit(ctx context.Context, call registry.Call) (registry.Ticket, error) {
	s, ticket := c.missions(), registry.Ticket{RunID: call.RunID, Service: ChainService, ProviderID: call.Handle}
	_, err := get(ctx, s.cfg.Pool, call.Handle, "", "")
	if err == nil || !errors.Is(err, ErrNotFound) {
		return ticket, err
	}
	run, err := s.cfg.Runs.Get(ctx, call.RunID)
	if err != nil {
		return ticket, err
	}
	doc, now, err := c.plan(ctx, call)
	if promised := run.Quote.High - run.Quote.Share; err == nil && now > promised {
		err = registry.Errorf(registry.CodeUnavailable, "%s", (&PriceError{Promised: promised, Now: now}).Error())
	}
	shows := false
	if err == nil {
		shows, err = c.shows(ctx, call, doc)
	}
	if err == nil && shows {
		err = s.asShown(doc, call)
	}
	if err == nil && call.Tool.ToolID != StepsTool {
		err = c.lend(ctx, call)
	}
	if err != nil {
		return ticket, err
	}
	_, err = s.write(ctx, Mission{ID: call.Handle, AccountID: call.UserID, Status: Running, RunID: call.RunID, Origin: run.Origin, Budget: call.Budget, Document: doc, Promised: now}, "")
	return ticket, err
}

// lend gives who runs a chain the files that its owner wrote into it, and has.
func (c *Chains) lend(ctx context.Context, call registry.Call) error {
	chain, err := chainOf(call.Tool)
	if err != nil {
		return err
	}
	var files []string
	for _, leg := range chain.Legs {
		for _, value := range leg.Inputs {
			files = append(files, runs.FilesIn(value)...)
		}
	}
	if len(files) == 0 {
		return nil
	}
	owner, err := c.owner(ctx, chain.ID)
	if err != nil || owner == "" {
		return err // one that was deleted meanwhile lends nothing any more
	}
	return assets.Lend(ctx, c.pool, owner, call.UserID, files)
}

// Poll tells how far the mission is.
func (c *Chains) Poll(ctx context.Context, t registry.Ticket) (registry.Progress, error) {
	m, err := get(ctx, c.missions().cfg.Pool, t.ProviderID, "", "")
	if errors.Is(err, ErrNotFound) {
		return registry.Progress{}, registry.Errorf(registry.CodeLost, "there is no such mission")
	}
	if err != nil {
		return registry.Progress{}, err
	}
	done := m.Done()
	p := registry.Progress{State: registry.RunRunning, Fraction: float64(done) / float64(len(m.Legs)), HasFraction: true, Stage: fmt.Sprintf("%d/%d", done, len(m.Legs))}
	switch {
	case m.Status == Succeeded:
		p.State = registry.RunSucceeded
		p.Result, err = c.result(ctx, m)
	case m.Status.Final():
		p.State, p.Err = registry.RunFailed, failureIn(m)
	}
	return p, err
}

// failureIn is why a mission did not succeed: its first leg's that failed.
func failureIn(m Mission) *registry.Error {
	failure := registry.Errorf(registry.CodeCanceled, "it was canceled")
	for _, leg := range m.Legs {
		if leg.Progress.Failure != nil {
			failure = registry.Errorf(registry.Code(leg.Progress.Failure.Code), "%s: %s", leg.Summary, leg.Progress.Failure.Message)
			break
		}
	}
	if m.Status == RollbackIncomplete {
		failure.Code = registry.CodeProvider
	}
	return failure
}

// result are the outputs of the legs that no other leg needs.
func (c *Chains) result(ctx context.Context, m Mission) (*registry.Result, error) {
	s := c.missions()
	needed := map[int]bool{}
	for _, leg := range m.Legs {
		for _, order := range leg.DependsOn {
			needed[order] = true
		}
	}
	var outputs []registry.Output
	var named registry.OutputSchema
	for _, leg := range m.Legs {
		if needed[leg.Order] {
			continue
		}
		run, err := s.cfg.Runs.Get(ctx, leg.Progress.RunID)
		if err != nil {
			return nil, err
		}
		for _, declared := range run.Tool.OutputSchema {
			name := resultName(leg.Order, declared.Name, named)
			named = append(named, registry.OutputField{Name: name})
			for _, o := range run.Outputs {
				if o.Name == declared.Name {
					outputs = append(outputs, s.outputAs(name, o))
				}
			}
		}
	}
	cost, err := s.spentOn(ctx, m)
	return &registry.Result{Outputs: outputs, Usage: registry.Usage{CostUSD: cost.Decimal()}}, err
}

// spentOn is what the legs of a mission have cost together, without what was given back.
func (s *Service) spentOn(ctx context.Context, m Mission) (sum billing.NanoUSD, err error) {
	for _, leg := range m.Legs {
		if leg.Progress.RunID == "" {
			continue
		}
		run, err := s.cfg.Runs.Get(ctx, leg.Progress.RunID)
		if err != nil {
			return 0, err
		}
		if run.RefundedAt == nil {
			sum += run.Cost
		}
	}
	return sum, nil
}

// outputAs gives a run's output again.
func (s *Service) outputAs(name string, o runs.Output) registry.Output {
	out := registry.Output{Name: name, Type: o.Type, Text: o.Text, Info: registry.MediaInfo{Name: o.FileName, MIMEType: o.MIMEType, Bytes: o.Bytes, Width: o.Width, Height: o.Height, Alt: o.Alt}}
	if o.Media != "" {
		out.Open = func(ctx context.Context) (io.ReadCloser, error) {
			content, _, err := s.cfg.Media.OpenMedia(ctx, o.Media)
			return content, err
		}
	}
	return out
}

// Cancel ends the mission: what was done is taken back.
func (c *Chains) Cancel(ctx context.Context, t registry.Ticket) error {
	s := c.missions()
	m, err := get(ctx, s.cfg.Pool, t.ProviderID, "", "")
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err == nil {
		_, err = s.Cancel(ctx, m.ID, m.AccountID)
	}
	return err
}
