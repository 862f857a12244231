package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"code.dny.dev/ssrf"
)

// hookConnect bounds the connecting to a program's endpoint.
const hookConnect = 5 * time.Second

// hookPorts are the ports that endpoints may have.
var hookPorts = []uint16{443, 8443}

// Hooks sends to the endpoints of people's programs: public addresses by https on port 443 or 8443 only. It checks the
// address that a name resolved to at the moment of connecting, follows no redirect, and uses no proxy. Hosts that the operator
// allows may be anywhere, and without https.
type Hooks struct {
	guard  guard
	client *http.Client
}

// NewHooks makes Hooks that wait for an answer for timeout. allow is as in NewClient.
func NewHooks(allow []string, timeout time.Duration) *Hooks {
	h := &Hooks{guard: newGuard(allow, ssrf.WithPorts(hookPorts...))}
	h.guard.timeout = hookConnect
	h.client = &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: h.guard.dial, TLSHandshakeTimeout: hookConnect, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h
}

// Do sends a request whose address Check has taken.
func (h *Hooks) Do(r *http.Request) (*http.Response, error) {
	res, err := h.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", err)
	}
	return res, nil
}

// Check says what is wrong with the address of an endpoint, as far as that can be told without asking anybody for it.
func (h *Hooks) Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.Fragment != "":
		return errors.New("expected a whole address, such as https://example.com/hook")
	case u.User != nil:
		return errors.New("a name and password in the address are not taken; messages are signed instead")
	}
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if h.guard.allows(host, port) {
		return nil
	}
	switch {
	case u.Scheme != "https":
		return errors.New("expected https")
	case port != "" && port != "443" && port != "8443":
		return errors.New("expected port 443 or 8443")
	case host == "localhost" || !strings.ContainsAny(host, ".:"), hasSuffix(host, ".localhost", ".local", ".internal"):
		return errors.New("this name leads to no public address")
	}
	return h.checkLiteral(host)
}

// checkLiteral refuses addresses in numbers that are not public, and odd spellings of numbers.
func (h *Hooks) checkLiteral(host string) error {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		last := host[strings.LastIndexByte(host, '.')+1:]
		if last != "" && last[0] >= '0' && last[0] <= '9' { // no top-level domain begins with a digit
			return errors.New("expected a name, or an address in its usual spelling")
		}
		return nil
	}
	network := "tcp6"
	if ip.Is4() {
		network = "tcp4"
	}
	if h.guard.public.Safe(network, net.JoinHostPort(host, "443"), nil) != nil {
		return errors.New("this address is not public")
	}
	return nil
}

// allows reports whether the operator lets a host through.
func (g guard) allows(host, port string) bool {
	if g.hosts[host] || g.hosts[net.JoinHostPort(host, port)] {
		return true
	}
	ip, err := netip.ParseAddr(host)
	for _, p := range g.prefixes {
		if err == nil && p.Contains(ip.Unmap()) {
			return true
		}
	}
	return false
}

func hasSuffix(host string, endings ...string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(host, ending) {
			return true
		}
	}
	return false
}
