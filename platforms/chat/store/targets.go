package store

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/internal/decimal"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/runs"
)

// Target is where a run was asked for, as it is kept with the run.
type Target struct {
	Chat     chat.Chat       `json:"chat"`
	Request  chat.MessageRef `json:"request"`
	Status   chat.MessageRef `json:"status"` // the message that shows the run's state
	Language string          `json:"language,omitempty"`
	Person   string          `json:"person"` // external id of who asked
	// Notes are what was to be said at the start and holds for the result, too: that message takes the place of the first.
	Notes []string `json:"notes,omitempty"`
	// Asked is the update with which somebody asked a model, where that is why there is the run. The model tells of the result:
	// only files are shown, and what the person has confirmed.
	Asked string `json:"asked,omitempty"`
	// Replaces is the message whose picture the result's takes the place of, where it was asked for from under one.
	Replaces chat.MessageRef `json:"replaces,omitzero"`
	// Quiet: a run of several, whose end tells what failed. Only results are shown.
	Quiet bool `json:"quiet,omitempty"`
}

// Encode writes a target as it is kept with the run.
func (t Target) Encode() json.RawMessage {
	raw, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings only
	}
	return raw
}

// TargetOf reads where a run's messages are.
func TargetOf(run runs.Run) (Target, error) {
	var t Target
	if err := decimal.Unmarshal(run.Origin.Target, &t); err != nil {
		return t, fmt.Errorf("run %s has an unreadable chat target: %w", run.ID, err)
	}
	return t, nil
}
