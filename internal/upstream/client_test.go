package upstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

const secret = "sk-very-secret"

// service starts a service that answers by handler, and gives a client of it.
func service(t *testing.T, handler http.HandlerFunc, change ...func(*upstream.Config)) *upstream.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg := upstream.Config{
		Name: "Painter", BaseURL: server.URL + "/v1/", Secrets: []string{secret}, HTTP: server.Client(),
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) },
	}
	for _, c := range change {
		c(&cfg)
	}
	client, err := upstream.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// failure gives the typed error, which must not show the secret.
func failure(t *testing.T, err error) *registry.Error {
	t.Helper()
	var e *registry.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T), expected a *registry.Error", err, err)
	}
	if strings.Contains(e.Message, secret) || (e.Cause != nil && strings.Contains(e.Cause.Error(), secret)) {
		t.Errorf("the error shows the secret: %v, %v", e, e.Cause)
	}
	return e
}

func TestExchange(t *testing.T) {
	t.Parallel()
	client := service(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.String() != "/v1/tasks?kind=x&page=2" || r.Header.Get("Authorization") != "Bearer "+secret ||
			r.Header.Get("Content-Type") != "application/json" || string(body) != `{"prompt":"a cat"}` {
			t.Errorf("got %s %s %v %s", r.Method, r.URL, r.Header, body)
		}
		io.WriteString(w, `{"seed": 18446744073709551615, "more": true}`)
	})
	var answer map[string]any
	if err := client.Post(t.Context(), "/tasks?kind=x&page=2", map[string]string{"prompt": "a cat"}, &answer); err != nil {
		t.Fatal(err)
	}
	if got, ok := answer["seed"].(interface{ String() string }); !ok || got.String() != "18446744073709551615" {
		t.Errorf("the number became %v", answer["seed"])
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "painter", "ftp://x", "http://", "https://user:" + secret + "@x"} {
		if _, err := upstream.New(upstream.Config{Name: "Painter", BaseURL: address}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: error %v", address, err)
		}
	}
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method     string
		status     int
		retryAfter string
		code       registry.Code
		retryable  bool
		wait       time.Duration
	}{
		{"POST", 400, "", registry.CodeInvalidInput, false, 0},
		{"POST", 401, "", registry.CodeUnauthorized, false, 0},
		{"POST", 402, "", registry.CodeUnavailable, false, 0},
		{"GET", 404, "", registry.CodeLost, false, 0},
		{"POST", 429, "7", registry.CodeRateLimited, true, 7 * time.Second},
		{"POST", 429, "99999999", registry.CodeRateLimited, true, 24 * time.Hour},
		{"POST", 500, "", registry.CodeProvider, true, 0},
		{"POST", 503, "2", registry.CodeUnavailable, true, 2 * time.Second},
		{"POST", 502, "", registry.CodeLost, false, 0},
		{"GET", 504, "", registry.CodeUnavailable, true, 0},
		{"POST", 302, "", registry.CodeProvider, false, 0},
	} {
		client := service(t, func(w http.ResponseWriter, _ *http.Request) {
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			io.WriteString(w, "your key "+secret+" is bad")
		})
		_, err := client.Do(t.Context(), upstream.Request{Method: c.method, Path: "x"})
		if e := failure(t, err); e.Code != c.code || e.Retryable != c.retryable || e.RetryAfter != c.wait {
			t.Errorf("%s with status %d: %v retryable %v after %v, expected %s, %v, %v", c.method, c.status, e, e.Retryable, e.RetryAfter, c.code, c.retryable, c.wait)
		}
	}
}

func TestOwnWords(t *testing.T) {
	t.Parallel()
	client := service(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, func(cfg *upstream.Config) {
		cfg.Failure = func(upstream.Response) *registry.Error {
			return registry.Errorf(registry.CodeRefused, "no such pictures, says %s", secret)
		}
	})
	if e := failure(t, client.Get(t.Context(), "x", nil, nil)); e.Code != registry.CodeRefused || e.Message != "no such pictures, says ***" {
		t.Errorf("got %v", e)
	}
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	}
	client := service(t, cut)
	for _, c := range []struct {
		request   upstream.Request
		code      registry.Code
		retryable bool
	}{
		{upstream.Request{Method: "POST"}, registry.CodeLost, false},
		{upstream.Request{Method: "POST", Repeatable: true}, registry.CodeUnavailable, true},
		{upstream.Request{}, registry.CodeUnavailable, true},
	} {
		_, err := client.Do(t.Context(), c.request)
		if e := failure(t, err); e.Code != c.code || e.Retryable != c.retryable || errors.Is(err, upstream.ErrUnconfirmed) == c.retryable {
			t.Errorf("%+v: %v, retryable %v; expected %s, %v", c.request, e, e.Retryable, c.code, c.retryable)
		}
	}
}

func TestNoConnection(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	client, err := upstream.New(upstream.Config{Name: "Painter", BaseURL: "http://" + nobody.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	if e := failure(t, client.Post(t.Context(), "x", struct{}{}, nil)); e.Code != registry.CodeUnavailable || !e.Retryable {
		t.Errorf("got %v, retryable %v: nothing was sent, so it may be tried again", e, e.Retryable)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	t.Run("of size", func(t *testing.T) {
		t.Parallel()
		client := service(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 101)) },
			func(cfg *upstream.Config) { cfg.Limit = 100 })
		if e := failure(t, client.Get(t.Context(), "x", nil, nil)); e.Code != registry.CodeProvider {
			t.Errorf("got %v", e)
		}
	})
	t.Run("of what errors repeat", func(t *testing.T) {
		t.Parallel()
		client := service(t, nil)
		if got := client.Excerpt([]byte(strings.Repeat("ž \n", 1000) + secret)); len([]rune(got)) != 200 || strings.Contains(got, "\n") {
			t.Errorf("%d runes: %q", len([]rune(got)), got)
		}
	})
	t.Run("no JSON is an error", func(t *testing.T) {
		t.Parallel()
		client := service(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") })
		if e := failure(t, client.Get(t.Context(), "x", nil, new(map[string]any))); e.Code != registry.CodeProvider {
			t.Errorf("got %v", e)
		}
	})
}

// scripted is a transport that answers without a network, so that time can be the test's.
type scripted func(*http.Request) (*http.Response, error)

func (f scripted) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func status(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}
}

func TestTime(t *testing.T) {
	t.Parallel()
	t.Run("a service that does not answer is given up", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client := fake(t, func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
			if e := failure(t, client.Get(t.Context(), "x", nil, nil)); e.Code != registry.CodeTimeout || !e.Retryable {
				t.Errorf("got %v", e)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := client.Get(ctx, "x", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the caller's own end gives %v", err)
			}
		})
	})
	t.Run("a service in trouble is left alone for a while", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			asked, code := 0, http.StatusInternalServerError
			client := fake(t, func(*http.Request) (*http.Response, error) { asked++; return status(code), nil })
			for range 8 {
				failure(t, client.Get(t.Context(), "x", nil, nil))
			}
			e := failure(t, client.Get(t.Context(), "x", nil, nil))
			if asked != 5 || e.Code != registry.CodeUnavailable || !e.Retryable || e.RetryAfter == 0 {
				t.Errorf("asked %d times, then %v (after %v); expected 5 and a refusal of our own", asked, e, e.RetryAfter)
			}
			code = http.StatusOK
			time.Sleep(20 * time.Second)
			e = failure(t, client.Get(t.Context(), "x", nil, nil))
			if e.RetryAfter < 10*time.Second || e.RetryAfter > 11*time.Second {
				t.Errorf("who comes 20 s later is to wait %s, expected what is left of half a minute", e.RetryAfter)
			}
			time.Sleep(e.RetryAfter)
			if err := client.Get(t.Context(), "x", nil, nil); err != nil {
				t.Errorf("half a minute later: %v", err)
			}
		})
	})
	t.Run("whoever comes while one request tries whether the service is back waits for that only", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			back := false
			client := fake(t, func(*http.Request) (*http.Response, error) {
				if back {
					time.Sleep(time.Second)
					return status(http.StatusOK), nil
				}
				return status(http.StatusInternalServerError), nil
			})
			for range 6 {
				failure(t, client.Get(t.Context(), "x", nil, nil))
			}
			back = true
			time.Sleep(31 * time.Second)
			var first sync.WaitGroup
			first.Go(func() {
				if err := client.Get(t.Context(), "x", nil, nil); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			e := failure(t, client.Get(t.Context(), "x", nil, nil))
			first.Wait()
			if e.RetryAfter <= 0 || e.RetryAfter > 2*time.Second {
				t.Errorf("it is to wait %s", e.RetryAfter)
			}
		})
	})
	t.Run("refused values do not count as trouble", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			client := fake(t, func(*http.Request) (*http.Response, error) { asked++; return status(http.StatusBadRequest), nil })
			for range 20 {
				failure(t, client.Get(t.Context(), "x", nil, nil))
			}
			if asked != 20 {
				t.Errorf("asked %d times of 20", asked)
			}
		})
	})
	t.Run("callers that give up neither count as trouble nor as success", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			client := fake(t, func(r *http.Request) (*http.Response, error) {
				if asked++; asked%2 == 0 {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				return status(http.StatusInternalServerError), nil
			})
			for range 9 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				if err := client.Get(ctx, "x", nil, nil); err == nil {
					t.Error("no error")
				}
				cancel()
			}
			if e := failure(t, client.Get(t.Context(), "x", nil, nil)); asked != 9 || e.RetryAfter == 0 {
				t.Errorf("asked %d times, then %v; expected 9 and a refusal of our own", asked, e)
			}
		})
	})
	t.Run("the client's own limits of time are not the service's", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client := fake(t, func(r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(20 * time.Second):
					return status(http.StatusOK), nil
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}, func(cfg *upstream.Config) { cfg.HTTP.Timeout = time.Second })
			if err := client.Get(t.Context(), "x", nil, nil); err != nil {
				t.Error(err)
			}
		})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-time.After(50 * time.Millisecond)
			io.WriteString(w, "{}")
		}))
		t.Cleanup(server.Close)
		hasty := &http.Transport{ResponseHeaderTimeout: time.Millisecond}
		t.Cleanup(hasty.CloseIdleConnections)
		client, err := upstream.New(upstream.Config{Name: "Painter", BaseURL: server.URL, HTTP: &http.Client{Transport: hasty}})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Get(t.Context(), "x", nil, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("requests wait for their turn", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client := fake(t, func(*http.Request) (*http.Response, error) { return status(http.StatusOK), nil },
				func(cfg *upstream.Config) { cfg.PerSecond, cfg.Burst = 2, 2 })
			began := time.Now()
			for range 6 {
				if err := client.Get(t.Context(), "x", nil, nil); err != nil {
					t.Fatal(err)
				}
			}
			if took := time.Since(began); took != 2*time.Second {
				t.Errorf("six requests at two a second, two at once, took %v", took)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if e := failure(t, client.Get(ctx, "x", nil, nil)); e.Code != registry.CodeRateLimited || !e.Retryable {
				t.Errorf("no time for a turn: %v", e)
			}
		})
	})
}

func fake(t *testing.T, answer scripted, change ...func(*upstream.Config)) *upstream.Client {
	t.Helper()
	cfg := upstream.Config{Name: "Painter", BaseURL: "http://painter.example", HTTP: &http.Client{Transport: answer}}
	for _, c := range change {
		c(&cfg)
	}
	client, err := upstream.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestInside(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	client, err := upstream.New(upstream.Config{Name: "Painter", BaseURL: server.URL, HTTP: outbound.NewClient(nil)})
	if err != nil {
		t.Fatal(err)
	}
	for range 7 { // it is no trouble of the service's
		if e := failure(t, client.Get(t.Context(), "x", nil, nil)); e.Code != registry.CodeUnavailable || e.Retryable || !strings.Contains(e.Message, "OUTBOUND_ALLOW") {
			t.Errorf("got %v (retryable %v)", e, e.Retryable)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/cat.png" {
			w.WriteHeader(http.StatusForbidden)
		}
		io.WriteString(w, "a cat")
	}))
	t.Cleanup(server.Close)
	open := func(path string, allow ...string) (io.ReadCloser, error) {
		return upstream.File(outbound.NewClient(allow), "image", "image", server.URL+path, registry.MediaInfo{}).Open(t.Context())
	}
	body, err := open("/cat.png", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || string(text) != "a cat" {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := open("/gone.png", "127.0.0.1"); failure(t, err).Code != registry.CodeProvider {
		t.Errorf("an expired address: %v", err)
	}
	if _, err := open("/cat.png"); err == nil {
		t.Error("an address inside was fetched without the operator's leave")
	}
}

// A service that takes the connection and never agrees on the encryption has been sent nothing.
func TestAHandshakeThatNeverEnds(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if limit := transport.TLSHandshakeTimeout; limit <= 0 || limit > 10*time.Second {
		t.Errorf("it is waited for for %s", limit)
	}
	transport.TLSHandshakeTimeout = 50 * time.Millisecond
	c, err := upstream.New(upstream.Config{Name: "Mute", BaseURL: "https://" + silent.Addr().String(), HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Post(t.Context(), "/run", map[string]any{"prompt": "a cat"}, nil)
	failure := registry.AsError(err)
	if failure == nil || failure.Code != registry.CodeUnavailable || !failure.Retryable || errors.Is(err, upstream.ErrUnconfirmed) || strings.Contains(failure.Message, "\n") {
		t.Errorf("got %v; expected that it can be sent again", err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	var r upstream.Refused
	lost := registry.Errorf(registry.CodeLost, "nobody can tell")
	busy := registry.Errorf(registry.CodeRateLimited, "not now").Again()
	start := func(handle string, repeated bool, err error) error {
		id, failed := r.Start(registry.Call{Handle: handle, Repeated: repeated}, lost, func() (string, error) { return "job", err })
		if failed == nil && id != "job" {
			t.Errorf("%s has the id %q", handle, id)
		}
		return failed
	}
	if err := start("a", false, busy); err != busy {
		t.Errorf("a refused call gives %v", err)
	}
	if err := start("b", true, nil); err != lost {
		t.Errorf("a repeated call of which nothing is known gives %v", err)
	}
	if err := start("a", true, nil); err != nil {
		t.Errorf("a call that was refused, sent again, gives %v", err)
	}
	if err := start("a", true, nil); err != lost {
		t.Errorf("the handle is known a second time: %v", err)
	}
	if err := start("c", false, lost); err != lost {
		t.Errorf("a call that failed for good gives %v", err)
	}
	if err := start("c", true, nil); err != lost {
		t.Errorf("a call that failed for good is sent again: %v", err)
	}
}
