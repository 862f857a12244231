package agent

import "github.com/signalbox/signalbox/runs"

// Step is one call of a tool.
type Step struct {
	Round     int // 1 is the first; calls of one round run at the same time
	Tool      string
	Arguments string // as the model wrote them
	RunID     string // empty where there is no run; one that waits for approval is there to be confirmed
	Card      *Card  // what is to be approved, where the run waits for that
	Result    runs.Envelope
	Reads     bool // the tool only reads
}

// EventKind says what an Event tells.
type EventKind string

// The kinds.
const (
	EventText EventKind = "text" // what the model says, as far as it has come: each replaces the one before of the same round
	EventStep EventKind = "step" // a tool is called, and, once more, its result
	EventCard EventKind = "card" // something waits for its owner's approval
)

// Event is something that happens while a question is answered.
type Event struct {
	Kind  EventKind
	Round int
	Text  string
	Step  *Step // a copy is to be made of what is kept
}

// event tells the result of a step.
func (s *Step) event() Event {
	if s.Card != nil {
		return Event{Kind: EventCard, Round: s.Round, Step: s}
	}
	return Event{Kind: EventStep, Round: s.Round, Step: s}
}

// Over reports whether the step has come to its end.
func (s *Step) Over() bool { return s.Result.OK || s.Result.Error != nil }

func (t *talk) tell(e Event) {
	if t.question.Told == nil {
		return
	}
	t.telling.Lock()
	defer t.telling.Unlock()
	e.Round = t.answer.Rounds
	t.question.Told(e)
}
