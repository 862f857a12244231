package runner

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/runs/runstest"
)

func TestOperators(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	user := h.user(t, billing.Dollar)
	h.provider.OnSubmit = func(call registry.Call, before int) *runstest.Outcome {
		if call.Inputs["song"] == "wrong" && before == 0 {
			return &runstest.Outcome{Err: registry.Errorf(registry.CodeRefused, "No SWEARING,\x00 please")}
		}
		return &runstest.Outcome{Usage: registry.Usage{RunTime: 2 * time.Second}}
	}
	r := sing(user)
	r.Values[runs.FromArgument] = map[string]any{"song": "wrong", "voices": 3}
	r.Budget = runs.Budget{Name: "key:1"}
	waits := h.accept(t, r)
	if list, err := h.List(t.Context(), runs.Filter{AccountID: user, Open: true}); err != nil || len(list) != 1 || list[0].ID != waits.ID {
		t.Errorf("not over are %+v, expected the run that waits (%v)", list, err)
	}
	h.start(t)
	bad := h.ends(t, waits.ID)
	good := h.ends(t, h.accept(t, sing(user)).ID)
	ctx := t.Context()

	t.Run("runs are found by text and time", func(t *testing.T) {
		for _, c := range []struct {
			name string
			f    runs.Filter
			want int
		}{
			{"the error's message, which came with a NUL", runs.Filter{Text: "swearing"}, 1}, {"its code", runs.Filter{Text: "REFUSED"}, 1}, {"the tool", runs.Filter{Text: "Sing"}, 2},
			{"the end of the id", runs.Filter{Text: good.ID[24:]}, 1}, {"the account", runs.Filter{Text: strings.ToUpper(user[:13])}, 2}, {"nothing", runs.Filter{Text: "100%_"}, 0},
			{"no text at all", runs.Filter{Text: "\x00\xff"}, 2}, {"a long text", runs.Filter{Text: strings.Repeat("é", 500)}, 0},
			{"since then", runs.Filter{Since: good.CreatedAt.Add(-time.Hour)}, 2}, {"since later", runs.Filter{Since: good.CreatedAt.Add(time.Hour)}, 0},
			{"until now", runs.Filter{Until: time.Now().Add(time.Second)}, 2}, {"until earlier", runs.Filter{Until: bad.CreatedAt.Add(-time.Second)}, 0},
			{"what is not over", runs.Filter{Open: true}, 0},
			{"both, and a state", runs.Filter{Text: "sing", Status: runs.StatusFailed, Since: bad.CreatedAt.Add(-time.Minute)}, 1},
		} {
			if got, err := h.List(ctx, c.f); err != nil || len(got) != c.want {
				t.Errorf("%s: %d runs, expected %d (%v)", c.name, len(got), c.want, err)
			}
		}
	})
	t.Run("a text finds what contains it, by whichever index", func(t *testing.T) {
		if _, err := h.pool.Exec(ctx, `INSERT INTO users (id, display_name) VALUES ($1, 'Somebody')`, user); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name string
			f    runs.Filter
			want []string
		}{
			{"the beginning of the id", runs.Filter{Text: good.ID[:35]}, []string{good.ID}},
			{"the whole id", runs.Filter{Text: good.ID}, []string{good.ID}},
			{"the end of the id as pages show it", runs.Filter{Text: bad.ID[28:]}, []string{bad.ID}},
			{"the end of the account's id", runs.Filter{Text: user[28:]}, []string{good.ID, bad.ID}},
			{"that and a state", runs.Filter{Text: user[28:], Status: runs.StatusFailed}, []string{bad.ID}},
			{"as many as a page has", runs.Filter{Text: "swearing", Status: runs.StatusFailed, Limit: 1}, []string{bad.ID}},
			{"two letters of an error", runs.Filter{Text: "sw"}, []string{bad.ID}},
			{"a piece across words", runs.Filter{Text: "G, p"}, []string{bad.ID}},
			{"pieces of the error that are not one", runs.Filter{Text: "please swearing"}, nil},
			{"an error of somebody else", runs.Filter{Text: "swearing", AccountID: uuid.NewString()}, nil},
			{"older than that", runs.Filter{Text: "sing", Before: good.ID}, []string{bad.ID}},
			{"one of two", runs.Filter{Text: "sing", Limit: 1}, []string{good.ID}},
			{"what is not over", runs.Filter{Status: runs.StatusQueued}, nil},
			{"a platform", runs.Filter{Platform: "post"}, []string{good.ID, bad.ID}},
			{"a platform, one of two", runs.Filter{Platform: "post", Limit: 1}, []string{good.ID}},
			{"a platform and a state", runs.Filter{Platform: "post", Status: runs.StatusSucceeded}, []string{good.ID}},
			{"a platform and a text", runs.Filter{Platform: "post", Text: "swearing"}, []string{bad.ID}},
			{"a platform without runs", runs.Filter{Platform: "nowhere"}, nil},
			{"what could not be delivered", runs.Filter{Undelivered: true}, nil},
			{"a tool and a state", runs.Filter{ToolID: bad.Tool.ToolID, Status: runs.StatusFailed, AccountID: user}, []string{bad.ID}},
		} {
			got, err := h.List(ctx, c.f)
			var ids []string
			for _, run := range got {
				ids = append(ids, run.ID)
			}
			if err != nil || !slices.Equal(ids, c.want) {
				t.Errorf("%s: %q, expected %q (%v)", c.name, ids, c.want, err)
			}
		}
	})
	t.Run("a run that failed is tried again once, with its inputs", func(t *testing.T) {
		again, err := h.Retry(ctx, bad.ID)
		if err != nil || again.Parent != bad.ID || again.ID == bad.ID || again.Inputs["song"] != "wrong" || again.Inputs["seed"] != bad.Inputs["seed"] ||
			again.Sources["voices"] != runs.FromArgument || again.Origin.Platform != "post" || again.Budget != "key:1" {
			t.Fatalf("%+v (%v)", again, err)
		}
		if twice, err := h.Retry(ctx, bad.ID); err != nil || twice.ID != again.ID {
			t.Errorf("a repeat gives %s (%v)", twice.ID, err)
		}
		if end := h.ends(t, again.ID); end.Status != runs.StatusSucceeded {
			t.Errorf("it ended as %s", end.Status)
		}
		if _, err := h.Retry(ctx, good.ID); !errors.Is(err, runs.ErrNotFailed) {
			t.Errorf("a run that succeeded: %v", err)
		}
		if _, err := h.Retry(ctx, uuid.NewString()); !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("no run: %v", err)
		}
	})
	t.Run("a run is refunded once, however many ask", func(t *testing.T) {
		before, err := h.ledger.Balance(ctx, user)
		if err != nil {
			t.Fatal(err)
		}
		var asking sync.WaitGroup
		for range 5 {
			asking.Go(func() {
				if run, err := h.Refund(ctx, good.ID, "it was blank"); err != nil || run.RefundedAt == nil {
					t.Errorf("%+v (%v)", run.RefundedAt, err)
				}
			})
		}
		asking.Wait()
		h.wantBalance(t, user, before.Available+good.Cost, before.Held)
		run, err := h.Get(ctx, good.ID)
		if err != nil || run.RefundedAt == nil || run.Receipt.Refunded != good.Cost || run.Receipt.RefundNote != "it was blank" || run.Cost != good.Cost {
			t.Errorf("%+v %+v (%v)", run, run.Receipt, err)
		}
		h.wantBooksBalance(t)
	})
	t.Run("what cost nothing, and what is not there, is not refunded", func(t *testing.T) {
		if _, err := h.Refund(ctx, bad.ID, ""); !errors.Is(err, billing.ErrNothingCaptured) {
			t.Errorf("a run that failed: %v", err)
		}
		for _, id := range []string{uuid.NewString(), "nonsense"} {
			if _, err := h.Refund(ctx, id, ""); !errors.Is(err, runs.ErrNotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
