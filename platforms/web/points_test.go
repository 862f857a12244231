package web_test

import (
	"net/url"
	"testing"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/platforms/web"
)

func TestPoints(t *testing.T) {
	t.Parallel()
	points, err := billing.ParsePoints("0.000337")
	if err != nil {
		t.Fatal(err)
	}
	h := toolHouse(t, func(c *web.Config) { c.Points = points })
	t.Run("A91 the balance is told in points, too, with what one is worth", func(t *testing.T) {
		var balance struct {
			BalanceNanoUsd int64
			Points         struct{ Balance, Held, UsdPerPoint string }
		}
		if h.developer("ann").call("GET", "/api/balance", "", &balance); balance.BalanceNanoUsd != int64(billing.Dollar) || balance.Points.Balance != "2967.36" || balance.Points.Held != "0" || balance.Points.UsdPerPoint != "0.000337" {
			t.Errorf("got %+v", balance)
		}
	})
	t.Run("A91 prices and receipts on pages are told in points, too", func(t *testing.T) {
		me := h.reader()
		has(t, me.page("/tool/order"), "$0.02 (60 points)")
		path := me.form("/tool/order", url.Values{"prompt": {"a chair"}}).Header.Get("Location")
		me.finished(path[len("/run/"):])
		has(t, me.page(path), "$0.02 (59 points)")
	})
}
