package web_test

import (
	"archive/zip"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/test/housetest"
)

func TestEverythingSomebodyHas(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	housetest.Begin(t, h.exports)
	type told struct {
		ExportID, State, Path, Code string
		Bytes                       int64
	}
	ready := func(c *client) (e told) {
		t.Helper()
		for end := time.Now().Add(time.Minute); e.State != "ready"; {
			if time.Now().After(end) {
				t.Fatalf("it is not ready: %+v", e)
			}
			c.call("GET", "/api/me/export", "", &e)
		}
		return e
	}
	t.Run("a program asks for it and fetches it, nobody else does", func(t *testing.T) {
		ann, ben := h.developer("ann"), h.developer("ben")
		if status := ann.call("GET", "/api/me/export", "", nil); status != http.StatusNotFound {
			t.Errorf("before: %d", status)
		}
		var asked told
		if status := ann.call("POST", "/api/me/export", "", &asked); status != http.StatusAccepted || asked.State != "making" {
			t.Fatalf("got %d, %+v", status, asked)
		}
		e := ready(ann)
		res := ann.do("GET", e.Path, "", nil)
		body := readAll(t, res.Body)
		packed, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
		if err != nil || int64(len(body)) != e.Bytes || res.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d bytes of %d, %v, %v", len(body), e.Bytes, err, res.Header)
		}
		account, err := packed.Open("account.json")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(account); err != nil || !strings.Contains(string(text), ann.accountID()) {
			t.Errorf("got %s, %v", text, err)
		}
		if status := ben.call("GET", e.Path, "", nil); status != http.StatusNotFound {
			t.Errorf("Ben fetches it: %d", status)
		}
		var refused told
		if status := ann.call("POST", "/api/me/export", "", &refused); status != http.StatusTooManyRequests {
			t.Errorf("a second one on one day: %d, %+v", status, refused)
		}
	})
	t.Run("the account's page has it", func(t *testing.T) {
		eve, mallory := h.visitor(), h.visitor() // both in browsers
		eve.form("/signin", url.Values{"key": {h.developer("eve").key}})
		mallory.form("/signin", url.Values{"key": {h.developer("mallory").key}})
		if eve.accountID() == mallory.accountID() {
			t.Fatal("two people are one")
		}
		if page := eve.page("/account"); !strings.Contains(page, "Your data") {
			t.Fatalf("the page has no button:\n%s", page)
		}
		eve.form("/account/export", url.Values{})
		for end := time.Now().Add(time.Minute); ; {
			page := eve.page("/account")
			if _, rest, found := strings.Cut(page, `href="/account/export/`); found {
				id, _, _ := strings.Cut(rest, `"`)
				if res := eve.do("GET", "/account/export/"+id, "", nil); res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/zip" {
					t.Errorf("got %d, %v", res.StatusCode, res.Header)
				}
				if res := mallory.do("GET", "/account/export/"+id, "", nil); res.StatusCode != http.StatusNotFound {
					t.Errorf("somebody else fetches it: %d", res.StatusCode)
				}
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the page never has it:\n%s", page)
			}
		}
	})
}
