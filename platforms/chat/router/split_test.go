package router

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
)

// said is a message that Anna wrote in a chat.
func said(id, text string) turn.Update {
	u := update("c", "anna", id)
	u.Command, u.Text, _ = chat.ParseCommand(text, "")
	return u
}

func TestATextThatAClientHasSplitIsOne(t *testing.T) {
	t.Parallel()
	full, cut := strings.Repeat("a", 200), strings.Repeat("b ", 90)+"bb"
	photo := said("2", "look")
	photo.Attachments = []chat.Attachment{{Kind: chat.KindPhoto}}
	elsewhere := said("2", "rest")
	elsewhere.Chat.Topic = "7"
	ben := said("2", "rest")
	ben.From.ExternalID = "ben"
	for name, c := range map[string]struct {
		sent []turn.Update
		want []string
	}{
		"cut within a word":                {[]turn.Update{said("1", full), said("2", "rest")}, []string{full + "rest"}},
		"cut between words":                {[]turn.Update{said("1", cut), said("2", "rest")}, []string{cut + " rest"}},
		"of three parts":                   {[]turn.Update{said("1", full), said("2", full), said("3", "rest")}, []string{full + full + "rest"}},
		"a command at the limit":           {[]turn.Update{said("1", "/paint "+full[:193]), said("2", "rest")}, []string{"/paint " + full[:193] + "rest"}},
		"a long text alone":                {[]turn.Update{said("1", full)}, []string{full}},
		"short texts are two":              {[]turn.Update{said("1", "one"), said("2", "two")}, []string{"one", "two"}},
		"a command after it is another":    {[]turn.Update{said("1", full), said("2", "/cancel")}, []string{full, "/cancel "}},
		"a picture after it is another":    {[]turn.Update{said("1", full), photo}, []string{full, "look"}},
		"another topic is another message": {[]turn.Update{said("1", full), elsewhere}, []string{full, "rest"}},
		"somebody else's is another":       {[]turn.Update{said("1", full), ben}, []string{"rest", full}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []string
				var ids int
				l := newQueues(t.Context(), 1, 100, time.Second, 200, func(_ context.Context, u turn.Update) {
					text := u.Text
					if u.Command != "" {
						text = "/" + u.Command + " " + u.Text
					}
					got, ids = append(got, text), ids+len(u.IDs)
				})
				if err := l.reserve(t.Context(), len(c.sent)); err != nil {
					t.Fatal(err)
				}
				for _, u := range c.sent {
					l.add(u)
				}
				time.Sleep(1100 * time.Millisecond)
				synctest.Wait()
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("handled (-want +got):\n%s", diff)
				}
				if ids != len(c.sent) || len(l.room) != 0 {
					t.Errorf("%d updates of %d are handled, %d still take room", ids, len(c.sent), len(l.room))
				}
				l.stop()
			})
		})
	}
}
