package turn

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
)

// Update is an update with the platform it came from. An album is one received with several ids.
type Update struct {
	Platform string
	IDs      []string
	chat.Incoming
	// Answer is the status message that was posted before a crash broke the handling off.
	Answer   chat.MessageRef
	Received time.Time // of the reception; zero for what an earlier process received
	Edited   bool      // it is the edit of a message that led to nothing before
	// GoesOn is set by a handling that takes long: the rest of it. It runs beside the queue, and the update stays open until it
	// ends, so that a restart takes it up again.
	GoesOn func(ctx context.Context) error
	heard  bool // its sender has heard of it
	last   int  // length of the last part of a text that was split
}

// Length is how long the message was that people sent, its command included, in UTF-16 code units.
func (r *Update) Length() int {
	n := chat.Plain(r.Text).Len()
	if r.Command != "" {
		n += len(r.Command) + len("/ ")
	}
	return n
}

// Continue adds the next part of a text that was split because no message is longer than limit. One that was cut shorter was
// cut at a blank, which the platform has trimmed.
func (r *Update) Continue(part Update, limit int) {
	if r.last == 0 {
		r.last = r.Length()
	}
	if r.last < limit {
		r.Text += " "
	}
	r.Text += part.Text
	r.IDs, r.last = append(r.IDs, part.IDs...), part.Length()
}

// Merge adds what another part of the same album brought.
func (r *Update) Merge(part Update) {
	r.IDs = append(r.IDs, part.IDs...)
	r.Attachments = append(r.Attachments, part.Attachments...)
	if r.Command == "" && part.Command != "" {
		r.Command, r.Text, r.Message = part.Command, part.Text, part.Message
	} else if r.Text == "" {
		r.Text = part.Text
	}
	r.Addressed, r.Named = r.Addressed || part.Addressed, r.Named || part.Named
	if r.ReplyTo == nil {
		r.ReplyTo = part.ReplyTo
	}
}
