package runs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// Provider runs the tools of one service, in one of two ways. Its extras are the other interfaces of package registry that
// it implements.
type Provider struct {
	Submitter registry.Submitter // takes a run and works on it by itself
	Caller    registry.Caller    // answers at once
}

// Extra finds one of a provider's extras.
func Extra[T any](p Provider) (found T, ok bool) {
	if p.Submitter != nil {
		found, ok = p.Submitter.(T)
	} else if p.Caller != nil {
		found, ok = p.Caller.(T)
	}
	return found, ok
}

// Assets stores files by their content.
type Assets interface {
	// Keep stores what r gives as a file of its owner and returns its reference. It bounds what it reads.
	Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error)
	// Collect frees what no account has any more.
	Collect(ctx context.Context) error
	registry.MediaOpener
}

// Deliverer brings results to people; there is one for each platform.
type Deliverer interface {
	// Deliver brings the result of a run that is over, be it a success or not. It may be called again
	// for the same run after a crash; the platform makes that show once. nil means that it is there.
	// ErrUndeliverable means that trying again is no use now. Anything else is tried again: a
	// *registry.Error with RetryAfter after that time.
	Deliver(ctx context.Context, run Run) error
}

// Config is what a Service works with. Pool, Registry, Ledger and Assets are needed.
type Config struct {
	Pool       *pgxpool.Pool
	Registry   *catalog.Registry
	Ledger     *billing.Ledger
	Users      *users.Store // for preferences; nil: none
	Limits     Limiter      // nil: none
	Assets     Assets
	Providers  map[string]Provider  // by a tool's service
	Deliverers map[string]Deliverer // by platform; runs of other platforms are fetched, not delivered
	RateCard   billing.RateCard     // the zero value: the tools' own rates
	// Warn is told of runs that bring limits near their end and that no chat tells their owner of; nil: nobody is. It is called beside the
	// acceptance, see write.Limiter.Warn for telling each once.
	Warn func(ctx context.Context, run Run)
	// SiteID tells providers whose calls these are, where a request names no other site, such as the host of PUBLIC_URL.
	SiteID string
	// Approval is what of a model's requests waits for a person's approval; zero: ApproveWrites.
	Approval Approval
	// BillCanceled lets runs that their owners cancel pay for the time that they ran, where it is billed. It is told with the price.
	BillCanceled bool
	// KeepMetadata leaves what engines write into the metadata of results, such as the prompt, in them. A tool may say so for its own.
	KeepMetadata bool
	// Screen finds out whether a text that somebody gave is one that the house takes, and tells what it has that it does not; nil: all are taken.
	Screen func(text string) (has string, refused bool)
	// Check looks at the outputs of a run that is about to succeed, before anybody gets them. A *registry.Error holds them back: the run ends with it and
	// costs nothing. Any other error is trouble of the house's own, after which it is asked again; nil: nothing is looked at.
	Check func(ctx context.Context, run Run) error
	// CallbackURL gives the address where the provider of a service may report about a run, or "".
	CallbackURL func(service, runID string) string

	Logger  *slog.Logger          // nil: nothing is logged
	Events  *slog.Logger          // executions of runs that were planned or are traced, which somebody may look for; nil: Logger
	Metrics prometheus.Registerer // nil: not exported
	Now     func() time.Time      // nil: time.Now
	Random  io.Reader             // of ids and seeds; nil: the system's cryptographic source
	Quotes  []byte                // the key that seals quotes, of 32 bytes, the same in all processes; nil: one of this process alone

	Workers        int           // runs worked at a time by this process; 0: 1000
	Deliveries     int           // deliveries at a time; 0: 32
	PerAccount     int           // runs of one account under way at a time, the rest waits; 0: no limit
	DefaultTimeout time.Duration // of tools that name none; 0: 30 minutes
	PollMin        time.Duration // between two polls of a run, at first; 0: 250 ms
	PollMax        time.Duration // and at last; 0: 5 s
	RetryBase      time.Duration // before the second attempt, doubling, where the tool names none; 0: 1 s
	AnswerWait     time.Duration // for the answer to a question of a provider, if its call may take as long; 0: 10 minutes
	SoftStop       time.Duration // how long Stop lets steps end before it cancels them; 0: 5 s
	ReapEvery      time.Duration // between two rounds of the reaper; 0: 5 s
	CheckEvery     time.Duration // between two checks of the ledger, or more where one takes long; 0: 10 minutes
}

// WithDefaults is the Config with all that is not said, or what is wrong with it.
func (c Config) WithDefaults() (Config, error) {
	if c.Pool == nil || c.Registry == nil || c.Ledger == nil || c.Assets == nil {
		return c, errors.New("runs: Config needs Pool, Registry, Ledger and Assets")
	}
	for service, provider := range c.Providers {
		if (provider.Submitter == nil) == (provider.Caller == nil) {
			return c, fmt.Errorf("runs: the provider of %s needs a Submitter or a Caller, and not both", service)
		}
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	if c.Events == nil {
		c.Events = c.Logger
	}
	if c.Approval == ApproveNothing {
		c.Approval = ApproveWrites
	}
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Random = cmp.Or(c.Random, rand.Reader)
	if c.Quotes == nil {
		c.Quotes = make([]byte, 32)
		if _, err := io.ReadFull(rand.Reader, c.Quotes); err != nil {
			return c, fmt.Errorf("runs: %w", err)
		}
	}
	if c.CallbackURL == nil {
		c.CallbackURL = func(string, string) string { return "" }
	}
	orElse(&c.Workers, 1000)
	orElse(&c.Deliveries, 32)
	orElse(&c.DefaultTimeout, 30*time.Minute)
	orElse(&c.PollMin, 250*time.Millisecond)
	orElse(&c.PollMax, 5*time.Second)
	orElse(&c.RetryBase, time.Second)
	orElse(&c.AnswerWait, 10*time.Minute)
	orElse(&c.SoftStop, 5*time.Second)
	orElse(&c.ReapEvery, 5*time.Second)
	orElse(&c.CheckEvery, 10*time.Minute)
	return c, nil
}

func orElse[N int | time.Duration](n *N, fallback N) {
	if *n <= 0 {
		*n = fallback
	}
}
