package door

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// fromHere reports whether a request was sent by a person at this machine to a program that is for them alone. One that
// shows any sign of a proxy was not: the client behind the proxy can be anywhere.
func (s Site) fromHere(r *http.Request) bool {
	peer, err := netip.ParseAddr(peerOf(r))
	return s.Local() && err == nil && peer.IsLoopback() && loopbackName(r.Host) && !proxied(r)
}

func proxied(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true // no browser: nginx speaks like this to what is behind it, without any header that tells
	}
	for name := range r.Header {
		if name == "Via" || strings.Contains(name, "Forwarded") || strings.HasSuffix(name, "-Ip") {
			return true
		}
	}
	return false
}

// peerOf is the address of the other end of the connection.
func peerOf(r *http.Request) string {
	host := hostOnly(r.RemoteAddr)
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return host
}

// addressOf is where a request comes from. Only the operator's own proxies are believed what they say in X-Forwarded-For:
// it is the last address in it that is none of theirs.
func (d *Door) addressOf(r *http.Request) string {
	address := peerOf(r)
	if len(r.Header.Values("X-Forwarded-For")) == 0 {
		return address
	}
	if !d.Site.Local() && !d.trustedProxy(address) {
		d.unnamedProxy.Do(func() {
			d.cfg.Logger.Warn("requests come by a proxy that TRUSTED_PROXIES does not name: all who come by it share one limit on guesses", "proxy", address)
		})
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		ip, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil || !d.trustedProxy(address) {
			break
		}
		address = ip.Unmap().String()
	}
	return address
}

// Guesser is whose guesses a request counts for: an address, of IPv6 the network of 2^64 that one customer has.
func (d *Door) Guesser(r *http.Request) string {
	address := d.addressOf(r)
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Is4() {
		return address
	}
	return netip.PrefixFrom(ip.WithZone(""), 64).Masked().String()
}

// GuesserOf is Guesser for handlers that have no Door. The request must have come through Guard.
func GuesserOf(r *http.Request) string { return visitOf(r.Context()).door.Guesser(r) }

func (d *Door) trustedProxy(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(d.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}
