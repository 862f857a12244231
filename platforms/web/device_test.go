package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func TestWhereAndWithWhatSomebodyAsks(t *testing.T) {
	t.Parallel()
	h := toolHouse(t)
	v := h.reader()
	asked := func(t *testing.T, header ...string) registry.CallContext {
		t.Helper()
		before := len(h.fake.Calls())
		form := url.Values{"prompt": {"a cat"}}
		res := v.do("POST", "/tool/look", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), header...)
		id, ok := strings.CutPrefix(res.Header.Get("Location"), "/run/")
		if !ok {
			t.Fatalf("status %d: %s", res.StatusCode, readAll(t, res.Body))
		}
		v.finished(id)
		return h.fake.Calls()[before].Context
	}
	for name, c := range map[string]struct {
		header []string
		want   registry.CallContext
	}{
		"C54 a browser's language and name tell the region and the device": {
			[]string{"Accept-Language", "pt-BR,pt;q=0.9,en-US;q=0.8", "User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148"},
			registry.CallContext{Region: "BR", DeviceKind: registry.DeviceMobile},
		},
		"C54 a browser's own word counts": {
			[]string{"Accept-Language", "de", "User-Agent", "Mozilla/5.0 (Linux; Android 15)", "Sec-CH-UA-Mobile", "?0"}, registry.CallContext{DeviceKind: registry.DeviceDesktop},
		},
		"C54 another program is of no kind we know": {[]string{"User-Agent", "lynx"}, registry.CallContext{DeviceKind: registry.DeviceUnknown}},
		"C54 what nobody tells is absent":           {[]string{"User-Agent", ""}, registry.CallContext{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := asked(t, c.header...); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	t.Run("C54 a program's request tells nothing of the person", func(t *testing.T) {
		before := len(h.fake.Calls())
		var run struct{ RunID string }
		dev := h.developer("ann")
		dev.call("POST", "/api/run/look", `{"inputs": {"prompt": "a dog"}}`, &run, "Accept-Language", "pt-BR", "User-Agent", "Mozilla/5.0 (iPhone)")
		dev.finished(run.RunID)
		if c := h.fake.Calls()[before].Context; c.Region != "" || c.DeviceKind != "" {
			t.Errorf("got %+v", c)
		}
	})
}
