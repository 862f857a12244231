// Package runs has the data of one run's life: what asks for a run, what it costs, what it is, what waits for its owner's word, and how it
// is told. Platforms and providers meet here as data.
//
// The packages below work on it, each on those before: store reads runs and tells of their changes, price quotes them, write writes
// their beginnings and ends with the money, work claims them, has providers do them, ends and delivers them, accept takes requests on,
// and runner puts all of it together.
//
// A run is accepted in one transaction with the hold on the wallet, or not at all. Its row is its job: a process
// claims it and works on it until the result is brought, and when that process dies another one goes on from the row.
// Only a result that could not be brought at once waits in a table of its own. See docs/runs.md.
package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Status is a run's state. See docs/runs.md for the machine.
type Status string

// The statuses. The last four are final.
const (
	StatusAwaitingConfirmation Status = "awaiting_confirmation"
	StatusQueued               Status = "queued"
	StatusSubmitted            Status = "submitted"
	StatusRunning              Status = "running"
	StatusSucceeded            Status = "succeeded"
	StatusFailed               Status = "failed"
	StatusCanceled             Status = "canceled"
	StatusTimedOut             Status = "timed_out"
)

// Final reports whether the run is over.
func (s Status) Final() bool {
	return s == StatusSucceeded || s == StatusFailed || s == StatusCanceled || s == StatusTimedOut
}

// Source says where a bound value came from.
type Source string

// The sources, strongest first.
const (
	FromArgument   Source = "argument"   // typed, an option, an API input
	FromAttachment Source = "attachment" // sent with the command, or by its caption
	FromReply      Source = "reply"      // the message replied to
	FromAnswer     Source = "answer"     // asked for and answered
	FromPreset     Source = "preset"
	FromPreference Source = "preference" // the user's setting
	FromChat       Source = "chat"       // the chat's setting
	FromDefault    Source = "default"    // the tool's default
	FromRandom     Source = "random"     // a seed we drew
)

// Run is one run as everybody sees it.
type Run struct {
	ID            string // UUIDv7; also the provider's idempotency handle
	AccountID     string
	Tool          registry.Tool // as it was accepted
	Status        Status
	Fraction      *float64 // 0..1 when a real percentage is known
	Stage         string
	QueuePosition int           // 1 is next; 0 unknown
	Notice        Notice        // what the person is told beside the state
	Question      *OpenQuestion // what its owner is asked now, while it runs; nil: nothing
	Inputs        map[string]any
	Sources       map[string]Source
	Outputs       []Output
	Quote         billing.Quote
	Cost          billing.NanoUSD
	Receipt       *billing.Receipt // once over
	Error         *Failure         // once failed, canceled or timed out
	Origin        Origin
	Group         string            // the group with a wallet where it was asked for; empty: none
	Budget        string            // the name of the pot that it draws on, see Request.Budget; empty: none
	Payer         string            // the fund of that group that pays, its wallet or a party; empty: the account itself
	Parent        string            // the run this one repeats or varies
	Preview       *registry.Preview // what the call would do, as its provider said before; nil: it can't tell
	Context       registry.CallContext
	Attempt       int // the present one, or the last; the first is 1
	CreatedAt     time.Time
	ConfirmedAt   *time.Time // its owner let it go ahead; nil: nobody was asked
	Granted       []string   // the scopes of personal data that go to the service; nil: all that the tool names
	StartedAt     *time.Time
	ExpectedAt    *time.Time // when it will be over, by how long such runs took; nil: not known
	EndedAt       *time.Time
	DeliveredAt   *time.Time
	RefundedAt    *time.Time // an operator gave back what it cost
	// FilesDeletedAt is set when its files are gone because they were old, DeletedAt when its owner deleted the run.
	FilesDeletedAt *time.Time
	DeletedAt      *time.Time
	Warnings       []LimitUse // limits that this run brings near their end; from Accept only

	Strict bool // tools that only read wait here, too
}

// PaidFrom is the owner of the wallet that pays for the run.
func (r *Run) PaidFrom() string { return cmp.Or(r.Payer, r.AccountID) }

// Rest is how long the run will go on, by how long such runs took; zero where that is not known.
func (r *Run) Rest(now time.Time) time.Duration {
	if r.Status != StatusRunning || r.ExpectedAt == nil {
		return 0
	}
	return max(r.ExpectedAt.Sub(now), 0)
}

// Output is one stored result.
type Output struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // image, video, audio, file, text
	Text     string `json:"text,omitempty"`
	Media    string `json:"media,omitempty"` // "asset:<sha256>"
	FileName string `json:"fileName,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Width    int    `json:"width,omitempty"`
	Height   int    `json:"height,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Alt      string `json:"alt,omitempty"`     // what a picture shows, where its service says so
	Deleted  bool   `json:"deleted,omitempty"` // its content is gone
	// Subject is what a picture shows, where that goes on changing.
	Subject registry.Subject `json:"subject,omitzero"`
}

// Failure is why a run ended without a result; Message is safe to show.
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	// Said is Message as a sentence of the program's, see registry.Error. It is stored; programs are not told.
	Said *said.Text `json:"-"`
}

// StoredFailure is a Failure as the run's row has it.
type StoredFailure struct {
	*Failure
	Said *said.Text `json:"said,omitempty"`
}

// Text is the message, as a sentence where it is one.
func (f *Failure) Text() said.Text {
	if f.Said != nil && f.Said.Known() {
		return *f.Said
	}
	return said.Text{Words: f.Message}
}

// Origin says where a run was asked for and where its result goes. Target is the platform's own data
// (chat, topic, messages), opaque to runs.
type Origin struct {
	Platform string          `json:"platform"` // telegram, discord, web, api
	Target   json.RawMessage `json:"target,omitempty"`
}

// Request asks for a run. As JSON it is what somebody has given of it so far; who asks, and where, is added when it is bound.
type Request struct {
	AccountID string `json:"-"`
	ToolID    string `json:"tool"`
	// Values holds raw values by source and input name; text is parsed by the input's type. Preferences
	// are added by Bind itself, unless FromPreference is there.
	Values map[Source]map[string]any `json:"values"`
	Origin Origin                    `json:"-"`
	Group  string                    `json:"-"`                // the id of the group with a wallet where it is asked for, whose rules say who pays; empty: the account does
	Parent string                    `json:"parent,omitempty"` // the run that this one repeats or varies, or empty
	// Approval is for those who ask on somebody's behalf: which runs wait for that person's approval.
	Approval Approval `json:"approval,omitempty"`
	// Asking is which prices a person who asks wants to confirm first, though the tool asks for nothing.
	Asking Asking `json:"-"`
	// Said is what the person has written for whom a model asks: it may go to addresses that are in it. Others have to be found, or approved.
	Said []string `json:"-"`
	// Audience is who asks: operators and agents may run internal tools.
	Audience registry.Audience `json:"-"`
	// IdempotencyKey makes a repeated request return the run of the first; unique per account.
	// Empty: every request is a new run.
	IdempotencyKey string `json:"key"`
	// Quote is the sealed Offer whose price was shown: the run is accepted at that price or, with a *QuoteError, not at all.
	// Empty: nothing was shown before.
	Quote string `json:"-"`
	// Shown says that it is asked for where people see files of others, as in a chat: its inputs may be these. Else they are the account's own.
	Shown  bool   `json:"-"`
	Budget Budget `json:"-"` // the pot that the run draws on, such as that of an API key; zero: none
	// Context goes with the run to its provider and into its records. A request that names a PlannerProvider is a model's.
	Context registry.CallContext `json:"-"`
}

// With is the request with the values of one more source, which has none yet.
func (r Request) With(from Source, values map[string]any) Request {
	all := map[Source]map[string]any{from: values}
	maps.Copy(all, r.Values)
	r.Values = all
	return r
}

// Errors of runs.
var (
	// ErrNotFound says that there is no such run, or that it is somebody else's.
	ErrNotFound = errors.New("no such run")
	// ErrUnknownTool says that no tool has the id.
	ErrUnknownTool = errors.New("no such tool")
	// ErrUndeliverable is returned by a Deliverer when trying again is no use, e.g. to somebody who
	// blocked the bot. The result stays in the history, see Filter.Undelivered.
	ErrUndeliverable = errors.New("the result cannot be delivered")
)

// MissingInputError says that required inputs have no value.
type MissingInputError struct {
	Fields []registry.InputField
}

// Error names the inputs.
func (e *MissingInputError) Error() string {
	names := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		names[i] = f.Name
	}
	return "a value is needed for: " + strings.Join(names, ", ")
}

// Trace is the id under which all that a run does is found: the one of its request, or else its own id.
func (r Run) Trace() string { return cmp.Or(r.Context.TraceID, r.ID) }

// ProperName is a file's name; one that nobody named is called like its output, and each has an extension where its type
// has one.
func (o *Output) ProperName() string {
	name := cmp.Or(o.FileName, o.Name)
	if path.Ext(name) == "" {
		name += assets.Extension(o.MIMEType)
	}
	return name
}

// ErrNotFailed is returned by Retry for a run that is not over, or succeeded.
var ErrNotFailed = errors.New("only a run that failed, timed out or was canceled can be tried again")

// A provider may have several places, such as engines. Where a run is about to go is written before it is sent, so that only that
// place has to be asked what became of it. When it is gone for too long the run goes on elsewhere; what it left there is a row
// of run_copies until that place has been told to stop it.

// Notice is what the person is told beside the state.
type Notice string

// The notices.
const (
	NoticeNone    Notice = ""
	NoticeWaiting Notice = "waiting" // nothing was sent: no engine is up that could run it
	NoticeWaking  Notice = "waking"  // nothing was sent: an engine that could run it sleeps, and is being woken
	NoticeMoved   Notice = "moved"   // it waited on an engine that is gone, and goes to another one
	NoticeAnew    Notice = "anew"    // it had begun there, and begins anew
	NoticeLost    Notice = "lost"    // who had it does not know it any more, and it begins anew
	NoticeSilent  Notice = "silent"  // who has it, or its result, does not answer, and is waited for
)

// Waits reports whether the run is said to wait for an engine.
func (n Notice) Waits() bool { return n == NoticeWaiting || n == NoticeWaking }

// Unstopped is a run that ended here and may go on at its service, where an operator has to look.
type Unstopped struct {
	RunID, Service string
	ProviderID     string // the service's own id; empty: not known
	Why            string
	Since          time.Time
}
