package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// WhyNotListening gives the reason why an address can't be had, without the address, and which way out there is.
func WhyNotListening(err error) (reason, advice string) {
	var failed *net.OpError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return err.Error(), "stop the other program, or choose another port"
	}
	return err.Error(), "choose an address of this machine, such as 127.0.0.1:8080"
}

// Reachable is an address that a program listens at, as one can open it on this machine.
func Reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// Ask asks the program that listens at an address for a path, by loopback when it listens on every address. Anything but 200 is an
// error that has the answer.
func Ask(ctx context.Context, listen, path string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: path}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return fmt.Errorf("%s answered %d: %s", path, res.StatusCode, body)
	}
	return nil
}
