package outbound_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/outbound"
)

func TestInnerAddressesAreRefused(t *testing.T) {
	t.Parallel()
	client := outbound.NewClient(nil)
	for _, address := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://10.0.0.1/",
		"http://192.168.1.1/", "http://172.16.0.1/", "http://100.64.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/", "http://[64:ff9b::7f00:1]/",
		"http://2130706433/", "http://127.1/",
	} {
		if _, _, err := outbound.Get(t.Context(), client, address, 100); err == nil {
			t.Errorf("%s was reached", address)
		}
	}
}

func TestExceptionsOfTheOperator(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, allow := range []string{u.Host, u.Hostname(), "127.0.0.0/8"} {
		body, _, err := outbound.Get(t.Context(), outbound.NewClient([]string{allow}), server.URL, 100)
		if err != nil {
			t.Errorf("OUTBOUND_ALLOW=%s: %v", allow, err)
			continue
		}
		if text, err := io.ReadAll(body); err != nil || string(text) != "hello" {
			t.Errorf("OUTBOUND_ALLOW=%s: read %q, %v", allow, text, err)
		}
		body.Close()
	}
	_, _, err = outbound.Get(t.Context(), outbound.NewClient(nil), server.URL, 100)
	if err == nil || !strings.Contains(err.Error(), "OUTBOUND_ALLOW") {
		t.Errorf("refusal %v does not name OUTBOUND_ALLOW", err)
	}
}

func TestRedirectInside(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the inner server was reached") }))
	t.Cleanup(inside.Close)
	outside := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	t.Cleanup(outside.Close)
	u, err := url.Parse(outside.URL)
	if err != nil {
		t.Fatal(err)
	}
	// Only the first host:port is allowed; the redirect leads to another port of the same machine.
	if _, _, err := outbound.Get(t.Context(), outbound.NewClient([]string{u.Host}), outside.URL, 100); err == nil {
		t.Error("the redirect was followed inside")
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // no Content-Length
		io.WriteString(w, strings.Repeat("x", 1000))
	}))
	t.Cleanup(server.Close)
	body, _, err := outbound.Get(t.Context(), outbound.NewClient([]string{"127.0.0.1"}), server.URL, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if n, err := io.Copy(io.Discard, body); err == nil || n > 100 {
		t.Errorf("read %d bytes, error %v; expected an error after 100", n, err)
	}
}
