package web_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// initData is what Telegram opens a Mini App with, signed as core.telegram.org/bots/webapps says.
func initData(token, user string, made time.Time) string {
	data := url.Values{"query_id": {"AAH_test"}, "user": {user}, "auth_date": {fmt.Sprint(made.Unix())}, "signature": {"of-a-third-party"}}
	var lines []string
	for name := range data {
		lines = append(lines, name+"="+data.Get(name))
	}
	slices.Sort(lines)
	sign := func(key []byte, text string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	data.Set("hash", hex.EncodeToString(sign(sign([]byte("WebAppData"), token), strings.Join(lines, "\n"))))
	return data.Encode()
}

func telegramUser(id int) string {
	return fmt.Sprintf(`{"id":%d,"first_name":"Ann","last_name":"Lee","username":"ann","language_code":"en"}`, id)
}

// opens sends a Mini App's data as its page does.
func (c *client) opens(data string) *http.Response {
	c.t.Helper()
	_, rest, _ := strings.Cut(readAll(c.t, c.do("GET", "/app", "", nil).Body), `name="csrf-token" content="`)
	token, _, _ := strings.Cut(rest, `"`)
	return c.do("POST", "/app", "application/x-www-form-urlencoded", strings.NewReader(url.Values{"data": {data}}.Encode()), "X-CSRF-Token", token)
}

func TestMiniApp(t *testing.T) {
	t.Parallel()
	h := publicHouse(t, public(t, "https://127.0.0.1"))
	now := time.Now()

	t.Run("what Telegram signed opens the person's own account", func(t *testing.T) {
		chatter := h.visitor().person(h, "telegram", "501", "Ann")
		v := h.visitor()
		res := v.opens(initData(botToken, telegramUser(501), now))
		landed(t, res, "/")
		cookie := strings.Join(res.Header.Values("Set-Cookie"), "\n")
		for _, want := range []string{"__Host-signalbox-app=", "HttpOnly", "SameSite=None", "Secure", "Partitioned"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("the cookie lacks %s: %s", want, cookie)
			}
		}
		if v.accountID() != chatter.ID {
			t.Error("it is another account")
		}
	})
	t.Run("what is old, forged, changed, of another bot or of the other way to sign in opens nothing", func(t *testing.T) {
		good := initData(botToken, telegramUser(502), now)
		for name, data := range map[string]string{
			"old":           initData(botToken, telegramUser(502), now.Add(-61*time.Minute)),
			"of the future": initData(botToken, telegramUser(502), now.Add(10*time.Minute)),
			"another bot's": initData("999999:another-bot-of-somebody-else-which-is-long", telegramUser(502), now),
			"changed":       strings.Replace(good, "502", "503", 1),
			"doubled":       good + "&user=" + url.QueryEscape(telegramUser(503)),
			"unsigned":      strings.Split(good, "&hash=")[0],
			"empty":         "",
			"nobody":        initData(botToken, `{"id":0}`, now),
			"a bot":         initData(botToken, `{"id":504,"is_bot":true}`, now),
			"of the widget": telegramAnswer(botToken, map[string]string{"id": "502", "auth_date": fmt.Sprint(now.Unix())}).Encode(),
		} {
			v := h.visitor()
			if res := v.opens(data); res.StatusCode < 400 || strings.Contains(strings.Join(res.Header.Values("Set-Cookie"), ""), "signalbox-app=") {
				t.Errorf("%s: status %d", name, res.StatusCode)
			}
		}
	})
	t.Run("the data is good once, and again only for who came with it", func(t *testing.T) {
		data := initData(botToken, telegramUser(505), now)
		v := h.visitor()
		landed(t, v.opens(data), "/")
		landed(t, v.opens(data), "/")
		if res := h.visitor().opens(data); res.StatusCode < 400 {
			t.Errorf("a thief got status %d", res.StatusCode)
		}
	})
	t.Run("only pages of such a visit may be framed, and by Telegram alone", func(t *testing.T) {
		v := h.visitor()
		framers := func(path string) string {
			_, list, _ := strings.Cut(v.do("GET", path, "", nil).Header.Get("Content-Security-Policy"), "frame-ancestors ")
			list, _, _ = strings.Cut(list, ";")
			return list
		}
		if got := framers("/signin"); got != "'none'" {
			t.Errorf("a page elsewhere may be framed by %s", got)
		}
		if got := framers("/app"); got != "https://web.telegram.org" {
			t.Errorf("the Mini App may be framed by %s", got)
		}
		landed(t, v.opens(initData(botToken, telegramUser(506), now)), "/")
		if got := framers("/history"); got != "https://web.telegram.org" {
			t.Errorf("a page in the Mini App may be framed by %s", got)
		}
	})
	t.Run("a page of another site can't open or use it", func(t *testing.T) {
		v := h.visitor()
		body := url.Values{"data": {initData(botToken, telegramUser(507), now)}}.Encode()
		if res := v.do("POST", "/app", "application/x-www-form-urlencoded", strings.NewReader(body), "X-CSRF-Token", "none"); res.StatusCode != http.StatusForbidden {
			t.Errorf("without the page's token: status %d", res.StatusCode)
		}
		landed(t, v.opens(initData(botToken, telegramUser(508), now)), "/")
		if res := v.do("POST", "/signout", "application/x-www-form-urlencoded", strings.NewReader(""), "Sec-Fetch-Site", "cross-site"); res.StatusCode != http.StatusForbidden {
			t.Errorf("across sites: status %d", res.StatusCode)
		}
	})
}

// telegramTheme is a dark theme of Telegram's.
const telegramTheme = `{"bg_color":"#17212b","text_color":"#f5f5f5","hint_color":"#9eb0c2","link_color":"#6ab3f3","button_color":"#5288c1","button_text_color":"#ffffff","secondary_bg_color":"#232e3c","section_bg_color":"#17212b","subtitle_text_color":"#9eb0c2","destructive_text_color":"#ec7a78"}`

func TestMiniAppInABrowser(t *testing.T) {
	t.Parallel()
	h := publicHouse(t, public(t, "http://127.0.0.1"))
	launch := func(data string) string {
		return h.url + "/app#tgWebAppData=" + url.QueryEscape(data) + "&tgWebAppVersion=8.0&tgWebAppPlatform=android&tgWebAppThemeParams=" + url.QueryEscape(telegramTheme)
	}
	// The app around the page is played by what Telegram's mobile apps put into it.
	const telegramApp = `window.posted = []; window.TelegramWebviewProxy = { postEvent: (type, data) => posted.push([type, JSON.parse(data)]) };`
	opened := func(t *testing.T, data string) context.Context {
		ctx := browsertest.Open(t, browsertest.Window{Width: 390, Height: 780, Expected: func(text, _ string) bool { return strings.Contains(text, "status of 4") }})
		browsertest.Do(t, ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: telegramApp})
			return err
		}), chromedp.Navigate(launch(data)))
		return ctx
	}
	posted := func(event string) string { return `posted.findLast(p => p[0] === "` + event + `")?.[1]` }

	t.Run("good data leads to the tools, in Telegram's colours, with its buttons", func(t *testing.T) {
		t.Parallel()
		ctx := opened(t, initData(botToken, telegramUser(601), time.Now()))
		browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS(".tools")))
		for what, script := range map[string]string{
			"the ground is Telegram's": `getComputedStyle(document.documentElement).backgroundColor === "rgb(35, 46, 60)"`,
			"it is dark":               `document.documentElement.style.colorScheme === "dark"`,
			"no way back at the start": posted("web_app_setup_back_button") + `.is_visible === false`,
			"it is ready, and large":   `["web_app_ready", "web_app_expand"].every(e => posted.some(p => p[0] === e))`,
			"it fits":                  browsertest.Fits,
		} {
			if !browsertest.Is(t, ctx, script) {
				t.Errorf("not so: %s", what)
			}
		}
		browsertest.Shot(t, ctx, "miniapp-tools")
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/tool/wallpaper"), chromedp.WaitVisible(chromedp.CSS("#inputs")))
		for what, script := range map[string]string{
			"Telegram's button runs it": posted("web_app_setup_main_button") + `.is_visible && ` + posted("web_app_setup_main_button") + `.text === document.getElementById("start").textContent.trim()`,
			"ours is not there twice":   `getComputedStyle(document.getElementById("start")).display === "none"`,
			"there is a way back":       posted("web_app_setup_back_button") + `.is_visible === true`,
		} {
			if !browsertest.Is(t, ctx, script) {
				t.Errorf("not so: %s", what)
			}
		}
		browsertest.Shot(t, ctx, "miniapp-form")
		browsertest.Do(t, ctx, chromedp.SetValue(chromedp.CSS(`[name=width]`), "320"), chromedp.SetValue(chromedp.CSS(`[name=height]`), "200"))
		browsertest.Is(t, ctx, `Telegram.WebView.receiveEvent("main_button_pressed"), true`)
		browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS(".results img")))
		browsertest.Shot(t, ctx, "miniapp-result")
		browsertest.Is(t, ctx, `Telegram.WebView.receiveEvent("theme_changed", {theme_params: {bg_color: "#ffffff", secondary_bg_color: "#efeff4", text_color: "#000000"}}), true`)
		if !browsertest.Is(t, ctx, `document.documentElement.style.colorScheme === "light" && getComputedStyle(document.documentElement).backgroundColor === "rgb(239, 239, 244)"`) {
			t.Error("the page does not follow Telegram's colours")
		}
		// The way back leads to the form as it was before the run, which is loaded anew, and from there to the tools.
		browsertest.Is(t, ctx, `document.documentElement.dataset.before = "", true`)
		browsertest.Leave(t, ctx, `Telegram.WebView.receiveEvent("back_button_pressed")`)
		browsertest.Becomes(t, ctx, `location.pathname + location.search === "/tool/wallpaper" && document.readyState === "complete" && !("before" in document.documentElement.dataset)`)
		browsertest.Leave(t, ctx, `Telegram.WebView.receiveEvent("back_button_pressed")`)
		browsertest.Becomes(t, ctx, `location.pathname === "/" && document.querySelector(".tools") !== null`)
	})
	for name, data := range map[string]string{
		"old data":           initData(botToken, telegramUser(602), time.Now().Add(-2*time.Hour)),
		"forged data":        strings.Replace(initData(botToken, telegramUser(602), time.Now()), "602", "603", 1),
		"data for other bot": initData("999999:another-bot-of-somebody-else-which-is-long", telegramUser(602), time.Now()),
	} {
		t.Run(name+" is refused in words", func(t *testing.T) {
			t.Parallel()
			ctx := opened(t, data)
			browsertest.Do(t, ctx, chromedp.WaitVisible(chromedp.CSS(".problem")))
			if text := browsertest.Text(t, ctx, ".problem"); !strings.Contains(text, "open it from the bot again") {
				t.Errorf("it says %q", text)
			}
			browsertest.Shot(t, ctx, "miniapp-refused")
		})
	}
	t.Run("outside of Telegram it says where to go", func(t *testing.T) {
		t.Parallel()
		ctx := browsertest.Open(t, browsertest.Phone)
		browsertest.Do(t, ctx, chromedp.Navigate(h.url+"/app"), chromedp.WaitVisible(chromedp.CSS("#outside")))
		if text, _ := json.Marshal(browsertest.Text(t, ctx, "#outside")); !strings.Contains(string(text), "Telegram") {
			t.Errorf("it says %s", text)
		}
	})
}
