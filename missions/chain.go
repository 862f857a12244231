package missions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Chain is a mission that was written down: a tool like any other, whose run carries the legs out.
type Chain struct {
	ID        string    `json:"-"`
	AccountID string    `json:"-"` // its owner
	Version   int       `json:"-"` // 1, 2, ...
	ChangedAt time.Time `json:"-"`

	Name          string     `json:"name"`
	Command       string     `json:"command"` // with its slash
	Description   string     `json:"description,omitempty"`
	Visibility    Visibility `json:"visibility"`
	Currency      string     `json:"currency,omitempty"`
	EscalationURL string     `json:"escalationUrl,omitempty"`
	// Share is what its owner gets of the run of somebody else: "10%" of what the legs cost, or US dollars such as "0.01". Empty: nothing.
	Share   string     `json:"share,omitempty"`
	Legs    []DraftLeg `json:"legs"`
	Exposed []Exposed  `json:"exposed"`
}

// Visibility says who may run a chain.
type Visibility string

// A private chain is its owner's alone; a public one is everybody's, who runs it with their own rights and money.
const (
	Private Visibility = "private"
	Public  Visibility = "public"
)

// Exposed is an input of a leg that is an input of the chain. What the leg has for it is the default. Those of several legs that have one
// name are one input, as the first of them describes it.
type Exposed struct {
	Name  string `json:"name"` // of the chain's input
	Leg   int    `json:"leg"`
	Input string `json:"input"` // of the leg's tool
	Label string `json:"label,omitempty"`
}

// ErrNoChain says that there is no such chain, or that it is somebody else's.
var ErrNoChain = fmt.Errorf("no such chain: %w", ErrNotFound)

var (
	commandName = regexp.MustCompile(`^/[a-z][a-z0-9_]{1,31}$`)
	inputName   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,39}$`)
)

func (c *Chain) check() error {
	switch {
	case strings.TrimSpace(c.Name) == "" || len(c.Name) > 100:
		return refuse("name", "expected a name of at most 100 bytes")
	case !commandName.MatchString(c.Command):
		return refuse("command", "found %.40q, expected one such as /poster_of_the_day", c.Command)
	case c.Visibility != Private && c.Visibility != Public:
		return refuse("visibility", "found %.20q, expected private or public", c.Visibility)
	case len(c.Description) > maxText:
		return refuse("description", "expected at most %d bytes", maxText)
	}
	seen := map[Exposed]bool{}
	for i, e := range c.Exposed {
		named, filled := Exposed{Name: e.Name, Leg: e.Leg}, Exposed{Leg: e.Leg, Input: e.Input}
		if !inputName.MatchString(e.Name) || seen[named] || seen[filled] || e.Leg < 1 || e.Leg > len(c.Legs) {
			return refuse(fmt.Sprintf("exposed.%d", i+1), `expected a name of its own and a leg that there is, such as {"name":"subject","leg":1,"input":"prompt"}`)
		}
		seen[named], seen[filled] = true, true
	}
	return nil
}

// draft is the mission of a chain with the inputs of a run.
func (c *Chain) draft(inputs map[string]any) Draft {
	d := Draft{Title: c.Name, Currency: c.Currency, EscalationURL: c.EscalationURL, Legs: slices.Clone(c.Legs)}
	for i := range d.Legs {
		given := map[string]any{}
		maps.Copy(given, d.Legs[i].Inputs)
		for _, e := range c.Exposed {
			if value, ok := inputs[e.Name]; ok && e.Leg == i+1 {
				given[e.Input] = value
			}
		}
		d.Legs[i].Inputs = given
	}
	return d
}

// Follow gives the inputs of a leg the names that its tool has for them by now.
func Follow(tool registry.Tool, inputs map[string]any) {
	for _, renamed := range tool.Migrations {
		value, given := inputs[renamed.From]
		if _, known := tool.InputSchema.Get(renamed.From); !given || known || len(renamed.When) > 0 {
			continue
		}
		delete(inputs, renamed.From)
		if _, taken := inputs[renamed.To]; !taken {
			inputs[renamed.To] = value
		}
	}
}

// SaveChain writes a chain down, or, where it has an ID, a new version of it. Its owner runs it from then on, and others if it is public.
// Errors: a *registry.Error with the member that is wrong, ErrNoChain.
func (s *Service) SaveChain(ctx context.Context, c Chain) (Chain, error) {
	tool, err := s.chainTool(ctx, &c)
	if err != nil {
		return Chain{}, fmt.Errorf("save a chain: %w", err)
	}
	definition, err := json.Marshal(c)
	if err != nil {
		return Chain{}, err
	}
	c.ChangedAt = s.now()
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return writeChain(ctx, tx, &c, definition, tool) })
	var conflict *pgconn.PgError
	if errors.As(err, &conflict) && conflict.ConstraintName == "chains_shared_command" {
		err = taken(said.ChainShared.With("command", c.Command))
	}
	if err != nil {
		return Chain{}, fmt.Errorf("save a chain: %w", err)
	}
	return c, s.publish(ctx)
}

// taken refuses a chain for its command.
func taken(why said.Text) error {
	return registry.SayText(registry.CodeInvalidInput, why).At("command")
}

func writeChain(ctx context.Context, tx pgx.Tx, c *Chain, definition []byte, tool registry.Tool) error {
	raw, err := registry.Encode(tool)
	if err != nil {
		return err
	}
	// Chains of one account are written one after the other.
	batch := &pgx.Batch{}
	batch.Queue(`SELECT runs_lock($1)`, c.AccountID)
	var another bool
	batch.Queue(`SELECT EXISTS (SELECT FROM chains WHERE account_id = $1 AND command = $2 AND id::text <> $3)`, c.AccountID, c.Command, c.ID).
		QueryRow(func(row pgx.Row) error { return row.Scan(&another) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if another {
		return taken(said.ChainOwn.With("command", c.Command))
	}
	err = tx.QueryRow(ctx, `
		INSERT INTO chains AS c (id, account_id, command, version, definition, tool, changed_at) VALUES ($1, $2, $3, 1, $4, $5, $6)
		ON CONFLICT (id) DO UPDATE SET command = $3, version = c.version + 1, definition = $4, tool = $5, changed_at = $6 WHERE c.account_id = $2
		RETURNING version`, c.ID, c.AccountID, c.Command, definition, raw, c.ChangedAt).Scan(&c.Version)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNoChain
	}
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO chain_versions (chain_id, version, definition, made_at) VALUES ($1, $2, $3, $4)`, c.ID, c.Version, definition, c.ChangedAt)
	}
	return err
}

// publish has every process offer the chains as they are now, this one at once. What is wrong with other tools and chains is logged, and
// concerns nobody who saves one.
func (s *Service) publish(ctx context.Context) error {
	_, err := s.cfg.Pool.Exec(ctx, `SELECT pg_notify('`+channel+`', $1)`, chainsChanged)
	s.reloadChains()
	return err
}

// chainsChanged is the notification that chains have changed.
const chainsChanged = "chains"

// DeleteChain ends a chain; runs under way come to their end.
func (s *Service) DeleteChain(ctx context.Context, chainID, accountID string) error {
	tag, err := s.cfg.Pool.Exec(ctx, `DELETE FROM chains WHERE id::text = $1 AND account_id = $2`, chainID, accountID)
	if err != nil {
		return fmt.Errorf("delete chain %s: %w", chainID, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNoChain
	}
	return s.publish(ctx)
}

// Chain gives a chain of an account.
func (s *Service) Chain(ctx context.Context, chainID, accountID string) (Chain, error) {
	found, err := readChains(ctx, s.cfg.Pool, `WHERE id::text = $1 AND account_id = $2`, chainID, accountID)
	if err == nil && len(found) == 0 {
		return Chain{}, ErrNoChain
	}
	if err != nil {
		return Chain{}, err
	}
	return found[0], nil
}

// Chains lists the chains of an account, the one that was changed last first.
func (s *Service) Chains(ctx context.Context, accountID string) ([]Chain, error) {
	return readChains(ctx, s.cfg.Pool, `WHERE account_id = $1 ORDER BY changed_at DESC LIMIT 500`, accountID)
}

func readChains(ctx context.Context, q querier, where string, args ...any) ([]Chain, error) {
	rows, _ := q.Query(ctx, `SELECT id::text, account_id::text, version, changed_at, convert_to(definition::text, 'UTF8') FROM chains `+where, args...)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Chain, err error) {
		var definition []byte
		if err := row.Scan(&c.ID, &c.AccountID, &c.Version, &c.ChangedAt, &definition); err != nil {
			return c, err
		}
		return c, decimal.Unmarshal(definition, &c)
	})
	return found, errs.Wrap(err, "read chains")
}

// chainTool makes the tool of a chain, and refuses one that could not be run.
func (s *Service) chainTool(ctx context.Context, c *Chain) (registry.Tool, error) {
	if err := c.check(); err != nil {
		return registry.Tool{}, err
	}
	if err := s.checkShare(ctx, c); err != nil {
		return registry.Tool{}, err
	}
	if c.ID == "" {
		c.ID = uuid.NewString()
	}
	own := c.ToolID()
	if other, there := s.cfg.Registry.Snapshot().ByCommand(c.Command); there && other.Service != ChainService || s.cfg.Registry.Reserved(c.Command) {
		return registry.Tool{}, taken(said.ChainTool.With("command", c.Command))
	}
	d := c.draft(nil)
	if err := d.check(MaxLegs); err != nil {
		return registry.Tool{}, err
	}
	t := registry.Tool{
		ToolID: own, Service: ChainService, DisplayName: c.Name, Description: c.Description, CommandName: c.Command,
		Listing:      registry.Listing{Kind: ChainKind, Category: "chains", Visibility: registry.VisibilityPublic},
		Execution:    registry.Execution{Capability: registry.CapabilityRead, TimeoutMs: chainTimeout.Milliseconds()},
		CostingModel: &registry.CostingModel{Rate: "0", Unit: registry.UnitRequest, RateSource: registry.RateAPI},
	}
	if c.Visibility == Private {
		t.Visibility = registry.VisibilityHidden
	}
	tools := make([]registry.Tool, len(d.Legs))
	for i, leg := range d.Legs {
		if err := s.addLeg(ctx, c, &t, leg, tools[:i]); err != nil {
			return registry.Tool{}, fmt.Errorf("leg %d: %w", leg.Order, err)
		}
		found, _ := s.cfg.Registry.Snapshot().Resolve(leg.Tool)
		tools[i] = *found
	}
	if err := c.expose(&t, tools); err != nil {
		return registry.Tool{}, err
	}
	c.results(&t, tools)
	raw, err := json.Marshal(c)
	if err != nil {
		return registry.Tool{}, err
	}
	t.Metadata = map[string]any{chainKey: string(raw), chainIDKey: c.ID}
	return t, nil
}

// checkShare refuses a share that the house does not allow. One that the chain has already may stay: it counts as far as it is allowed.
func (s *Service) checkShare(ctx context.Context, c *Chain) error {
	share, err := billing.ParseShare(c.Share)
	bounds := s.cfg.Shares()
	switch {
	case err != nil:
		return registry.Say(registry.CodeInvalidInput, said.ShareBad, "found", c.Share).At("share")
	case share == nil:
		c.Share = ""
		return nil
	case bounds.Allows(share):
		return nil
	}
	if c.ID != "" {
		if before, err := s.Chain(ctx, c.ID, c.AccountID); err == nil && before.Share == c.Share {
			return nil
		}
	}
	if bounds.None() {
		return registry.Say(registry.CodeInvalidInput, said.ShareOff).At("share")
	}
	return registry.Say(registry.CodeInvalidInput, said.ShareOver, "percent", cmp.Or(bounds.Percent, "0"), "usd", cmp.Or(bounds.USD, "0")).At("share")
}

// addLeg checks a leg of a chain, and what it makes of the whole.
func (s *Service) addLeg(ctx context.Context, c *Chain, t *registry.Tool, leg DraftLeg, before []registry.Tool) error {
	audience, err := s.cfg.May(ctx, c.AccountID, leg.Tool, "")
	if err != nil {
		return err
	}
	tool, known := s.cfg.Registry.Snapshot().Resolve(leg.Tool)
	switch {
	case !known || !tool.KnownTo(audience):
		return refuse("tool", "there is no tool %.80q", leg.Tool)
	case tool.Kind == ChainKind:
		return refuse("tool", "%s is a chain itself", leg.Tool)
	case len(tool.PIIRequired) > 0:
		return refuse("tool", "%s passes on personal data, which is asked for call by call", leg.Tool)
	}
	later := map[string]any{}
	for name, value := range leg.Inputs {
		if refers(value) {
			later[name] = value
		}
	}
	if tool.Capability != registry.CapabilityRead {
		t.Capability = registry.CapabilityWrite
	}
	if tool.Confirmation != "" {
		t.Confirmation = "structured-trip"
	}
	return fits(*tool, later, before)
}

// expose gives the chain's tool its inputs, as the legs' tools have them.
func (c *Chain) expose(t *registry.Tool, tools []registry.Tool) error {
	for i, e := range c.Exposed {
		field, known := tools[e.Leg-1].InputSchema.Get(e.Input)
		if !known {
			return refuse(fmt.Sprintf("exposed.%d.input", i+1), "%s has no input %.40q", tools[e.Leg-1].ToolID, e.Input)
		}
		own := c.Legs[e.Leg-1].Inputs[e.Input]
		if refers(own) {
			return refuse(fmt.Sprintf("exposed.%d.input", i+1), "it is an output of another leg")
		}
		if first, there := t.InputSchema.Get(e.Name); there {
			if first.Type != field.Type || first.Multiple != field.Multiple {
				return refuse(fmt.Sprintf("exposed.%d", i+1), "%s is %s already, and this input takes %s", e.Name, first.Type, field.Type)
			}
			continue
		}
		field.Name, field.Order = e.Name, 0
		if e.Label != "" {
			field.DisplayName = e.Label
		}
		if own != nil {
			field.Default, field.Required = own, false
		}
		t.InputSchema = append(t.InputSchema, field)
	}
	return nil
}

// results are the outputs of the legs that no other leg needs.
func (c *Chain) results(t *registry.Tool, tools []registry.Tool) {
	d := c.draft(nil)
	_ = d.check(MaxLegs) // checked before; it completes the dependencies
	for i, tool := range tools {
		if d.needed(i + 1) {
			continue
		}
		for _, o := range tool.OutputSchema {
			o.Name = resultName(i+1, o.Name, t.OutputSchema)
			t.OutputSchema = append(t.OutputSchema, o)
		}
	}
}

// needed reports whether a later leg needs this one.
func (d *Draft) needed(order int) bool {
	return slices.ContainsFunc(d.Legs, func(l DraftLeg) bool { return slices.Contains(l.DependsOn, order) })
}

// resultName is the name of a leg's output among those of the chain.
func resultName(order int, name string, taken registry.OutputSchema) string {
	if slices.ContainsFunc(taken, func(o registry.OutputField) bool { return o.Name == name }) {
		return fmt.Sprintf("%s_%d", name, order)
	}
	return name
}

// chainOf reads the chain out of its tool, as that was accepted.
func chainOf(t registry.Tool) (c Chain, err error) {
	raw, _ := t.Metadata[chainKey].(string)
	if err := decimal.Unmarshal([]byte(raw), &c); err != nil {
		return c, fmt.Errorf("the chain of %s can't be read: %w", t.ToolID, err)
	}
	c.ID, _ = t.Metadata[chainIDKey].(string)
	return c, nil
}

// Where a chain's tool has it.
const (
	chainKey   = "chain"
	chainIDKey = "chainId"
)

// ToolID is that of its tool.
func (c *Chain) ToolID() string { return "chain-" + c.ID }
