package router

import (
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// splitSlack is how far below the limit a client may split a text, which it does between words.
const splitSlack = 100

// goesOn takes care of a message that is part of a text which a client has split, and of one that may go on: it is held until
// the next has come, or none has for a moment. What else the person does lets a held text go first. The caller holds mu.
func (l *queues) goesOn(r turn.Update) bool {
	key := queueOf(r) + "\x00split"
	held, waiting := l.albums[key]
	full := l.mayGoOn(r)
	switch {
	case waiting && continues(held.Update, r):
		held.Continue(r, l.splitsAt)
		held.room++
		if full {
			held.timer.Reset(l.albumWait)
		} else {
			l.letGo(key)
		}
		return true
	case waiting:
		l.letGo(key)
	}
	if full {
		l.hold(key, r)
	}
	return full
}

// letGo puts a held text into its queue.
func (l *queues) letGo(key string) {
	held := l.albums[key]
	held.timer.Stop()
	delete(l.albums, key)
	l.enqueue(held.Update, held.room)
}

// mayGoOn reports whether a message is as long as the platform lets one be.
func (l *queues) mayGoOn(r turn.Update) bool {
	return l.splitsAt > 0 && r.Kind == chat.KindMessage && len(r.Attachments) == 0 && r.Length() >= l.splitsAt-splitSlack
}

// continues reports whether a message can be the rest of a text: it is text alone, in the same topic.
func continues(held, r turn.Update) bool {
	return r.Kind == chat.KindMessage && r.Command == "" && r.Text != "" && len(r.Attachments) == 0 && r.ReplyTo == nil && r.Chat.Place == held.Chat.Place
}
