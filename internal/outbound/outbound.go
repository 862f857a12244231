// Package outbound is the guard between addresses that people or models can influence and the network
// behind this machine: server-side requests reach public addresses only, unless an operator allows more.
package outbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

const (
	dialTimeout  = 10 * time.Second
	totalTimeout = 2 * time.Minute
	maxRedirects = 5
)

// NewClient returns an HTTP client that connects to public addresses on ports 80 and 443 only. It checks
// the address that a name resolved to at the moment of connecting, so neither a redirect nor a changed
// DNS answer leads inside. allow lists hosts, host:port pairs or CIDRs that it may reach as well.
func NewClient(allow []string) *http.Client {
	g := newGuard(allow)
	return &http.Client{
		Timeout: totalTimeout,
		// No proxy: it would connect in our place, past the guard.
		Transport: &http.Transport{DialContext: g.dial, TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: time.Minute, MaxIdleConnsPerHost: 2},
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			return nil
		},
	}
}

type guard struct {
	public   *ssrf.Guardian
	hosts    map[string]bool // as asked for: host or host:port, lower case
	prefixes []netip.Prefix
	timeout  time.Duration // of connecting
	resolver *net.Resolver // nil: this machine's
}

func newGuard(allow []string, options ...ssrf.Option) guard {
	g := guard{public: ssrf.New(options...), hosts: map[string]bool{}, timeout: dialTimeout}
	for _, entry := range allow {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			g.prefixes = append(g.prefixes, prefix)
			continue
		}
		if ip, err := netip.ParseAddr(entry); err == nil {
			g.prefixes = append(g.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		g.hosts[strings.ToLower(entry)] = true
	}
	return g
}

func (g guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: g.timeout, Resolver: g.resolver}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !g.hosts[strings.ToLower(address)] && !g.hosts[strings.ToLower(host)] {
		d.Control = g.check
	}
	return d.DialContext(ctx, network, address)
}

// check sees the address that is about to be connected to, after the name was resolved.
func (g guard) check(network, address string, conn syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err == nil {
		for _, p := range g.prefixes {
			if p.Contains(at.Addr().Unmap()) {
				return nil
			}
		}
	}
	if err := g.public.Safe(network, address, conn); err != nil {
		return fmt.Errorf("%w: %w", ErrInside, err)
	}
	return nil
}

// ErrInside says that an address is none that NewClient's clients connect to.
var ErrInside = errors.New("this address is not allowed to be reached from here (OUTBOUND_ALLOW lists exceptions)")

// Check connects to the host of an http or https address with a client of NewClient, and reports ErrInside
// where that is not allowed. A host that can't be reached now is no error.
func Check(ctx context.Context, client *http.Client, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("not a web address")
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	transport, ok := client.Transport.(*http.Transport)
	if !ok {
		return errors.New("the client is none of this package's")
	}
	conn, err := transport.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if errors.Is(err, ErrInside) {
		return ErrInside
	}
	if err == nil {
		conn.Close()
	}
	return nil
}

// Get opens the content behind an http or https address. Reading more than limit bytes is an error. The
// caller closes it.
func Get(ctx context.Context, client *http.Client, address string, limit int64) (io.ReadCloser, http.Header, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, nil, fmt.Errorf("not a web address")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, nil, fmt.Errorf("%s answered %d", u.Host, res.StatusCode)
	}
	if res.ContentLength > limit {
		res.Body.Close()
		return nil, nil, fmt.Errorf("the file at %s has %d bytes, the limit is %d", u.Host, res.ContentLength, limit)
	}
	return http.MaxBytesReader(nil, res.Body, limit), res.Header, nil
}
