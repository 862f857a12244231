package missionapi

import (
	"time"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// missionBody is a mission as programs see it.
type missionBody struct {
	MissionID     string            `json:"missionId"`
	Title         string            `json:"title"`
	Status        missions.Status   `json:"status"`
	Hash          string            `json:"hash"`
	Currency      string            `json:"currency"`
	EscalationURL string            `json:"escalationUrl,omitempty"`
	Totals        map[string]string `json:"totals"` // exact decimals by currency
	Promise       billing.NanoUSD   `json:"promiseNanoUsd"`
	Independent   bool              `json:"independent,omitempty"`
	Legs          []legBody         `json:"legs"`
	Warnings      []string          `json:"warnings,omitempty"`   // what was taken back, but perhaps not whole
	Unresolved    []unresolvedBody  `json:"unresolved,omitempty"` // what could not be taken back: somebody has to
	CreatedAt     time.Time         `json:"createdAt"`
	ExpiresAt     *time.Time        `json:"expiresAt,omitempty"` // until when it can be confirmed
	ConfirmedAt   *time.Time        `json:"confirmedAt,omitempty"`
	EndedAt       *time.Time        `json:"endedAt,omitempty"`
}

type legBody struct {
	Order     int                `json:"order"`
	Agent     string             `json:"agent,omitempty"`
	Tool      string             `json:"tool"`
	Version   string             `json:"toolVersion"`
	Summary   string             `json:"summary"`
	Inputs    map[string]any     `json:"inputs"`
	DependsOn []int              `json:"depends_on"`
	Amount    string             `json:"amount,omitempty"`
	Quote     quoteBody          `json:"quoteNanoUsd"`
	Personal  []string           `json:"personal,omitempty"`
	Preview   *registry.Preview  `json:"preview,omitempty"`
	Asks      bool               `json:"asks"`           // it waits for a word of its own when it is its turn
	Final     bool               `json:"irreversible"`   // it may not be possible to take it back
	TakenBy   string             `json:"undo,omitempty"` // the tool that takes it back
	Status    missions.LegStatus `json:"status"`
	RunID     string             `json:"runId,omitempty"`
	Error     *runs.Failure      `json:"error,omitempty"`
	InDoubt   bool               `json:"inDoubt,omitempty"` // it failed, and nobody knows whether it was carried out
	Reference string             `json:"reference,omitempty"`
	EndedAt   *time.Time         `json:"endedAt,omitempty"`
	Rollback  *rollbackBody      `json:"rollback,omitempty"`
}

type quoteBody struct {
	Low  billing.NanoUSD `json:"low"`
	High billing.NanoUSD `json:"high"`
}

type rollbackBody struct {
	Status missions.UndoStatus `json:"status,omitempty"` // empty: it is being tried
	Failed int                 `json:"failedAttempts,omitempty"`
	Error  string              `json:"error,omitempty"`
	Since  *time.Time          `json:"since,omitempty"`
	At     *time.Time          `json:"undoneAt,omitempty"`
}

// unresolvedBody is a leg that is left to people, with what they need for it.
type unresolvedBody struct {
	Order         int                 `json:"order"`
	Summary       string              `json:"summary"`
	Reference     string              `json:"reference"`
	Why           missions.UndoStatus `json:"why"`
	Error         string              `json:"error,omitempty"`
	EscalationURL string              `json:"escalationUrl,omitempty"`
}

func bodyOf(m missions.Mission) missionBody {
	b := missionBody{
		MissionID: m.ID, Title: m.Title, Status: m.Status, Hash: m.Hash, Currency: m.Currency, EscalationURL: m.EscalationURL, Totals: m.Totals, Promise: m.Promised, Independent: m.Independent,
		Legs: make([]legBody, len(m.Legs)), Warnings: m.Warnings(), CreatedAt: m.CreatedAt, ConfirmedAt: m.ConfirmedAt, EndedAt: m.EndedAt,
	}
	if m.Status == missions.AwaitingConfirmation {
		until := m.ExpiresAt()
		b.ExpiresAt = &until
	}
	for i, leg := range m.Legs {
		b.Legs[i] = legOf(leg)
	}
	for _, leg := range m.Unresolved() {
		p := leg.Progress
		b.Unresolved = append(b.Unresolved, unresolvedBody{Order: leg.Order, Summary: leg.Summary, Reference: p.Reference, Why: p.Undo, Error: p.UndoError, EscalationURL: m.EscalationURL})
	}
	return b
}

func legOf(leg missions.Leg) legBody {
	p := leg.Progress
	b := legBody{
		Order: leg.Order, Agent: leg.Agent, Tool: leg.Tool.ID, Version: leg.Tool.Version, Summary: leg.Summary, Inputs: leg.Inputs, DependsOn: leg.DependsOn, Amount: leg.Amount,
		Quote: quoteBody{leg.Quote.Low, leg.Quote.High}, Personal: leg.Personal, Preview: leg.Preview, Asks: leg.Asks, Final: leg.Effect.Irreversible,
		Status: p.Status, RunID: p.RunID, Error: p.Failure, InDoubt: p.InDoubt, Reference: p.Reference, EndedAt: p.EndedAt,
	}
	if leg.Effect.Undo != nil {
		b.TakenBy = leg.Effect.Undo.ID
	}
	if p.Undo != "" || p.UndoSince != nil {
		b.Rollback = &rollbackBody{Status: p.Undo, Failed: p.UndoTries, Error: p.UndoError, Since: p.UndoSince, At: p.UndoneAt}
	}
	return b
}
