package web_test

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/internal/signature"
)

var (
	shownSecret = regexp.MustCompile(`<pre id="secret">(whsec_[^<]+)</pre>`)
	hookAddress = regexp.MustCompile(`/account/webhooks/[0-9a-f-]{36}`)
)

// becomes reads a page until it has all parts: what the outbox writes down comes a moment after a message.
func (c *client) becomes(path string, parts ...string) string {
	c.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		page := c.page(path)
		missing := ""
		for _, part := range parts {
			if !strings.Contains(page, part) {
				missing = part
			}
		}
		if missing == "" {
			return page
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s never has %q:\n%s", path, missing, page)
		}
	}
}

// deed presses a button of a page, and gives the page that follows.
func (c *client) deed(path string, fields url.Values) string {
	c.t.Helper()
	res := c.form(path, fields)
	if res.StatusCode != http.StatusSeeOther {
		c.t.Fatalf("POST %s: %d %s", path, res.StatusCode, readAll(c.t, res.Body))
	}
	return c.page(res.Header.Get("Location"))
}

// giveUpDelivered marks messages of a type as given up once one is marked as delivered, a moment after the program has it.
func (h *house) giveUpDelivered(kind string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*time.Minute)
	defer cancel()
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Release()
	_, err = conn.Exec(ctx, `
		LISTEN delivered;
		CREATE FUNCTION tell_delivered() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NOTIFY delivered; RETURN NULL; END';
		CREATE TRIGGER delivered AFTER UPDATE ON webhook_messages FOR EACH ROW WHEN (NEW.status = 'delivered') EXECUTE FUNCTION tell_delivered()`)
	for given := int64(0); err == nil && given == 0; {
		tag, failed := conn.Exec(ctx, `UPDATE webhook_messages SET status = 'failed', ended_at = now() WHERE type = $1 AND status = 'delivered'`, kind)
		if given, err = tag.RowsAffected(), failed; err == nil && given == 0 {
			_, err = conn.Conn().WaitForNotification(ctx)
		}
	}
	if err != nil {
		h.t.Fatalf("no message is marked as delivered: %v", err)
	}
}

func TestHookPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withHooks()
	v, program := h.reader(), newProgram(t)
	signedBy := func(secret string) {
		t.Helper()
		r, body := program.arrived()
		key, err := signature.ParseSecret(secret)
		if err == nil {
			_, err = signature.Standard(r.Header, []byte(body), time.Now(), [][]byte{key})
		}
		if err != nil {
			t.Errorf("the message %s: %v", body, err)
		}
	}
	has(t, v.page("/account"), `href="/account/webhooks"`)

	var at, secret string
	t.Run("W21 an address that can't be used comes back with the reason, as it was typed", func(t *testing.T) {
		res := v.form("/account/webhooks", url.Values{"url": {"http://10.0.0.1/hook?a=1"}, "event": {"run.progress"}, "ordered": {"1"}})
		page := readAll(t, res.Body)
		if res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("status %d", res.StatusCode)
		}
		has(t, page, "expected https", `value="http://10.0.0.1/hook?a=1"`, `value="run.progress" checked`, `name="ordered" value="1" checked`)
		if strings.Contains(page, `value="run.finished" checked`) {
			t.Error("an event that was not chosen is")
		}
	})
	t.Run("W22 an address is added by a form; its secret is shown once and signs", func(t *testing.T) {
		page := readAll(t, v.form("/account/webhooks", url.Values{"url": {program.URL + "/hook"}, "event": {"run.finished"}}).Body)
		shown := shownSecret.FindStringSubmatch(page)
		if at = hookAddress.FindString(page); shown == nil || at == "" {
			t.Fatalf("no secret, or no address:\n%s", page)
		}
		secret = html.UnescapeString(shown[1])
		for _, path := range []string{at, "/account/webhooks"} {
			if page := v.page(path); strings.Contains(page, "whsec_") || !strings.Contains(page, program.URL+"/hook") {
				t.Errorf("%s shows the secret again, or not the address", path)
			}
		}
		has(t, v.deed(at+"/test", nil), "The test is on its way")
		signedBy(secret)
		has(t, v.becomes(at, "delivered"), "answered 200", "Last attempts: 1")
	})
	t.Run("W23 the secret is replaced; for a day both sign", func(t *testing.T) {
		page := readAll(t, v.form(at+"/rotate", nil).Body)
		shown := shownSecret.FindStringSubmatch(page)
		if shown == nil || html.UnescapeString(shown[1]) == secret {
			t.Fatalf("no other secret:\n%s", page)
		}
		has(t, page, "This is the new secret")
		for _, by := range []string{html.UnescapeString(shown[1]), secret} {
			v.deed(at+"/test", nil)
			signedBy(by)
		}
	})
	t.Run("W29 what failed is in the log with its attempts, and is sent again", func(t *testing.T) {
		program.status.Store(http.StatusInternalServerError)
		v.deed(at+"/test", nil)
		program.arrived()
		page := v.becomes(at, "answered 500", "in trouble")
		has(t, page, "out of order", "next attempt")
		id := regexp.MustCompile(`name="message" value="([0-9a-f-]{36})"`).FindStringSubmatch(page)
		program.status.Store(0)
		has(t, v.deed(at+"/resend", url.Values{"message": {id[1]}}), "The message is sent again")
		program.arrived()
		has(t, v.becomes(at, ">active<"), "Last attempts: 2", "answered 500", "answered 200")
	})
	t.Run("W25 a paused address is sent nothing, and then what it missed", func(t *testing.T) {
		has(t, v.deed(at+"/pause", nil), "It is paused.", "You have paused it", "Go on")
		has(t, v.page("/account/webhooks"), "paused")
		run := h.started(v, "wallpaper", url.Values{"width": {"64"}, "height": {"64"}})
		has(t, v.becomes(at, run.ID), "waiting")
		select {
		case m := <-program.got:
			t.Errorf("it was told %s", m.body)
		default:
		}
		has(t, v.deed(at+"/resume", nil), "It is sent to again.")
		if _, body := program.arrived(); !strings.Contains(body, run.ID) {
			t.Errorf("it was told %s", body)
		}
	})
	t.Run("W26 what was given up is sent again at once", func(t *testing.T) {
		v.becomes(at, ">active<")
		h.giveUpDelivered("run.finished")
		has(t, v.page(at), "given up", "Send again what failed")
		has(t, v.deed(at+"/recover", nil), "What failed is sent again.")
		program.arrived()
	})
	t.Run("others' addresses are not there, and nothing is done without the page's token", func(t *testing.T) {
		eve := h.visitor()
		eve.form("/signin", url.Values{"key": {h.developer("eve").key}})
		for _, request := range [][2]string{{"GET", ""}, {"POST", "/rotate"}, {"POST", "/test"}, {"POST", "/pause"}, {"POST", "/remove"}} {
			if res := eve.do(request[0], at+request[1], "application/x-www-form-urlencoded", nil); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s: %d", request[0], request[1], res.StatusCode)
			}
		}
		if res := v.form(at+"/explode", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("a deed that is none: %d", res.StatusCode)
		}
		if res := v.do("POST", at+"/remove", "application/x-www-form-urlencoded", nil, "X-CSRF-Token", "forged"); res.StatusCode != http.StatusForbidden {
			t.Errorf("a forged request: %d", res.StatusCode)
		}
	})
	t.Run("an address is removed", func(t *testing.T) {
		if page := v.deed(at+"/remove", nil); strings.Contains(page, program.URL) || !strings.Contains(page, "The address is removed.") {
			t.Error("it is still there")
		}
		if res := v.do("GET", at, "", nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("its page: %d", res.StatusCode)
		}
	})
}

func TestHookPagesInABrowser(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.withHooks()
	program := newProgram(t)
	program.status.Store(http.StatusServiceUnavailable)
	v := h.reader()
	v.form("/account/webhooks", url.Values{"url": {program.URL + "/paused"}, "event": {"run.finished"}, "ordered": {"1"}})
	v.deed(hookAddress.FindString(v.page("/account/webhooks"))+"/pause", nil)
	v.form("/account/webhooks", url.Values{"url": {program.URL + "/a/rather/long/path/that/programs/have?with=a&query=too"}, "event": {"run.started", "run.progress", "run.finished"}})
	troubled := hookAddress.FindAllString(v.page("/account/webhooks"), -1)[1]
	v.deed(troubled+"/test", nil)
	program.arrived()
	v.becomes(troubled, "answered 503")
	program.status.Store(0)
	pages := []struct{ name, path, wait string }{{"webhooks", "/account/webhooks", "#endpoints"}, {"webhook", troubled, "#log"}}
	for _, l := range looks {
		t.Run("A50 A61 the pages fit, are readable and accessible on a "+l.name, func(t *testing.T) {
			t.Parallel()
			ctx := l.open(t)
			for _, page := range pages {
				browsertest.Do(t, ctx, chromedp.Navigate(h.url+page.path), chromedp.WaitVisible(chromedp.CSS(page.wait)))
				if !browsertest.Is(t, ctx, browsertest.Fits) {
					t.Errorf("%s is wider than the window", page.name)
				}
				browsertest.Accessible(t, ctx, page.name)
				browsertest.Shot(t, ctx, page.name+"-"+l.name)
			}
		})
	}
	t.Run("an address is added and tried in a browser without JavaScript", func(t *testing.T) {
		t.Parallel()
		ctx, program := open(t, browsertest.Phone), newProgram(t)
		browsertest.Do(t, ctx, browsertest.WithoutScript(), chromedp.Navigate(h.url+"/account"), chromedp.WaitVisible(chromedp.CSS("#webhooks a")),
			chromedp.Click(chromedp.CSS("#webhooks a")), chromedp.WaitVisible(chromedp.CSS("#url")),
			chromedp.SendKeys(chromedp.CSS("#url"), program.URL+"/typed"), chromedp.Click(chromedp.CSS("#add button")), chromedp.WaitVisible(chromedp.CSS("#secret")))
		if got := browsertest.Text(t, ctx, "#secret"); !strings.HasPrefix(got, "whsec_") {
			t.Errorf("the secret reads %q", got)
		}
		browsertest.Shot(t, ctx, "webhook-added-phone")
		browsertest.Do(t, ctx, chromedp.Click(chromedp.CSS(`form[action$="/test"] button`)), chromedp.WaitVisible(chromedp.CSS("#log li")))
		if r, _ := program.arrived(); r.URL.Path != "/typed" {
			t.Errorf("the test went to %s", r.URL)
		}
	})
	for _, lang := range []string{"de", "es", "ru", "zh"} {
		t.Run("the pages fit in "+lang, func(t *testing.T) {
			t.Parallel()
			ctx := looks[0].open(t)
			for _, path := range []string{"/account/webhooks", troubled} {
				browsertest.Do(t, ctx, asksFor(lang), chromedp.Navigate(h.url+path), chromedp.WaitVisible(chromedp.CSS("main .panel")))
				if !browsertest.Is(t, ctx, browsertest.Fits) || !browsertest.Is(t, ctx, `document.documentElement.lang === "`+lang+`" && !document.body.innerText.includes("hooks.")`) {
					t.Errorf("%s is wider than the window, or speaks another language", path)
				}
				browsertest.Accessible(t, ctx, path)
				browsertest.Shot(t, ctx, "webhooks-"+lang)
			}
		})
	}
}
