package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/said"
)

// Loader is a source of tools. Load returns all of them, or an error, in which case the Registry keeps
// the loader's last good set. Load must honour ctx and may be called again at any time.
type Loader interface {
	// Name identifies the loader in status and logs; it is stable and unique in a Registry.
	Name() string
	Load(ctx context.Context) ([]Tool, error)
}

// Caller runs tools that answer at once.
type Caller interface {
	Call(ctx context.Context, c Call) (Result, error)
}

// Submitter runs tools that work for a while. Submit must be safe to repeat for the same Call.RunID:
// where the provider has an idempotency handle the run's id is it, and where a crash may have hidden
// the answer, Submit first asks the provider whether it knows the run: at the place of Call.Sent, where it is kept. Where ctx ends
// while the request that begins the run is under way, its answer is waited for nevertheless, see Beginning.
type Submitter interface {
	Submit(ctx context.Context, c Call) (Ticket, error)
	// Poll reports the present state. A run that the provider does not know is an *Error with
	// CodeLost. A state that the provider reports and we don't know is StateRunning with Unknown set.
	Poll(ctx context.Context, t Ticket) (Progress, error)
}

// AnswerWait is how long the answer to a request that begins a run is waited for when nobody wants the run any more.
const AnswerWait = 20 * time.Second

// Beginning gives the context of a request that begins a run at a service: it outlives ctx by AnswerWait, since what has begun
// can only be stopped by the id that the answer has.
func Beginning(ctx context.Context) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(AnswerWait, cancel)
		context.AfterFunc(lasting, func() { timer.Stop() })
	})
	return lasting, func() { stop(); cancel() }
}

// ErrCantCancel is in the chain of an error of Cancel where trying again is no use: the service has no way to stop the run.
var ErrCantCancel = errors.New("it can't be canceled from here")

// Optional extras of a Caller or Submitter, found by type assertion.
type (
	// Canceler stops a run at the provider. A run that is over or unknown is no error.
	Canceler interface {
		Cancel(ctx context.Context, t Ticket) error
	}
	// Finder is a Submitter that can tell what became of a Submit whose answer nobody has seen, so that the run can be
	// canceled. An error with CodeLost says that the service does not know it.
	Finder interface {
		Find(ctx context.Context, c Call) (Ticket, error)
	}
	// Pricer tells at what rate a call would be billed, before it runs.
	Pricer interface {
		Price(ctx context.Context, c Call) (Price, error)
	}
	// Progresser watches a run over a socket or stream and calls report at each change, until the
	// run is over (nil), ctx ends, or the stream breaks (error: the caller falls back to Poll).
	Progresser interface {
		Watch(ctx context.Context, t Ticket, report func(Progress)) error
	}
	// Forgetter has a provider delete what it keeps of a run that is over there and brought, where something came of it: its
	// history, its files. What is not there any more is no error.
	Forgetter interface {
		Forget(ctx context.Context, t Ticket) error
	}
	// Placer takes only as many runs as keep it busy. Submit of one more gives ErrNoPlace, sends nothing, and the run waits in the
	// queue, where it costs nothing , and the next one can be chosen by everybody's turn.
	Placer interface {
		// Places tells how many more runs it has places for now, with those that Submit is at work on counted. It answers from memory.
		Places() int
		// HasPlace tells whether there is one for a run of this tool, asked for wherever.
		HasPlace(t Tool) bool
		// PlacesKept lists the groups, see Call.Group, for whose runs of this tool there is one that is kept for them.
		PlacesKept(t Tool) []string
	}
	// CallbackVerifier checks and reads a provider's webhook. An error means: not authentic. It only looks
	// at the request; what became of the run is then asked of the provider by Poll.
	CallbackVerifier interface {
		VerifyCallback(ctx context.Context, r CallbackRequest) (Callback, error)
	}
	// Previewer tells what a call would do, and changes nothing: what a tool does may depend on its inputs, such as "confirmed". Who
	// carries the call out is asked before it is accepted; what it shows is part of what the owner approves, and comes back as Call.Preview.
	Previewer interface {
		Preview(ctx context.Context, c Call) (Preview, error)
	}
	// Readier tells of a tool whether it could be run: the error is why not, for people. It asks for what only it can
	// know, such as whether there is a workflow behind the definition.
	Readier interface {
		Ready(ctx context.Context, t Tool) error
	}
)

// ErrNoPlace is a Placer's refusal of a run for which it has no place now.
var ErrNoPlace = errors.New("the provider has no place for the run now")

// Call is one run of a tool as it was accepted.
type Call struct {
	RunID  string // UUID
	UserID string
	// Handle is the UUID to hand to a provider that takes an idempotency handle: the run's id, or a
	// fresh one when the run is tried again after a definite failure.
	Handle string
	// Repeated says that an earlier Submit with this Handle may have reached the provider: it has to be
	// asked before anything is sent again.
	Repeated bool
	// Sending takes note, for good, of the ticket of a request that is about to leave, so that after a crash only that place is asked.
	// A provider with several places calls it before each request that begins a run, and does not send where it fails; an empty
	// Ticket says that the request surely never left. nil: nobody keeps it.
	Sending func(ctx context.Context, t Ticket) error
	// Sent is the ticket that was noted last with this Handle; nil: nothing was sent.
	Sent *Ticket
	Tool Tool // as it was accepted; a reload since then does not matter
	// Inputs holds a value for each bound input: string, bool, json.Number, []any, map[string]any;
	// media are Media references (strings).
	Inputs      map[string]any
	CallbackURL string // where the provider may report, or empty
	Media       MediaOpener
	Context     CallContext
	Promised    int64  // nano-dollars that the run costs at most
	Budget      string // the pot that the run draws on, such as that of an API key or of a question to a model, by its name; empty: none
	Group       string // the id of the group with a wallet where it was asked for; empty: none
	// Preview is what the owner was shown and approved; nil: the tool has no Previewer, or nobody had to be asked.
	Preview *Preview
	// Ask asks the run's owner something in the midst of Call, one question after the other; nil: nobody can be asked.
	Ask Asker
	// Report tells how far Call is; its State and Result do not matter. It may be called at any time and from several goroutines, and does
	// not wait for anything; what comes while a question is open or after Call is not shown. nil: nobody looks.
	Report func(Progress)
}

// Preview is what a call would do.
type Preview struct {
	// Capability is that of this very call: read where it changes nothing, as when it only shows what it would delete; empty: the tool's.
	Capability Capability `json:"capability"`
	Message    string     `json:"message,omitempty"` // one line for people, e.g. "Delete 2 posts?"
	// Said is the message as a sentence of the program, which readers are told in their language; zero: it is none.
	Said said.Text `json:"said,omitzero"`
	// Touches is what the call would change, each with the version that it has now. A provider refuses a call whose Preview names
	// versions that are not the present ones any more.
	Touches []Touch `json:"touches,omitempty"`
	// Changes are what would be different afterwards, field by field; a provider that tells none says nothing of single fields. Untold
	// counts those that are left out since there are too many.
	Changes []Change `json:"changes,omitempty"`
	Untold  int      `json:"untold,omitempty"`
	// Link is where people can look at what would change, as it would be while the call waits for them; empty: nowhere.
	Link string `json:"link,omitempty"`
	// Parts are the calls that the call is made of, in their order, each as it would be made now; none: it is one of itself.
	Parts []Part `json:"parts,omitempty"`
	// Asks: whoever makes the call, also a person, has to see it first, since somebody else wrote down what it changes or sends out.
	Asks bool `json:"asks,omitempty"`
}

// Change is what would be different in one field of a thing.
type Change struct {
	Field string `json:"field"` // where it stands, such as "title" or "content.body"
	// Pieces tell the words that go and those that come, with some of what stays beside them; "…" stands for what is left out.
	Pieces []edit.Piece `json:"pieces"`
}

// Part is one of several calls that are approved together.
type Part struct {
	ToolID  string      `json:"toolId"`
	Name    string      `json:"name"`    // of the tool, for people
	Version string      `json:"version"` // changes whenever the part would do something else
	Inputs  []PartInput `json:"inputs,omitempty"`
	CostUSD string      `json:"costUsd"` // the most that it may cost, an exact decimal
}

// PartInput is a value that a part was given, for people to read. The rest are the defaults of its tool.
type PartInput struct {
	Label string    `json:"label"`
	Type  InputType `json:"type"`
	Value string    `json:"value,omitempty"` // none of a file that we store
	From  int       `json:"from,omitempty"`  // the place of the part whose output it is, from 1 on; 0: of none
}

// Touch is one thing that a call would change.
type Touch struct {
	Kind    string `json:"kind"` // e.g. "post"
	ID      string `json:"id"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"` // changes whenever the thing does
}

// Label names the thing for people: its title, or else its kind and id.
func (t Touch) Label() string { return cmp.Or(t.Title, t.Kind+" "+t.ID) }

// MediaOpener reads the files behind media references.
type MediaOpener interface {
	// OpenMedia returns the content and what is known about it. The caller closes it.
	OpenMedia(ctx context.Context, ref Media) (io.ReadCloser, MediaInfo, error)
}

// Media is a reference to a file: "asset:<sha256 hex>" for one we store, or an https URL.
type Media = string

// MediaInfo describes a file.
type MediaInfo struct {
	Name     string `json:"name,omitempty"` // file name with extension
	MIMEType string `json:"mimeType,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"`
	Width    int    `json:"width,omitempty"` // pixels
	Height   int    `json:"height,omitempty"`
	Alt      string `json:"alt,omitempty"` // what a picture shows, for those who don't see it
}

// Ticket finds a submitted run again, also after a restart. It is stored as JSON.
type Ticket struct {
	RunID      string            `json:"runId"`
	Service    string            `json:"service"`
	ProviderID string            `json:"providerId"`         // the provider's own id of the run
	Endpoint   string            `json:"endpoint,omitempty"` // which engine or account took it
	Extra      map[string]string `json:"extra,omitempty"`
}

// RunState is the provider's view of a run.
type RunState string

// The states a provider can report.
const (
	RunQueued    RunState = "queued"
	RunRunning   RunState = "running"
	RunSucceeded RunState = "succeeded"
	RunFailed    RunState = "failed"
	RunCanceled  RunState = "canceled"
)

// Terminal reports whether nothing more will come.
func (s RunState) Terminal() bool {
	return s == RunSucceeded || s == RunFailed || s == RunCanceled
}

// Progress is a run's present state at the provider.
type Progress struct {
	State         RunState
	Unknown       string        // the provider's own word when it is not one we know
	Fraction      float64       // 0..1; only when HasFraction
	HasFraction   bool          // false: no real percentage is known, show none
	QueuePosition int           // 1 is next; 0 unknown or not queued
	Stage         string        // short human text, e.g. the node that runs
	Rest          time.Duration // how long it will go on, by how long such runs took; 0: not known
	Preview       []byte        // JPEG or PNG, or nil
	Result        *Result       // set when State is RunSucceeded
	Err           *Error        // set when State is RunFailed
}

// Result is what a run that succeeded produced and consumed.
type Result struct {
	Outputs []Output
	Usage   Usage
}

// Output is one result. Text outputs carry Text, all others Open.
type Output struct {
	Name string // key of the tool's OutputSchema
	Type string // image, video, audio, file, text
	Text string
	Info MediaInfo
	// Subject is what a picture shows, where that goes on changing; the zero value is nothing of the kind.
	Subject Subject
	// Open fetches the content; it may be called again after an error. The caller closes it and
	// bounds what it reads.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

// Subject is a thing of which pictures are made again when it changes, such as a drawing: a chat shows the picture of its latest version in
// place of the one before. IDs are unique within a service.
type Subject struct {
	ID      string `json:"id"`
	Version int64  `json:"version"` // grows with each change
}

// Usage is what the provider says a run consumed. Members that a provider can't tell are zero.
type Usage struct {
	RunTime time.Duration // time of work, without waiting in a queue
	Tokens  int64
	Machine string // GPU name for rateSource machine; see MachineAt
	CostUSD string // exact decimal in US dollars as the provider charged it, for rateSource api
	FeesUSD string // exact decimal of what others charged for parts of the run, for models with fees; "" where that is not known
}

// Price is a rate known before the run. Empty members mean: as the definition says.
type Price struct {
	Machine string
	CostUSD string // what the call costs, or costs at most
	LowUSD  string // what it costs at least, where CostUSD is a bound; empty: CostUSD is exact
	FeesUSD string // see Usage.FeesUSD
	// Parts says that the call is made of runs of their own, which hold and pay for themselves: CostUSD is what they cost at most.
	Parts bool
}

// CallbackRequest is a webhook as it came: all that signatures cover.
type CallbackRequest struct {
	Method   string
	Path     string // escaped, as it was sent
	RawQuery string
	Header   http.Header
	Body     []byte // whole
	At       time.Time
}

// Callback is the content of an authentic webhook.
type Callback struct {
	ProviderID string
	EventID    string
	State      RunState
}

// SpecStore keeps by content what stands behind tools, such as the template of a prompt or how a request is made: a run
// that was accepted with one finds it again after its file has changed or gone, also on another machine.
type SpecStore interface {
	// PutSpecs keeps the contents, all or none, and gives the reference of each. Loaders hand over many at once, so that a
	// thousand tools cost one write.
	PutSpecs(ctx context.Context, contents [][]byte) ([]Media, error)
	MediaOpener
}

// SpecRef is the reference of a content: that of a stored file, which is where earlier versions kept specs.
func SpecRef(content []byte) Media {
	sum := sha256.Sum256(content)
	return "asset:" + hex.EncodeToString(sum[:])
}

// ownRate stands in a machine's name before what a second of it costs.
const ownRate = " at $"

// MachineAt names a machine whose second costs what its owner says, in US dollars as an exact decimal, whatever its kind costs elsewhere:
// "NVIDIA L4 at $0.0004". The rate is in the name because a run keeps that: it pays what the machine cost when it ran.
func MachineAt(name, rate string) string { return strings.TrimSpace(name + ownRate + rate) }

// OwnRate is the rate in a machine's name, see MachineAt.
func OwnRate(machine string) (rate string, ok bool) {
	at := strings.LastIndex(" "+machine, ownRate)
	if at < 0 {
		return "", false
	}
	rate = (" " + machine)[at+len(ownRate):]
	exact, err := decimal.Parse(json.Number(rate))
	return rate, err == nil && exact.Sign() >= 0
}
