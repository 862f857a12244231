package discord

import (
	"context"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

const (
	// partingAt is how old an interaction is when people are told where its result will be: a little before its token
	// is over.
	partingAt    = 13*time.Minute + 30*time.Second
	partingCheck = 10 * time.Second
)

// installed tells whether the application is in the place of an interaction itself, and not only with the person who
// used it: only there it can write once the interaction's token is over.
func (i interaction) installed() bool {
	_, inPlace := i.Owners["0"]
	return inPlace || len(i.Owners) == 0
}

// keepParting tells people in time, in places where the bot itself can't write, where the results of what still goes on
// will be.
func (a *Adapter) keepParting(ctx context.Context) {
	for {
		select {
		case <-a.clock.After(partingCheck):
		case <-ctx.Done():
			return
		}
		for _, s := range a.answers.all() {
			a.guarded(ctx, "the end of an interaction", func(ctx context.Context) error { return a.part(ctx, s) })
		}
	}
}

// all lists the interactions that can be answered.
func (a *answers) all() []*answering {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*answering, 0, len(a.open))
	for _, s := range a.open {
		list = append(list, s)
	}
	return list
}

// part adds to the progress that an interaction shows where its result will be.
func (a *Adapter) part(ctx context.Context, s *answering) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := a.clock.Now().Sub(s.created)
	if s.progress == nil || !s.foreign || s.over || age < partingAt || age > answerLife {
		return nil
	}
	b := *s.progress
	s.progress = nil
	b.Content = markdown(append(chat.Text{{Text: a.elsewhere(s.locale) + "\n\n"}}, s.progressText...), MaxText)
	return s.noted(a.client.do(ctx, a.webhookCall(s, http.MethodPatch, "@original", b, nil), nil))
}

// noteProgress remembers what an interaction's first message shows while it goes on; nothing once it is over. It needs
// s.mu.
func (s *answering) noteProgress(o *outgoing, b body) {
	s.progress, s.progressText = nil, nil
	if o.droppable || len(o.media) == 0 && len(o.rows) > 0 {
		s.progress, s.progressText = &b, o.text
	}
}
