package scene

import (
	"encoding/json"
	"net/url"
	"slices"
)

// jsonValue is data that is kept as it came.
type jsonValue = json.RawMessage

// Interaction is what a shape does in a prototype.
type Interaction struct {
	Trigger   string  `json:"trigger"`
	Delay     float64 `json:"delay,omitempty"` // milliseconds
	Action    string  `json:"action"`
	Board     string  `json:"destinationBoardId,omitempty"`
	URL       string  `json:"url,omitempty"`
	Preserve  bool    `json:"preserveScrollPosition,omitempty"`
	Animation *Motion `json:"animation,omitempty"`
}

// Motion is how one board takes another's place.
type Motion struct {
	Type      string  `json:"type"`
	Duration  float64 `json:"duration"` // milliseconds
	Easing    string  `json:"easing,omitempty"`
	Way       string  `json:"way,omitempty"`
	Direction string  `json:"direction,omitempty"`
	Offset    bool    `json:"offsetEffect,omitempty"`
}

// The actions of interactions.
const (
	NavigateTo     = "navigate-to"
	OpenOverlay    = "open-overlay"
	ToggleOverlay  = "toggle-overlay"
	CloseOverlay   = "close-overlay"
	PreviousScreen = "previous-screen"
	OpenURL        = "open-url"
)

// Interact adds an interaction to a shape. delay says whether one was given.
func (s *Scene) Interact(id string, i Interaction, delay bool) (*Shape, error) {
	sh, err := s.find("shapeId", id)
	if err != nil {
		return nil, err
	}
	if err := oneOf("trigger", i.Trigger, "click", "mouse-enter", "mouse-leave", "after-delay"); err != nil {
		return nil, err
	}
	if i.Trigger == "after-delay" && !delay {
		return nil, wrong("delay", "is missing: the trigger after-delay needs milliseconds")
	}
	if err := check("delay", i.Delay, 0, 3_600_000); err != nil {
		return nil, err
	}
	if err := s.destination(i); err != nil {
		return nil, err
	}
	if i.Animation != nil {
		if err := i.Animation.check(); err != nil {
			return nil, err
		}
	}
	s.edit(sh)
	sh.Interactions = append(sh.Interactions[:len(sh.Interactions):len(sh.Interactions)], i)
	return sh, nil
}

func (s *Scene) destination(i Interaction) error {
	switch i.Action {
	case OpenURL:
		u, err := url.Parse(i.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return wrong("url", "is %q, expected an http:// or https:// address", i.URL)
		}
		return nil
	case PreviousScreen:
		return nil
	case CloseOverlay:
		if i.Board == "" {
			return nil
		}
	}
	board, err := s.find("destinationBoardId", i.Board)
	if err == nil && board.Type != Board {
		err = wrong("destinationBoardId", "%q is a %s, expected a board", board.Name, board.Type)
	}
	return err
}

func (m *Motion) check() error {
	return firstOf(
		oneOf("animation.type", m.Type, "dissolve", "slide", "push"), check("animation.duration", m.Duration, 0, 60_000),
		oneOf("animation.easing", m.Easing, "", "linear", "ease", "ease-in", "ease-out", "ease-in-out"),
		oneOf("animation.way", m.Way, "", "in", "out"), oneOf("animation.direction", m.Direction, "", "right", "left", "up", "down"))
}

// Flow is where a prototype begins.
type Flow struct {
	Name  string `json:"name"`
	Board string `json:"boardId"`
}

// CreateFlow lets a prototype begin at a board.
func (s *Scene) CreateFlow(name, board string) (Flow, error) {
	sh, err := s.find("boardId", board)
	if err != nil {
		return Flow{}, err
	}
	if sh.Type != Board {
		return Flow{}, wrong("boardId", "%q is a %s, expected a board", sh.Name, sh.Type)
	}
	if slices.ContainsFunc(s.Page.Flows, func(f Flow) bool { return f.Name == name }) {
		return Flow{}, wrong("name", "there is a flow %q already", name)
	}
	page := s.editPage()
	page.Flows = append(slices.Clone(page.Flows), Flow{name, board})
	return page.Flows[len(page.Flows)-1], nil
}

// RemoveFlow takes a flow away.
func (s *Scene) RemoveFlow(name string) error {
	page := s.editPage()
	kept := slices.DeleteFunc(slices.Clone(page.Flows), func(f Flow) bool { return f.Name == name })
	if len(kept) == len(page.Flows) {
		return wrong("flowName", "there is no flow %q", name)
	}
	page.Flows = kept
	return nil
}
