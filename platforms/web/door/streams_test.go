package door

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/users"
)

// revocable knows one key and one session, until it fails.
type revocable struct {
	Secrets
	fails atomic.Pointer[error]
}

func (s *revocable) err() error {
	if err := s.fails.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *revocable) KeyOf(context.Context, string) (users.Account, users.Key, error) {
	return users.Account{ID: "ann"}, users.Key{ID: 1}, s.err()
}

func (s *revocable) BySession(context.Context, string) (users.Account, users.Session, error) {
	return users.Account{ID: "ann"}, users.Session{ID: "one", AccountID: "ann"}, s.err()
}

type noLimit struct{}

func (noLimit) StreamsOf(context.Context, string) (int, error) { return 0, nil }

// Who has kept a stream open from before their key was revoked, or their session ended, follows nobody's runs and chat any longer.
func TestStreamsEndWithTheirKeyOrSession(t *testing.T) {
	t.Parallel()
	byKey := func(r *http.Request) { r.Header.Set("Authorization", "Bearer sbx_1") }
	bySession := func(r *http.Request) { r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "secret"}) }
	for name, tc := range map[string]struct {
		signed func(r *http.Request)
		err    error
		ends   bool
	}{
		"a revoked key":                           {byKey, users.ErrNotFound, true},
		"a key that has ended":                    {byKey, &users.KeyEndedError{At: time.Unix(0, 0)}, true},
		"an ended session":                        {bySession, users.ErrNotFound, true},
		"a key that holds":                        {byKey, nil, false},
		"a key while the database can't be asked": {byKey, errors.New("no connection"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				secrets := &revocable{}
				d, err := New(Config{Site: Site{Public: &url.URL{Scheme: "http", Host: "bot.example"}}, Secrets: secrets, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Key: make([]byte, 16)})
				if err != nil {
					t.Fatal(err)
				}
				streams := Streams{Limits: noLimit{}}
				over := make(chan error, 1)
				h := d.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					a, err := d.AdmitToAPI(w, r, Read)
					if err != nil {
						over <- err
						return
					}
					r, leave, err := streams.Enter(r, a)
					if err == nil {
						defer leave()
						<-r.Context().Done()
					}
					over <- err
				}))
				ctx, gone := context.WithCancel(t.Context())
				defer gone()
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://bot.example/chat/events", nil)
				tc.signed(r)
				go h.ServeHTTP(httptest.NewRecorder(), r)
				time.Sleep(10 * KeepAlive)
				synctest.Wait()
				select {
				case err := <-over:
					t.Fatal("it has ended already:", err)
				default:
				}
				secrets.fails.Store(&tc.err)
				for range 100 { // wrong guesses from the same address
					d.guesses.take("192.0.2.1", time.Now())
				}
				time.Sleep(KeepAlive)
				synctest.Wait()
				select {
				case err := <-over:
					if !tc.ends || err != nil {
						t.Error("it has ended:", err)
					}
				default:
					if tc.ends {
						t.Error("it goes on")
					}
				}
			})
		})
	}
}
