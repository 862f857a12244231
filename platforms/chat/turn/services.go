package turn

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/exports"
	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/runs"
)

// Services are what all turns work with.
type Services struct {
	Deliverer *show.Deliverer
	Progress  *show.Progress
	Store     *store.Store
	Texts     *i18n.Catalogue
	Tools     Tools
	Near      catalog.Nearness // nil: tools are searched by words alone
	Runs      Runs
	Accounts  Accounts
	Wallets   Wallets
	Groups    Groups
	Operator  Operator
	// DefaultTool is the tool that words without a command are offered to, by id or command; nil or empty: the one used most.
	DefaultTool Saying
	Example     func(language string) (Example, error) // shown to who comes for the first time; nil: none
	Agent       Agent                                  // nil: no model is connected
	Site        Site                                   // nil: there is none
	Missions    Missions                               // nil: there are none
	Exports     Exports                                // nil: nobody gets an archive
	Moderation  Moderation                             // nil: nothing is reported
	Commands    Commands                               // the bot's own
	Log         *slog.Logger

	Recents input.Recents

	// AnswerWait is how long a question stays open.
	AnswerWait time.Duration
	// Acknowledged is told how long after an update's reception its sender first heard of it; nil: nobody is.
	Acknowledged func(platform string, after time.Duration)
	// Answered notes the status message that an update is answered with.
	Answered func(ctx context.Context, u *Update, ref chat.MessageRef) error
	// Go runs something beside the answering; it is waited for at the stop.
	Go func(func())
}

// Runs is what the Router needs of the runs service.
type Runs interface {
	BindIn(ctx context.Context, tools *catalog.Snapshot, q runs.Request) (runs.Bound, error)
	Quote(ctx context.Context, b runs.Bound) (billing.Quote, error)
	AcceptBound(ctx context.Context, b runs.Bound) (runs.Run, error)
	Confirm(ctx context.Context, runID, accountID string) (runs.Run, error)
	ConfirmBy(ctx context.Context, runID, accountID string, a runs.Affirmation) (runs.Run, error)
	ConfirmSummary(ctx context.Context, runID, accountID, hash string, granted []string) (runs.Run, error)
	Answer(ctx context.Context, runID, accountID, questionID string, reply registry.Reply) (runs.Run, error)
	Get(ctx context.Context, runID string) (runs.Run, error)
	List(ctx context.Context, f runs.Filter) ([]runs.Run, error)
	Cancel(ctx context.Context, runID, accountID string) (runs.Run, error)
	Delete(ctx context.Context, runID, accountID string) error
	Usage(ctx context.Context, accountID string) (runs.Usage, error)
	Warn(ctx context.Context, run runs.Run) (fresh []runs.LimitUse, err error)
	Payer(ctx context.Context, groupID, accountID string, price billing.NanoUSD) (string, error)
	GroupSpent(ctx context.Context, groupID, accountID string) (groups.Spent, error)
	MarkDelivered(ctx context.Context, runID string) error
	Subscribe(runID string) (<-chan runs.Run, func())
	PutMedia(ctx context.Context, accountID string, r io.Reader, name string) (string, registry.MediaInfo, error)
}

// Agent answers what people say in their own words, with a model that uses the tools. Where there is one, what is said to
// the bot without a command comes to it first.
type Agent interface {
	// Answer answers the message of a turn. When it gives false it has said nothing, and tools are offered instead.
	Answer(ctx context.Context, t *Turn) (answered bool, err error)
	// Command answers the command of a tool that is better asked of a model. When it gives false the tool runs as ever.
	Command(ctx context.Context, t *Turn, tool *registry.Tool) (answered bool, err error)
	// Stop ends the question whose button was pressed, Confirm and Decline answer the card that the buttons are under.
	Stop(ctx context.Context, t *Turn, k store.Keyboard) error
	Confirm(ctx context.Context, t *Turn, k store.Keyboard) error
	Decline(ctx context.Context, t *Turn, k store.Keyboard) error
	// Affirmed takes a message as the answer to the card that a prompt belongs to; false: it is none, but a request of its own.
	Affirmed(ctx context.Context, t *Turn, p store.Prompt) (answered bool, err error)
	// Rewrite improves a prompt for an input of a tool; nothing is run. refused says why there is none; neither: no model answers in this
	// chat.
	Rewrite(ctx context.Context, t *Turn, tool *registry.Tool, input registry.InputField, prompt string) (better string, refused chat.Text, err error)
	// Forget ends what is being answered for the person and forgets what was said in this chat.
	Forget(ctx context.Context, t *Turn) error
}

// Missions carries out several runs under one confirmation, and keeps them as chains; *missions.Service is one.
type Missions interface {
	Plan(ctx context.Context, accountID, key string, d missions.Draft) (missions.Mission, error)
	Confirm(ctx context.Context, missionID, accountID, hash string) (missions.Mission, error)
	Cancel(ctx context.Context, missionID, accountID string) (missions.Mission, error)
	Get(ctx context.Context, missionID, accountID string) (missions.Mission, error)
	MaxBatch() int
	ShareBounds() billing.ShareBounds
	SaveChain(ctx context.Context, c missions.Chain) (missions.Chain, error)
	DeleteChain(ctx context.Context, chainID, accountID string) error
	Chain(ctx context.Context, chainID, accountID string) (missions.Chain, error)
	Chains(ctx context.Context, accountID string) ([]missions.Chain, error)
}

// Exports makes archives of everything that people have; *exports.Service is one.
type Exports interface {
	Request(ctx context.Context, accountID string) (exports.Export, error)
}

// Moderation takes reports of results, what admins decide about them in their chat, and appeals; *moderation.Service is one.
type Moderation interface {
	Report(ctx context.Context, r moderation.Report) error
	Cases(ctx context.Context, here moderation.Place, most int) ([]moderation.Case, error)
	Dismiss(ctx context.Context, d moderation.Decision) error
	RemoveHere(ctx context.Context, d moderation.Decision) error
	TakenDown(ctx context.Context, runID string) (bool, error)
	Appeal(ctx context.Context, accountID, words string) error
}

// Example is a tried one: a tool, words for it, and what it made of them.
type Example struct {
	Tool    string
	Words   string
	Picture []byte // PNG
}

// Wallets tells what people have.
type Wallets interface {
	Balance(ctx context.Context, accountID string) (billing.Balance, error)
	Income(ctx context.Context, accountID string, since time.Time) ([]billing.Income, error)
}

// Tools is the catalogue of tools; the registry is one.
type Tools interface {
	Snapshot() *catalog.Snapshot
}

// Operator is what those who run this bot say about it, each a text or an address. Where one is empty
// the command says what holds anyway and whom to ask.
type Operator struct {
	Support Saying              // whom to ask about payments: /paysupport
	Terms   Saying              // /terms
	Privacy Saying              // /privacy
	Buying  func() words.Buying // how people get more credit at the moment; nil: nothing is said
}

// ToBuy is how people get more credit at the moment.
func (o Operator) ToBuy() words.Buying {
	if o.Buying == nil {
		return words.Buying{}
	}
	return o.Buying()
}

// Saying is a text that may change while the program runs; nil says nothing.
type Saying func() string

// Now is what it says at the moment.
func (s Saying) Now() string {
	if s == nil {
		return ""
	}
	return s()
}
