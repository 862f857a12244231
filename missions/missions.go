// Package missions carries out several runs under one confirmation, and takes back what was done when one of them fails.
//
// A mission is a document: an ordered list of legs, each a call of a tool. It is shown with the price of each leg, and confirmed by
// the hash of all of it. Then its legs become ordinary runs, accepted one after the other, or at once where none needs another. When a
// leg fails, no further one begins; the legs that were done are taken back in reverse order, by the tools that their own tools name
// for that.
//
// A mission's row is its job, claimed by one process at a time (internal/claims). After a crash everything that was done is found
// again: runs by their idempotency key, undoing calls by a handle that never changes. See docs/missions.md.
package missions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// Status is a mission's state. See docs/missions.md for the machine.
type Status string

// The statuses. The last five are final.
const (
	AwaitingConfirmation Status = "awaiting_confirmation"
	Running              Status = "running"
	RollingBack          Status = "rolling_back"
	Succeeded            Status = "succeeded"
	RolledBack           Status = "rolled_back"         // a leg failed, and all that was done was taken back
	RollbackIncomplete   Status = "rollback_incomplete" // and something could not be taken back: a person has to
	Failed               Status = "failed"              // a leg failed, and there was nothing to take back
	Canceled             Status = "canceled"            // its owner ended it, and there was nothing to take back
)

// Final reports whether the mission is over.
func (s Status) Final() bool {
	return s != AwaitingConfirmation && s != Running && s != RollingBack
}

// LegStatus is how far a leg is.
type LegStatus string

// The statuses of legs. The last four are final.
const (
	LegPending  LegStatus = "pending"
	LegAwaiting LegStatus = "awaiting_confirmation" // its run waits for the owner's word to this leg alone
	LegRunning  LegStatus = "running"
	LegDone     LegStatus = "succeeded"
	LegFailed   LegStatus = "failed"
	LegCanceled LegStatus = "canceled"
	LegSkipped  LegStatus = "skipped" // it never began
)

// Final reports whether the leg is over.
func (s LegStatus) Final() bool { return s != LegPending && s != LegAwaiting && s != LegRunning }

// UndoStatus is the state of taking a leg back.
type UndoStatus string

// The outcomes of taking a leg back. Empty: it was not done, or there is nothing to take back.
const (
	Undone         UndoStatus = "undone"
	UndoTooLate    UndoStatus = "too_late"   // its window was over
	UndoRefused    UndoStatus = "refused"    // the service says that it is too late (422)
	UndoExhausted  UndoStatus = "exhausted"  // all attempts failed
	UndoImpossible UndoStatus = "impossible" // there is no tool for it, or nothing to tell it by
)

// Draft is a mission as it is asked for.
type Draft struct {
	Title         string `json:"title"`
	Currency      string `json:"currency,omitempty"`      // ISO 4217, of the legs' amounts; empty: USD
	EscalationURL string `json:"escalationUrl,omitempty"` // where people turn when taking back fails
	// Independent legs need nothing of each other, as those of one tool over many inputs: all begin at once, and one that fails costs
	// nothing but itself.
	Independent bool        `json:"independent,omitempty"`
	Legs        []DraftLeg  `json:"legs"`
	Origin      runs.Origin `json:"-"` // where it was asked for, see Mission
	// Budget names that of the key with which it is asked for; empty: none. Its calls are looked at as that key's.
	Budget string `json:"-"`
}

// DraftLeg is a call of a tool. A value of Inputs, or a part of one, may be {"$output": {"leg": 1, "name": "image"}}: that output of
// an earlier leg.
type DraftLeg struct {
	Agent   string         `json:"agent,omitempty"` // who of a model's agents does it, for people to read
	Tool    string         `json:"tool"`
	Inputs  map[string]any `json:"inputs"`
	Summary string         `json:"summary,omitempty"` // one line for people; empty: the tool's name
	Order   int            `json:"order"`             // 1 for the first, and so on
	// DependsOn are the orders of the legs that have to succeed before; nil: the one before, empty: none. Legs whose outputs are
	// inputs count as well.
	DependsOn []int  `json:"depends_on"`
	Amount    string `json:"amount,omitempty"` // what the service itself takes for it, an exact decimal in Currency
}

// Leg is a leg as it was planned, shown and confirmed. The first part never changes.
type Leg struct {
	Order     int               `json:"order"`
	Agent     string            `json:"agent,omitempty"`
	Tool      ToolRef           `json:"tool"`
	Summary   string            `json:"summary"`
	Inputs    map[string]any    `json:"inputs"` // all of them, with references to outputs as they were asked for
	DependsOn []int             `json:"dependsOn"`
	Amount    string            `json:"amount,omitempty"`
	Quote     billing.Quote     `json:"quote"` // High is the promise: a leg that would cost more does not begin
	Personal  []string          `json:"personal,omitempty"`
	Preview   *registry.Preview `json:"preview,omitempty"`
	Asks      bool              `json:"asks,omitempty"` // it can't be taken back and others follow: it waits for a word of its own
	Effect    Effect            `json:"effect"`

	Progress LegProgress `json:"-"`
}

// leaves reports whether a leg changes something or sends something out, as far as that is known before it runs.
func (l Leg) leaves() bool {
	return l.Effect.Leaves() || l.Effect.Reaches || l.Preview != nil && l.Preview.Capability == registry.CapabilityWrite
}

// LegProgress is how far a leg is.
type LegProgress struct {
	Status     LegStatus
	RunID      string
	Failure    *runs.Failure
	InDoubt    bool // it did not succeed, and nobody knows whether it was carried out
	EndedAt    *time.Time
	UndoInputs map[string]any
	Reference  string // how its service names what it did, such as a booking
	Undo       UndoStatus
	UndoSince  *time.Time // when it was first tried
	UndoTries  int        // that failed
	UndoError  string
	UndoneAt   *time.Time
}

// ToolRef is a version of a tool.
type ToolRef struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Name    string `json:"name"` // for people
}

// Document is what is shown and confirmed.
type Document struct {
	Title         string            `json:"title"`
	Currency      string            `json:"currency"`
	EscalationURL string            `json:"escalationUrl,omitempty"`
	Totals        map[string]string `json:"totals"` // exact decimals by currency: what legs cost at most, and their amounts
	Independent   bool              `json:"independent,omitempty"`
	Legs          []Leg             `json:"legs"`
}

// Mission is a mission as its owner sees it.
type Mission struct {
	ID        string // a UUID
	AccountID string
	Document
	Status   Status
	Hash     string          // of the document
	Promised billing.NanoUSD // all legs' together
	RunID    string          // of the chain that it is the work of; empty: none
	// Origin is where it was asked for. Where that is a chat, the runs of legs that no other needs are delivered there.
	Origin      runs.Origin
	Budget      string // of the key with which it was planned or run; empty: none
	CanceledBy  bool   // its owner wants no more of it
	Version     int64  // grows with each change
	CreatedAt   time.Time
	ConfirmedAt *time.Time
	EndedAt     *time.Time
	untold      bool // it is over, and its owner has not been told yet
}

// ExpiresAt is until when it can be confirmed.
func (m *Mission) ExpiresAt() time.Time { return m.CreatedAt.Add(runs.SummaryLife) }

// leg gives a leg by its order.
func (m *Mission) leg(order int) *Leg { return &m.Legs[order-1] }

// needed reports whether a later leg needs this one.
func (d *Document) needed(order int) bool {
	return slices.ContainsFunc(d.Legs, func(l Leg) bool { return slices.Contains(l.DependsOn, order) })
}

// Done is how many legs have succeeded.
func (m *Mission) Done() int {
	n := 0
	for _, leg := range m.Legs {
		if leg.Progress.Status == LegDone {
			n++
		}
	}
	return n
}

// originOf is where the run of a leg belongs: what it makes is shown in the chat unless another leg, or the chain, makes more of it.
func (m *Mission) originOf(leg *Leg) runs.Origin {
	if len(m.Origin.Target) == 0 || m.RunID != "" || m.needed(leg.Order) {
		return runs.Origin{Platform: Platform}
	}
	return m.Origin
}

// ErrNotFound says that there is no such mission, or that it is somebody else's.
var ErrNotFound = errors.New("no such mission")

// Unresolved are the legs that could not be taken back: somebody has to look after each.
func (m *Mission) Unresolved() []Leg {
	return slices.DeleteFunc(slices.Clone(m.Legs), func(l Leg) bool { return l.Progress.Undo == "" || l.Progress.Undo == Undone })
}

// Warnings are what the owner has to know of legs that were taken back: where that may have left something behind.
func (m *Mission) Warnings() []string {
	var list []string
	for _, leg := range m.Legs {
		if leg.Progress.Undo == Undone && !leg.Effect.Perfect {
			list = append(list, fmt.Sprintf("leg %d, %s, was taken back as well as its service can; look whether something is left (%s)", leg.Order, leg.Summary, leg.Progress.Reference))
		}
	}
	return list
}
