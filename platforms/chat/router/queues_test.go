package router

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/users"
)

// update makes a message of a person in a chat.
func update(where, person, id string) turn.Update {
	return turn.Update{Platform: "test", IDs: []string{id}, Incoming: chat.Incoming{
		ID: id, Kind: chat.KindMessage, Chat: chat.Chat{Place: chat.Place{Chat: where}}, From: users.Identity{ExternalID: person},
		Message: chat.MessageRef{ID: id},
	}}
}

// journal notes in which order updates were handled.
type journal struct {
	mu      sync.Mutex
	entries []string
}

func (j *journal) note(r turn.Update) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, strings.Join(r.IDs, "+"))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.entries, " ")
}

func TestQueuesKeepEachPersonsOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var done journal
		l := newQueues(t.Context(), 4, 100, time.Second, 0, func(_ context.Context, r turn.Update) {
			time.Sleep(time.Duration(100-len(r.IDs[0])) * time.Millisecond)
			done.note(r)
		})
		if err := l.reserve(t.Context(), 6); err != nil {
			t.Fatal(err)
		}
		l.add(update("c", "anna", "1"), update("c", "anna", "22"), update("c", "anna", "333"))
		l.add(update("d", "ben", "4"), update("d", "ben", "55"), update("d", "ben", "666"))
		synctest.Wait()
		l.stop()
		if got := done.String(); strings.Contains(got, "22 1") || len(strings.Fields(got)) != 2 {
			t.Errorf("a stop lets those at work end and takes no more; handled %q", got)
		}
	})
}

func TestAStopLetsNobodyBeginWhoWaited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var done journal
		l := newQueues(t.Context(), 2, 100, time.Second, 0, func(_ context.Context, r turn.Update) {
			time.Sleep(time.Second)
			done.note(r)
		})
		if err := l.reserve(t.Context(), 9); err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			l.add(update(fmt.Sprint("chat", i), "anna", fmt.Sprint(i)))
		}
		synctest.Wait()
		began := time.Now()
		l.stop()
		if took := time.Since(began); took != time.Second || len(strings.Fields(done.String())) != 2 {
			t.Errorf("the stop took %v, handled %q; want those two that were at work", took, done.String())
		}
	})
}

func TestQueuesWorkSideBySideWithinTheirWidth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		l := newQueues(t.Context(), 3, 100, time.Second, 0, func(context.Context, turn.Update) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
		})
		if err := l.reserve(t.Context(), 9); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i := range 9 {
			l.add(update(fmt.Sprint("chat", i), "anna", fmt.Sprint(i)))
		}
		for len(l.room) > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(began); took > 4*time.Second || most.Load() != 3 {
			t.Errorf("nine chats took %v, %d at once; want about 3s and 3", took, most.Load())
		}
		l.stop()
	})
}

func TestAPressDoesNotWaitForASlowMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var done journal
		slow := make(chan struct{})
		l := newQueues(t.Context(), 4, 100, time.Second, 0, func(_ context.Context, r turn.Update) {
			if r.Kind == chat.KindMessage {
				<-slow
			}
			done.note(r)
		})
		if err := l.reserve(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		press := update("c", "anna", "press")
		press.Kind = chat.KindPress
		l.add(update("c", "anna", "message"), press)
		synctest.Wait()
		if got := done.String(); got != "press" {
			t.Errorf("handled %q, want the press", got)
		}
		close(slow)
		l.stop()
	})
}

func TestAlbumsAreCollected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got turn.Update
		var done journal
		l := newQueues(t.Context(), 4, 100, time.Second, 0, func(_ context.Context, r turn.Update) {
			got = r
			done.note(r)
		})
		part := func(id, command string) turn.Update {
			r := update("c", "anna", id)
			r.Album, r.Command, r.Attachments = "album", command, []chat.Attachment{{Handle: id}}
			return r
		}
		if err := l.reserve(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		l.add(part("1", ""))
		time.Sleep(600 * time.Millisecond)
		l.add(part("2", "collage"))
		time.Sleep(600 * time.Millisecond)
		l.add(part("3", ""), update("c", "ben", "other"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if done.String() != "other 1+2+3" {
			t.Errorf("handled %q", done.String())
		}
		if got.Command != "collage" || got.Message.ID != "2" || len(got.Attachments) != 3 || got.Attachments[0].Handle != "1" {
			t.Errorf("the album is %+v", got.Incoming)
		}
		if len(l.room) != 0 {
			t.Errorf("%d places stay taken", len(l.room))
		}
		l.stop()
	})
}

func TestQueuesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		l := newQueues(t.Context(), 1, 2, time.Second, 0, func(context.Context, turn.Update) { <-block })
		if err := l.reserve(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		l.add(update("c", "anna", "1"), update("c", "anna", "2"))
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.reserve(short, 1); err == nil {
			t.Error("there was room for a third update")
		}
		close(block)
		synctest.Wait()
		if err := l.reserve(t.Context(), 2); err != nil {
			t.Errorf("no room after all were handled: %v", err)
		}
		l.stop()
		if err := l.reserve(t.Context(), 1); err == nil {
			t.Error("stopped queues take updates")
		}
	})
}
