package outbound

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestHooks(t *testing.T) {
	t.Parallel()
	strict := NewHooks(nil, time.Second)
	t.Run("W27 addresses that lead inside, or nowhere good, are refused", func(t *testing.T) {
		for _, address := range []string{
			"http://example.com/x", "ftp://example.com", "example.com/x", "https://", "https://ann:secret@example.com/", "https://example.com:80/", "https://example.com:22/",
			"https://localhost/", "https://LOCALHOST./", "https://printer.local/", "https://db.internal/", "https://x.localhost/", "https://intranet/",
			"https://2130706433/", "https://0x7f.1/", "https://0x7f000001/", "https://017700000001/", "https://0177.0.0.1/", "https://127.1/", "https://example.com/#x",
			"https://[::ffff:127.0.0.1]/", "https://[::ffff:8.8.8.8]/", "https://[fe80::1%25eth0]/",
		} {
			if err := strict.Check(address); err == nil {
				t.Errorf("%s is taken", address)
			}
		}
		for _, address := range []string{"https://example.com/hook?x=1", "https://example.com:8443/", "https://8.8.8.8/", "https://[2606:4700:4700::1111]/"} {
			if err := strict.Check(address); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
	t.Run("W27 every range of inner addresses is refused, written down and when a name leads there", func(t *testing.T) {
		for _, inner := range []string{
			"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "169.254.169.254/32", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
			"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
			"::/128", "::1/128", "::ffff:0:0/96", "::ffff:a00:0/104", "64:ff9b::/96", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "ff00::/8",
		} {
			ip := netip.MustParsePrefix(inner).Addr()
			host, network := ip.String(), "tcp4"
			if ip.Is6() {
				host, network = "["+host+"]", "tcp6"
			}
			if err := strict.Check("https://" + host + "/"); err == nil {
				t.Errorf("%s is taken", host)
			}
			if err := strict.guard.check(network, host+":443", nil); err == nil {
				t.Errorf("a name that leads to %s is connected to", host)
			}
		}
		if err := strict.guard.check("tcp4", "8.8.8.8:22", nil); err == nil {
			t.Error("port 22 is connected to")
		}
	})
	t.Run("W27 what is connected to is the address that was checked, and only an entry in the list lets inside", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		get := func(h *Hooks) error {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
			res, err := h.Do(r)
			if err == nil {
				res.Body.Close()
			}
			return err
		}
		if err := get(strict); err == nil || !strings.Contains(err.Error(), "not allowed") {
			t.Errorf("the dialer lets through to loopback: %v", err)
		}
		open := NewHooks([]string{"127.0.0.1"}, time.Second)
		if err := open.Check(server.URL); err != nil {
			t.Error(err)
		}
		if err := get(open); err != nil {
			t.Error(err)
		}
		if err := open.Check("http://127.0.0.2/"); err == nil {
			t.Error("one entry opens more than itself")
		}
	})
}
