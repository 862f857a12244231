package telegram_test

import (
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/platforms/telegram/telegramtest"
)

// BenchmarkFirstAcknowledgement sends commands at 200 a second, each from another person, and reports how
// long it takes until the first sign of life for each has reached the server.
func BenchmarkFirstAcknowledgement(b *testing.B) {
	h := newHouse(b).start()
	var people []*telegramtest.User
	for range b.N {
		people = append(people, h.telegram.User("Somebody"))
	}
	sent := map[string]time.Time{}
	tick := time.NewTicker(time.Second / 200)
	defer tick.Stop()
	b.ResetTimer()
	for _, u := range people {
		<-tick.C
		sent[chatID(u.Private())] = time.Now()
		u.Send(u.Private(), "/poster")
	}
	h.handled()
	b.StopTimer()
	var waits []time.Duration
	for _, c := range h.telegram.Calls("") {
		if at, ok := sent[c.Params["chat_id"]]; ok {
			waits = append(waits, c.At.Sub(at))
			delete(sent, c.Params["chat_id"])
		}
	}
	if len(sent) > 0 {
		b.Fatalf("%d of %d people had no answer", len(sent), b.N)
	}
	slices.Sort(waits)
	b.ReportMetric(ms(waits[len(waits)/2]), "p50-ms")
	b.ReportMetric(ms(waits[len(waits)*99/100]), "p99-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
