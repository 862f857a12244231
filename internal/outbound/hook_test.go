package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"
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

// names gives a resolver that asks a name server of its own; asked is how often the server was asked the same before.
func names(t *testing.T, answers func(name string, asked int) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buf, asked := make([]byte, 1500), map[dnsmessage.Question]int{}
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			for _, ip := range answers(strings.TrimSuffix(q.Name.String(), "."), asked[q]) {
				header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
				switch {
				case ip.Is4() && q.Type == dnsmessage.TypeA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}})
				case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
				}
			}
			asked[q]++
			if packed, err := m.Pack(); err == nil {
				conn.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestNamesThatLeadInside(t *testing.T) {
	t.Parallel()
	serves := func(at string) *url.URL {
		listener, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if at, _, _ := net.SplitHostPort(listener.Addr().String()); at == "127.0.0.1" {
				t.Errorf("the inner server was asked for %s", r.Host)
			}
			if to := r.FormValue("to"); to != "" {
				http.Redirect(w, r, to, http.StatusFound)
			}
		})}}
		server.Start()
		t.Cleanup(server.Close)
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	outside := serves("127.0.0.2:0") // which stands for the world
	inside := serves("127.0.0.1:" + outside.Port())
	inner := []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b:1::7f00:1", "::127.0.0.1", "2002:7f00:1::", "0.0.0.0", "::", "169.254.169.254", "fd00:ec2::254", "fe80::1", "10.0.0.1", "100.64.0.1", "192.168.0.1", "224.0.0.1", "255.255.255.255"}
	resolver := names(t, func(name string, asked int) []netip.Addr {
		name, ours := strings.CutSuffix(name, ".inner.test")
		if !ours {
			return nil
		}
		which, rebinds := strings.CutPrefix(name, "then-")
		both, mixed := strings.CutPrefix(which, "both-")
		i, err := strconv.Atoi(both)
		switch {
		case err != nil || rebinds && asked == 0:
			return []netip.Addr{netip.MustParseAddr("127.0.0.2")}
		case mixed: // the first is refused by nobody, but nothing listens there
			return []netip.Addr{netip.MustParseAddr("127.0.0.3"), netip.MustParseAddr(inner[i])}
		}
		return []netip.Addr{netip.MustParseAddr(inner[i])}
	})
	port, err := strconv.ParseUint(outside.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	for round, made := range []*http.Client{NewClient(nil), NewHooks(nil, time.Second).client} {
		name := []string{"NewClient", "NewHooks"}[round]
		transport := made.Transport.(*http.Transport).Clone()
		if transport.Proxy != nil {
			t.Errorf("%s: a proxy connects past the guard", name)
		}
		g := newGuard([]string{"127.0.0.2", "127.0.0.3"}, ssrf.WithPorts(uint16(port)))
		g.timeout, g.resolver = 5*time.Second, resolver
		transport.DialContext, transport.DisableKeepAlives = g.dial, true
		client := &http.Client{Transport: transport}
		get := func(host, query string) error {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+net.JoinHostPort(host, outside.Port())+"/"+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(r)
			if err == nil {
				res.Body.Close()
			}
			return err
		}
		for i, address := range inner {
			n := strconv.Itoa(i)
			first := "then-" + n + ".inner.test"
			if round == 0 { // later the server has been asked
				if err := get(first, ""); err != nil {
					t.Errorf("%s: before it leads to %s: %v", name, address, err)
				}
			}
			for _, host := range []string{first, n + ".inner.test"} {
				if err := get(host, ""); !errors.Is(err, ErrInside) {
					t.Errorf("%s: %s leads to %s: %v", name, host, address, err)
				}
			}
			if err := get("both-"+n+".inner.test", ""); err == nil {
				t.Errorf("%s: a name that leads to %s, too, is reached", name, address)
			}
			if err := get("world.inner.test", "?to="+url.QueryEscape("http://x@"+n+".inner.test:"+outside.Port()+"/")); !errors.Is(err, ErrInside) {
				t.Errorf("%s: a redirect to %s: %v", name, address, err)
			}
		}
		for _, spelled := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "localhost", "LOCALHOST", "127.0.0.1.", "fe80::1%25lo", inside.Hostname()} {
			if err := get(spelled, ""); err == nil {
				t.Errorf("%s: %s is reached", name, spelled)
			}
		}
	}
}
