package telegram

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// CallMetrics registers metrics of the calls to Telegram and returns what feeds them: the Observe of a
// Client's Config.
func CallMetrics(registerer prometheus.Registerer) (observe func(CallInfo), err error) {
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "signalbox", Name: "telegram_call_seconds",
		Help:    "Calls to the Telegram Bot API by method and HTTP status; status 0 is no answer. Long polls are left out.",
		Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"method", "status"})
	if err := registerer.Register(seconds); err != nil {
		return nil, err
	}
	return func(c CallInfo) {
		if c.Method == "getUpdates" && c.Code == 200 {
			return // waits for people, not for Telegram
		}
		seconds.WithLabelValues(c.Method, strconv.Itoa(c.Code)).Observe(c.Took.Seconds())
	}, nil
}
