package webchat

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
)

// events streams what happens in the conversation after Last-Event-ID, or after the number in "after". An event
// "message" is a message as it is now, or that it is gone; "current" follows when all was told. "moved" ends the
// stream: the account has become another's, with another conversation. "working" says that something is being done, on pages of the process that does it.
func (v *visit) events() (template.HTML, error) {
	after, _ := strconv.ParseInt(v.r.URL.Query().Get("after"), 10, 64)
	if known, err := strconv.ParseInt(v.r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		after = known
	}
	// Anyone who has the page open is about to speak: that is not to wait for their identity then.
	if _, err := v.identity(v.r.Context(), v.account, v.voice.Language()); err != nil {
		return "", err
	}
	stream, leave := v.hub.join(v.chat) // before looking, so that nothing falls between
	defer leave()
	door.BeginEvents(v.w)
	idle := time.NewTicker(door.KeepAlive) // says that it is still there, and looks for changes of which nobody told
	defer idle.Stop()
	for {
		var err error
		if after, err = v.tell(after); err != nil {
			v.cfg.Logger.DebugContext(v.r.Context(), "a conversation's stream ended", "error", err)
			return "", nil // the page comes back for the rest
		}
		select {
		case <-stream.working:
			if err := v.signal("working"); err != nil {
				return "", nil
			}
		case <-stream.changed:
			if place, err := v.log.place(v.r.Context(), v.chat); err == nil && place != v.chat {
				v.signal("moved") // a page that does not hear it finds out when it comes back
				return "", nil
			}
		case <-idle.C:
		case <-v.r.Context().Done():
			return "", nil
		}
	}
}

// signal sends an event that says nothing but its name.
func (v *visit) signal(name string) error {
	if _, err := fmt.Fprintf(v.w, "event: %s\ndata: {}\n\n", name); err != nil {
		return err
	}
	return http.NewResponseController(v.w).Flush()
}

// tell sends what happened after a number and gives the last number.
func (v *visit) tell(after int64) (int64, error) {
	for {
		messages, err := v.log.changes(v.r.Context(), v.chat, after)
		if err != nil {
			return after, err
		}
		for _, m := range messages {
			if err := v.event(m); err != nil {
				return after, err
			}
			after = m.Change
		}
		if len(messages) == atOnce {
			continue
		}
		if _, err := fmt.Fprintf(v.w, "event: current\ndata: %d\n\n", after); err != nil {
			return after, err
		}
		return after, http.NewResponseController(v.w).Flush()
	}
}

// event sends one message.
func (v *visit) event(m message) error {
	told := struct {
		ID   int64         `json:"id"`
		Mine bool          `json:"mine,omitempty"`
		HTML template.HTML `json:"html,omitempty"` // empty: gone
	}{ID: m.ID, Mine: m.Mine}
	if !m.Deleted {
		var err error
		if told.HTML, err = v.draw("message", v.line(m)); err != nil {
			return err
		}
	}
	data, err := json.Marshal(told)
	if err == nil {
		_, err = fmt.Fprintf(v.w, "id: %d\nevent: message\ndata: %s\n\n", m.Change, data)
	}
	return err
}
