package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// SummaryLife is how long a summary can be affirmed after it was shown. What it says, such as a price or a free
// seat, does not hold for ever.
const SummaryLife = 10 * time.Minute

// Approval says which runs wait for a person's approval although their tools ask for none.
type Approval int

// The approvals. A person's command, button or form is an approval by itself; what a model asks for is not.
const (
	ApproveNothing Approval = iota // a person asks
	ApproveWrites                  // a model asks: tools that change something wait, and so does what costs money without a Budget for it
	ApproveAll                     // a model asks under a strict policy: all tools wait
)

// Asking is which prices somebody wants to be asked about before a run. The zero value is none.
type Asking struct {
	Above     billing.NanoUSD // only prices above this; 0: none
	Available billing.NanoUSD // what there is: a price above this is refused, not asked about
}

// About reports whether a price has to be asked about.
func (a Asking) About(q billing.Quote) bool {
	return a.Above > 0 && q.High > a.Above && q.High <= a.Available
}

// ApprovalError says that a model asked for what its owner has to approve first: nothing was carried out. It is a *registry.Error
// as well, for those who only show it.
type ApprovalError struct {
	Run Run // waits for the approval; zero where there was nobody to ask
	// Reading says that the tool only reads, and waits because the policy is strict.
	Reading bool
	// Price is what a tool that only reads may cost, where that is why it waits.
	Price billing.NanoUSD
	// Elsewhere says that the tool only reads, and waits because the call goes where nobody has sent it.
	Elsewhere bool
}

// Error says what is missing, and whose it is.
func (e *ApprovalError) Error() string {
	if e.Reading {
		return "tools don't run by themselves here, not even those that only read: somebody has to approve this call"
	}
	if e.Elsewhere {
		return "this call goes to an address that nobody has named and no search has found, or takes something along: search first, or somebody has to approve it"
	}
	if e.Price > 0 {
		return fmt.Sprintf("this call may cost %s: somebody has to approve it, or give the key a spending limit", e.Price)
	}
	return "somebody has to approve this call"
}

// Unwrap gives the words for people.
func (e *ApprovalError) Unwrap() error {
	return registry.Errorf(registry.CodeUnauthorized, "%s; nothing was run and nothing was charged", e.Error())
}

// NeedsApproval is the *ApprovalError of a run that waits for its owner's word, and nil of any other: what to tell those who
// asked for it on the owner's behalf.
func (r Run) NeedsApproval() error {
	if r.Status != StatusAwaitingConfirmation {
		return nil
	}
	return waits(r.Tool, r.Capability(), r.Quote, r.Strict, r)
}

// waits says why a call waits for its owner's word.
func waits(t registry.Tool, does registry.Capability, quote billing.Quote, strict bool, r Run) *ApprovalError {
	e := &ApprovalError{Run: r, Elsewhere: does == registry.CapabilityWrite && t.Capability == registry.CapabilityRead && len(t.Reaches) > 0}
	// Nothing but a strict policy, or its price, keeps it from running by itself.
	if does == registry.CapabilityRead && t.Confirmation == "" && len(t.PIIRequired) == 0 {
		if e.Reading = strict; !strict {
			e.Price = quote.High
		}
	}
	return e
}

// Unasked is the *ApprovalError of a request that has to be approved, at this price, where there is nobody to ask.
func (b Bound) Unasked(quote billing.Quote) *ApprovalError {
	return waits(b.Tool, b.Capability(), quote, b.Request.Approval == ApproveAll, Run{})
}

// Asks reports whether the run will wait for its owner's word at this price: its tool demands a summary, it sends
// personal data, somebody else wrote down what it changes or sends out, it costs more than its owner spends unasked, or a model asks for
// what must be approved: what changes something or goes where nobody has sent it, and what costs money unless it draws on a Budget with a
// limit, which is its owner's word for that. What the call changes is told by its preview, if there is one. A tool that cancels another
// never asks: when something went wrong there may be nobody to answer.
func (b Bound) Asks(quote billing.Quote) bool {
	t, r := b.Tool, b.Request
	switch {
	case t.CancelFor != "":
		return false
	case t.Confirmation != "" || len(t.PIIRequired) > 0 || r.Approval == ApproveAll || b.askedFor():
		return true
	case r.Asking.About(quote):
		return true
	case r.Approval == ApproveNothing:
		return false
	}
	return b.Capability() != registry.CapabilityRead || quote.High > 0 && r.Budget.Limit == 0
}

// askedFor reports whether the preview of the call says that it has to be shown to anybody.
func (b Bound) askedFor() bool {
	p := b.Preview()
	return p != nil && p.Asks
}

// Summary is what the owner of a run affirms: exactly this call, for no more than this price.
type Summary struct {
	Kind        string          `json:"kind"` // what the tool's confirmation asks for, or "approval"
	ToolID      string          `json:"toolId"`
	ToolVersion string          `json:"toolVersion"`
	Inputs      map[string]any  `json:"inputs"`
	Personal    []string        `json:"personal"` // scopes of personal data that go to the service
	Promise     billing.NanoUSD `json:"promiseNanoUsd"`

	Preview *registry.Preview `json:"preview,omitempty"` // what the call would do, as it was shown
}

// Summary gives what the owner affirms, or has affirmed.
func (r Run) Summary() Summary {
	s := Summary{
		Kind: "approval", ToolID: r.Tool.ToolID, ToolVersion: r.Tool.Version, Inputs: maps.Clone(r.Inputs), Personal: slices.Clone(r.Tool.PIIRequired), Promise: r.Quote.High, Preview: r.Preview,
	}
	if r.Tool.Confirmation != "" {
		s.Kind = r.Tool.Confirmation
	}
	return s
}

// MayGrant says why a run can't go ahead with these scopes of its personal data, which nil for all never does.
func (r Run) MayGrant(granted []string) error {
	if granted == nil {
		return nil
	}
	for _, scope := range granted {
		if !slices.Contains(r.Tool.PIIRequired, scope) {
			return registry.Say(registry.CodeInvalidInput, said.GrantUnknown, "name", strconv.Quote(scope), "tool", r.Tool.DisplayName, "words", strings.Join(r.Tool.PIIRequired, ", "))
		}
	}
	for _, scope := range r.withheld(granted) {
		if f, ok := r.Tool.InputSchema.Get(scope); ok && f.Required {
			return registry.Say(registry.CodeInvalidInput, said.GrantMissing, "tool", r.Tool.DisplayName, "name", f.Label())
		}
	}
	return nil
}

// withheld are the scopes of personal data that the tool asks for and that are not granted.
func (r Run) withheld(granted []string) []string {
	return slices.DeleteFunc(slices.Clone(r.Tool.PIIRequired), func(scope string) bool { return slices.Contains(granted, scope) })
}

// Forwarded is the tool and the inputs as the service gets them: with the personal data that was granted and no other.
func (r Run) Forwarded() (registry.Tool, map[string]any) {
	if r.Granted == nil {
		return r.Tool, r.Inputs
	}
	tool, inputs := r.Tool, maps.Clone(r.Inputs)
	for _, scope := range r.withheld(r.Granted) {
		delete(inputs, scope)
	}
	tool.PIIRequired = slices.Clone(r.Granted)
	return tool, inputs
}

// Hash is the SHA-256 of the summary's canonical JSON, in hex: the order of keys does not change it, any value does.
func (s Summary) Hash() string {
	canonical, err := registry.CanonicalJSON(s)
	if err != nil {
		return "" // inputs come from JSON; a value that is none matches no hash
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// GateReason says why a run may not go ahead.
type GateReason string

// The reasons, in the order in which they are looked for.
const (
	NoPriorSummary      GateReason = "no-prior-summary"
	WrongSummaryKind    GateReason = "wrong-summary-kind"
	SummaryExpired      GateReason = "summary-expired"
	SummaryHashMismatch GateReason = "summary-hash-mismatch"
	NoUserConfirmation  GateReason = "no-user-confirmation"
)

var gateWords = map[GateReason]said.Text{
	NoPriorSummary:      said.SummaryNone.With(),
	WrongSummaryKind:    said.SummaryKind.With(),
	SummaryExpired:      said.SummaryOld.With("n", int(SummaryLife.Minutes())),
	SummaryHashMismatch: said.SummaryOther.With(),
	NoUserConfirmation:  said.ReasonConfirm.With(),
}

// GateError is the refusal to let a run go ahead. It is a *registry.Error as well, for those who only show it.
type GateError struct{ Reason GateReason }

// Error names the reason.
func (e *GateError) Error() string { return string(e.Reason) + ": " + gateWords[e.Reason].String() }

// Unwrap gives the words for people.
func (e *GateError) Unwrap() error {
	return registry.SayText(registry.CodeUnavailable, gateWords[e.Reason])
}

// Affirmation is the word by which somebody wants a run to go ahead on behalf of its owner, such as a model that
// says what it showed and what the owner answered. None of it is believed.
type Affirmation struct {
	Kind   string // of the summary that was shown; empty: none was
	Hash   string // of the summary that was shown
	Latest string // what the owner wrote last, after it was shown
}

// Gate lets a run that waits go ahead, or says why not.
func (a Affirmation) Gate(r Run, now time.Time) error {
	summary := r.Summary()
	switch {
	case a.Kind == "" || r.Status != StatusAwaitingConfirmation:
		return &GateError{NoPriorSummary}
	case a.Kind != summary.Kind:
		return &GateError{WrongSummaryKind}
	case Expired(r, now):
		return &GateError{SummaryExpired}
	case a.Hash == "" || a.Hash != summary.Hash():
		return &GateError{SummaryHashMismatch}
	case !Affirms(a.Latest):
		return &GateError{NoUserConfirmation}
	}
	return nil
}

// Expired reports whether a run's summary, which was shown when the run was taken on, is too old.
func Expired(r Run, now time.Time) bool { return now.Sub(r.CreatedAt) > SummaryLife }

// affirmations are whole messages that say yes and nothing else, without signs, in the languages of the house.
var affirmations = map[string]bool{
	"yes": true, "y": true, "yep": true, "yeah": true, "ok": true, "okay": true, "sure": true, "confirm": true, "confirmed": true, "i confirm": true,
	"go ahead": true, "do it": true, "go for it": true, "book it": true, "order it": true, "reserve it": true, "buy it": true, "looks good": true,
	"sounds good": true, "approve": true, "approved": true, "proceed": true, "correct": true,
	"ja": true, "einverstanden": true, "mach das": true, "buch es": true, "buchen": true, "bestätigt": true, "passt": true,
	"sí": true, "si": true, "vale": true, "de acuerdo": true, "adelante": true, "confirmo": true, "resérvalo": true,
	"да": true, "хорошо": true, "давай": true, "подтверждаю": true, "бронируй": true,
	"是": true, "是的": true, "好": true, "好的": true, "确认": true, "可以": true, "同意": true, "预订": true,
}

// courtesies may stand before or after an affirmation and change nothing.
var courtesies = []string{"please", "thanks", "thank you", "bitte", "danke", "gracias", "por favor", "пожалуйста", "спасибо", "请", "谢谢"}

// Affirms reports whether a message says yes and nothing else. "Yes, but change the date" does not: what comes
// with a condition is a new request.
func Affirms(message string) bool {
	if strings.Contains(message, "?") || strings.Contains(message, "？") {
		return false
	}
	said := plainWords(message)
	for _, courtesy := range courtesies {
		said = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(said, courtesy+" "), " "+courtesy))
	}
	if affirmations[said] {
		return true
	}
	first, rest, several := strings.Cut(said, " ")
	return several && affirmations[first] && affirmations[strings.TrimSpace(rest)] // "yes, book it"
}

// plainWords are a message's words in small letters, without signs between them.
func plainWords(message string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(message), func(r rune) bool { return strings.ContainsRune(" \t\r\n.,!;:…。，！；：👍", r) }), " ")
}
