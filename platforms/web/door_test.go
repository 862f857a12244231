package web_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/account"
	"github.com/signalbox/signalbox/users"
)

// TestWaysInInABrowser opens the pages that let people in, with pictures for people to look at.
func TestWaysInInABrowser(t *testing.T) {
	t.Parallel()
	d := newDiscord(t)
	// Secure cookies need https, which the browser does not speak here.
	at, err := url.Parse("http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	var home string
	telegram := telegramPage(t, &home, map[string]string{"id": "7", "first_name": "Анна + Co", "auth_date": fmt.Sprint(time.Now().Unix())})
	h := newHouse(t, d.login(), func(c *web.Config) {
		c.Public, c.Telegram = at, &account.TelegramLogin{BotToken: botToken, AuthURL: telegram}
	})
	home = h.url
	ann := h.visitor().person(h, "telegram", "7", "Ann")
	code, err := h.users.NewLinkCode(t.Context(), ann.ID)
	if err != nil {
		t.Fatal(err)
	}
	secret, _, err := users.NewInvitations(h.users, h.gift).Create(t.Context(), users.Invitation{Note: "Bob", Credit: 5_000_000_000, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	desk := open(t, browsertest.Window{Width: 1200, Height: 800})
	for name, path := range map[string]string{"signin": "/signin", "link": "/link?code=" + code.Code, "invitation": "/invite/" + secret} {
		browsertest.Do(t, desk, chromedp.Navigate(h.url+path))
		if !browsertest.Is(t, desk, browsertest.Fits) {
			t.Errorf("%s sticks out sideways", path)
		}
		browsertest.Accessible(t, desk, name)
		browsertest.Shot(t, desk, name+"-desktop")
	}

	phone := open(t, browsertest.Phone)
	browsertest.Do(t, phone, chromedp.Navigate(h.url+"/signin"))
	browsertest.Shot(t, phone, "signin-phone")
	browsertest.Do(t, phone, chromedp.SendKeys(chromedp.CSS("#key"), "WRONG-CODE"), chromedp.Click(chromedp.CSS("main button.primary")), chromedp.WaitVisible(chromedp.CSS(".problem")))
	browsertest.Shot(t, phone, "signin-wrong-phone")
	browsertest.Do(t, phone, chromedp.SendKeys(chromedp.CSS("#key"), code.Code), chromedp.Click(chromedp.CSS("main button.primary")), chromedp.WaitVisible(chromedp.CSS("#balance")))
	browsertest.Do(t, phone, chromedp.Navigate(h.url+"/invite/"+secret))
	if said := browsertest.Text(t, phone, "main"); !strings.Contains(said, "Bob") || !strings.Contains(said, "Ann") {
		t.Errorf("the invitation says %q", said)
	}

	t.Run("Telegram's answer in the address's fragment signs in", func(t *testing.T) {
		ctx := open(t, browsertest.Phone)
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/signin?next=/history"), chromedp.Click(chromedp.CSS(".ways a")), chromedp.WaitVisible(chromedp.CSS("#balance")))
		if !browsertest.Is(t, ctx, `location.pathname === "/history"`) {
			t.Error("it leads elsewhere")
		}
	})
}

// telegramPage stands in for Telegram's page for signing in: anyone who comes agrees, and is sent back to the house at home
// with the answer where only a script can read it.
func telegramPage(t *testing.T, home *string, fields map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		back, err := url.Parse(r.FormValue("return_to"))
		if err != nil || r.FormValue("bot_id") != "123456" {
			http.Error(w, "Bot domain invalid", http.StatusBadRequest)
			return
		}
		members := map[string]any{}
		for k, v := range telegramAnswer(botToken, fields) {
			members[k] = v[0]
		}
		answer, err := json.Marshal(members)
		if err != nil {
			t.Error(err)
		}
		http.Redirect(w, r, *home+back.RequestURI()+"#tgAuthResult="+base64.RawURLEncoding.EncodeToString(answer), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
