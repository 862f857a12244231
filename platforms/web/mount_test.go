package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/door"
)

func TestMounts(t *testing.T) {
	t.Parallel()
	tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := web.Caller(r.Context())
		fmt.Fprint(w, ok, " ", a.DisplayName, " ", door.SessionID(r.Context()) != "")
	})
	h := newHouse(t, public(t, "https://127.0.0.1"), func(c *web.Config) {
		c.Mounts = []web.Mount{
			{Path: "GET /people/", Use: web.Read, Page: true, Handler: tell}, {Path: "GET /house/", Use: web.OperatorRead, Page: true, Handler: tell},
			{Path: "POST /house/", Use: web.OperatorChange, Page: true, Handler: tell}, {Path: "POST /machine", Use: web.Run, Handler: tell},
		}
	})
	stranger, dev, operator := h.visitor(), h.developer("ann"), h.visitor()
	operator.form("/signin", url.Values{"key": {adminToken}})

	t.Run("people are led to the sign-in page and back", func(t *testing.T) {
		landed(t, stranger.do("GET", "/people/x?y=1", "", nil), "/signin?next=%2Fpeople%2Fx%3Fy%3D1")
		if said := readAll(t, operator.do("GET", "/people/x", "", nil).Body); said != "true Operator true" {
			t.Errorf("told %q", said)
		}
	})
	t.Run("for all but operators there is nothing", func(t *testing.T) {
		if res := dev.do("GET", "/house/", "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
		if res := operator.do("GET", "/house/", "", nil); res.StatusCode != http.StatusOK {
			t.Errorf("status %d", res.StatusCode)
		}
		if res := operator.do("POST", "/house/", "", nil, "X-CSRF-Token", ""); res.StatusCode != http.StatusForbidden {
			t.Errorf("forged: %d", res.StatusCode)
		}
	})
	t.Run("the pages lead operators, and nobody else, to what is mounted for them; there is no second list of changes", func(t *testing.T) {
		has(t, operator.page("/"), `<a href="/house/"`)
		if res := operator.do("GET", "/changes", "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("/changes: %d", res.StatusCode)
		}
		ann := h.visitor()
		ann.form("/signin", url.Values{"key": {dev.key}})
		if strings.Contains(ann.page("/"), "/house/") {
			t.Error("ann is led there")
		}
		bare := newHouse(t)
		if page := bare.reader().page("/"); strings.Contains(page, `<a href=""`) || strings.Contains(page, "Operator") {
			t.Error("without anything for operators the pages lead them somewhere")
		}
	})
	t.Run("programs come with a key, and are told so", func(t *testing.T) {
		if res := stranger.do("POST", "/machine", "", nil); res.StatusCode != http.StatusUnauthorized || res.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("status %d, %v", res.StatusCode, res.Header)
		}
		if said := readAll(t, dev.do("POST", "/machine", "", nil).Body); said != "true ann false" {
			t.Errorf("told %q", said)
		}
	})
}

func TestMountsAnswerSoManyAtOnce(t *testing.T) {
	t.Parallel()
	may := make(chan struct{})
	h := newHouse(t, func(c *web.Config) {
		c.Mounts = []web.Mount{{Path: "POST /slow", Use: web.Run, AtOnce: 2, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-may })}}
	})
	answers := make(chan int)
	ask := func(who *client) { answers <- who.do("POST", "/slow", "", nil).StatusCode }
	ann, bob := h.developer("ann"), h.developer("bob")
	for range 3 {
		go ask(ann)
	}
	if status := <-answers; status != http.StatusTooManyRequests {
		t.Errorf("the third: %d", status)
	}
	go ask(bob)
	close(may)
	for range 3 {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	if status := ann.do("POST", "/slow", "", nil).StatusCode; status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}
