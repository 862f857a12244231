package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/peers"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/telegram/botapi"
	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// TestPaceOfSeveralProcesses has two processes send for one bot as fast as they may, to a Telegram that counts what arrives within a second:
// both together keep so far below its limit that messages which were on their way for longer than others do not break it, and each for
// itself would break it.
func TestPaceOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	server := telegramtest.New(t, telegramtest.Options{FloodLimits: true})
	pool := postgrestest.New(t)
	limits := botapi.DefaultLimits()
	limits.Global = 20
	joins := func() (a *Adapter, leaves func()) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		process := peers.New(pool, log)
		client, err := botapi.NewClient(botapi.Config{Token: server.Token, BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		a, err = NewAdapter(t.Context(), AdapterConfig{Client: client, Pool: pool, Logger: log, Divide: process.Divide, Limits: limits})
		if err != nil {
			t.Fatal(err)
		}
		living, dies := context.WithCancel(t.Context())
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		ready := make(chan struct{})
		running.Go(func() {
			if err := process.Run(living, func() { close(ready) }); err != nil {
				t.Error(err)
			}
		})
		<-ready
		running.Go(func() {
			if err := a.Run(ctx, nobody{}); err != nil {
				t.Error(err)
			}
		})
		leaves = sync.OnceFunc(func() { stop(); dies(); running.Wait() })
		t.Cleanup(leaves)
		return a, leaves
	}
	// shared waits until the shares are held by so many, evenly.
	shared := func(processes int) {
		t.Helper()
		var held, least int
		var err error
		clocktest.Until(t, fmt.Sprintf("%d processes have as much each", processes), func() bool {
			err = pool.QueryRow(t.Context(), `
				SELECT count(*), coalesce(min(n), 0) FROM (SELECT count(*) AS n FROM house_shares WHERE kind LIKE 'pace of %' GROUP BY process) s`).Scan(&held, &least)
			return err == nil && held == processes && least == paceShares/processes
		}, func() string { return fmt.Sprintf("%d have at least %d shares: %v", held, least, err) })
	}
	first, _ := joins()
	shared(1)
	second, leaves := joins()
	shared(2)
	send := func(by *Adapter, messages int) {
		var sending sync.WaitGroup
		for range messages {
			somebody := server.User("Somebody")
			to := somebody.Private()
			somebody.Send(to, "/start")
			sending.Go(func() {
				if _, err := by.Send(t.Context(), chat.Message{To: chat.Place{Chat: idText(to.ID())}, Text: chat.Plain("x")}); err != nil {
					t.Error(err)
				}
			})
		}
		sending.Wait()
	}
	var both sync.WaitGroup
	for _, by := range []*Adapter{first, second} {
		both.Go(func() { send(by, 20) })
	}
	both.Wait()
	leaves()
	shared(1)
	send(first, 10)
	for _, c := range server.Calls("sendMessage") {
		if c.Code != 200 {
			t.Errorf("%d: %s", c.Code, c.Description)
		}
	}
}
