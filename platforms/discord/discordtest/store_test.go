package discordtest_test

import (
	"testing"

	"github.com/signalbox/signalbox/platforms/discord/discordtest"
)

// TestStore holds the store to what the service refuses.
func TestStore(t *testing.T) {
	t.Parallel()
	b := setup(t, discordtest.Options{})
	b.Sells("77", discordtest.Consumable)
	b.Sells("78", discordtest.Subscribable)
	pack, monthly := b.ann.Buys("77"), b.ann.Subscribes("78")
	b.bob.Buys("77").Deleted()
	entitlements := "/applications/" + b.ApplicationID + "/entitlements"
	listed := func(query string, want int) {
		t.Helper()
		r := b.call("GET", entitlements+query, nil)
		if list, _ := r.body.([]any); r.status != 200 || len(list) != want {
			t.Errorf("%s: %d, %s; want %d", query, r.status, r.raw, want)
		}
	}
	listed("", 2)
	listed("?exclude_deleted=false", 3)
	listed("?sku_ids=77,79", 1)
	listed("?user_id="+b.bob.ID(), 0)
	listed("?after="+pack.ID(), 1)
	listed("?limit=1&after=0", 1)
	b.expect(b.call("GET", entitlements+"?limit=101", nil), 400, 50035, "1 to 100")
	b.complained("1 to 100")
	listed("?sku=77", 2)
	b.complained("sku")
	consume := func(id string) reply { return b.call("POST", entitlements+"/"+id+"/consume", nil) }
	b.expect(consume(monthly.Entitlement().ID()), 400, 40018, "consumable")
	b.expect(consume("12"), 404, 10029, "")
	if r := consume(pack.ID()); r.status != 204 || !pack.Consumed() {
		t.Errorf("%d %s", r.status, r.raw)
	}
	listed("?exclude_ended=true", 1)
	b.expect(b.call("GET", "/skus/78/subscriptions", nil), 400, 50035, "required")
	b.complained("required")
	b.expect(b.call("POST", b.messages(), object{"content": "x", "components": []any{row(object{"type": 2, "style": 6, "sku_id": "79"})}}), 400, 50035, "no SKU")
	b.complained("no SKU")
}
