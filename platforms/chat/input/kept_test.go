package input

import (
	"encoding/json"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

// Drafts are in the database while a question is open: what a released version has stored is read, and who asks is not stored.
func TestADraftIsKeptAsReleasedVersionsRead(t *testing.T) {
	t.Parallel()
	const kept = `{"tool":"painter","values":{"argument":{"prompt":"a cat"}},"parent":"r1","approval":2,"key":"telegram:1:2","request":{"chat":"1","id":"2"},"preset":"mine"}`
	var d Draft
	if err := json.Unmarshal([]byte(kept), &d); err != nil {
		t.Fatal(err)
	}
	d.AccountID, d.Group, d.Quote, d.Shown, d.Audience, d.Context = "a1", "g1", "sealed", true, registry.Insiders, registry.CallContext{SessionID: "s"}
	again, err := json.Marshal(d)
	if err != nil || string(again) != kept {
		t.Errorf("kept as %s, %v", again, err)
	}
}
