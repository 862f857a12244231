package webchat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/webchat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// maxFile keeps the suite's too large file small.
const maxFile = 4 << 20

// harness is the web server with its pages, and people with browsers, as the conformance suite wants its
// platforms. The people here are those that the sessions know; the suite's house knows them by their identities.
type harness struct {
	pool   *pgxpool.Pool
	people *users.Store
	files  housetest.Files
	server *httptest.Server

	mu       sync.Mutex
	adapter  *webchat.Adapter
	pages    *web.Server
	current  http.Handler
	browsers map[string]*browser // by person
	rooms    map[string]*browser // by conversation
	last     func(testing.TB)
	notices  map[string][]chattest.Notice
	refusals int
	pause    time.Duration
}

var (
	_ chattest.Harness     = (*harness)(nil)
	_ chattest.MessageMenu = (*harness)(nil)
	_ chattest.Chooser     = (*harness)(nil)
	_ chattest.FormFiller  = (*harness)(nil)
	_ chattest.Localizer   = (*harness)(nil)
)

func newHarness(t testing.TB) *harness {
	t.Helper()
	pool := postgrestest.NewSized(t, 4)
	ledger := billing.NewLedger(pool)
	h := &harness{
		pool: pool, files: housetest.NewFiles(t, pool), browsers: map[string]*browser{}, rooms: map[string]*browser{},
		notices: map[string][]chattest.Notice{},
	}
	h.people = users.New(pool, users.Config{OnCreate: housetest.Welcome(ledger, billing.Dollar)})
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		current := h.current
		h.mu.Unlock()
		current.ServeHTTP(w, r)
	}))
	t.Cleanup(h.server.Close)
	return h
}

// pagesRuns is what the frame of the page asks of runs: nothing but files.
type pagesRuns struct {
	web.Runs
	files housetest.Files
	pool  *pgxpool.Pool
}

func (r pagesRuns) OwnersOf(ctx context.Context, ref registry.Media, reader assets.Reader) ([]string, error) {
	return assets.Owners(ctx, r.pool, assets.Ref(ref), reader)
}

func (r pagesRuns) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return r.files.OpenMedia(ctx, ref)
}

func (r pagesRuns) Thumbnail(ctx context.Context, ref registry.Media, side int) (mime string, content []byte, err error) {
	return assets.NewThumbnails(r.pool).Get(ctx, assets.Ref(ref), side, func(ctx context.Context) (io.ReadCloser, error) {
		original, _, err := r.OpenMedia(ctx, ref)
		return original, err
	})
}

// connect makes the adapter and the pages anew.
func (h *harness) connect(t testing.TB) *webchat.Adapter {
	t.Helper()
	adapter, err := webchat.New(webchat.Config{
		Pool: h.pool, Files: h.files, People: h.people, Logger: slog.New(slog.DiscardHandler), MaxFile: maxFile,
		FilePath:  func(owner string, ref registry.Media, name string) string { return h.pages.FilePath(owner, ref, name) },
		ThumbPath: func(owner string, ref registry.Media) string { return h.pages.ThumbPath(owner, ref) },
		Upload: func(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
			return h.files.Keep(ctx, r, assets.Meta{Name: name, Owner: accountID, Kind: assets.Upload})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	reg, err := catalog.New(catalog.Config{})
	if err != nil {
		t.Fatal(err)
	}
	h.adapter = adapter
	h.serve(t, reg, pagesRuns{files: h.files, pool: h.pool})
	return adapter
}

// serve draws the pages around the conversation with these tools and runs.
func (h *harness) serve(t testing.TB, reg *catalog.Registry, service web.Runs) {
	t.Helper()
	pages, err := web.New(web.Config{
		Registry: reg, Runs: service, Users: h.people, Ledger: billing.NewLedger(h.pool), Conversation: h.adapter,
		LinkKey: []byte("a key for the tests that is long"), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.pages, h.current = pages, pages.Handler()
	h.mu.Unlock()
}

func (h *harness) Connect(t testing.TB) chattest.Connection {
	a := h.connect(t)
	return chattest.Connection{Adapter: watched{a, h}, Run: a.Run}
}

// watched notes what the adapter was asked for, and refuses it when it is told to.
type watched struct {
	*webchat.Adapter
	h *harness
}

func (w watched) refuse() error {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	if w.h.refusals == 0 {
		return nil
	}
	w.h.refusals--
	return &registry.Error{Code: registry.CodeRateLimited, Message: "too many requests", Retryable: true, RetryAfter: w.h.pause}
}

func (w watched) note(room, id, kind string) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.notices[room] = append(w.h.notices[room], chattest.Notice{MessageID: id, Kind: kind, At: time.Now()})
}

func (w watched) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	if err := w.refuse(); err != nil {
		return nil, err
	}
	refs, err := w.Adapter.Send(ctx, m)
	for _, ref := range refs {
		w.note(m.To.Chat, ref.ID, "sent")
	}
	return refs, err
}

func (w watched) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	if err := w.refuse(); err != nil {
		return ref, err
	}
	changed, err := w.Adapter.Edit(ctx, ref, m)
	if err == nil {
		w.note(ref.Chat, ref.ID, "edited")
	}
	return changed, err
}

func (w watched) Delete(ctx context.Context, ref chat.MessageRef) error {
	err := w.Adapter.Delete(ctx, ref)
	if err == nil {
		w.note(ref.Chat, ref.ID, "deleted")
	}
	return err
}

// browser is somebody's browser with the page open.
type browser struct {
	h       *harness
	account users.Account
	http    *http.Client
	token   string

	mu    sync.Mutex
	after string
	seen  []*line
	byID  map[int64]*line
	files map[string][]byte
}

// line is a message on the page.
type line struct {
	id   int64
	mine bool
	gone bool
	html string
}

func (h *harness) Private(p chattest.Person) chattest.Room {
	b := h.browser(p)
	return chattest.Room{ID: b.account.ID, Kind: chat.ChatPrivate}
}

// browser signs a person in.
func (h *harness) browser(p chattest.Person) *browser {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.browsers[p.ID]; b != nil {
		return b
	}
	account, err := h.people.Identify(context.Background(), users.Identity{Platform: web.Platform, ExternalID: p.ID, Name: p.Name, Language: p.Language})
	check(err)
	b := h.signIn(account)
	h.browsers[p.ID], h.rooms[account.ID] = b, b
	return b
}

func (h *harness) signIn(account users.Account) *browser {
	secret, err := h.people.NewSession(context.Background(), users.Session{AccountID: account.ID, Way: "code"})
	check(err)
	jar, err := cookiejar.New(nil)
	check(err)
	address, err := url.Parse(h.server.URL)
	check(err)
	jar.SetCookies(address, []*http.Cookie{{Name: "signalbox", Value: secret, Path: "/"}})
	return &browser{h: h, account: account, http: &http.Client{Jar: jar}, byID: map[int64]*line{}, files: map[string][]byte{}}
}

// check is for what can't fail but by a fault of the harness.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func (h *harness) Group(string) chattest.Room { return chattest.Room{} }

// csrf is the token of the page, which it is opened for.
func (b *browser) csrf(t testing.TB) string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.token == "" {
		page := b.get(t, "/chat", "text/html")
		found := regexp.MustCompile(`name="csrf__token" value="([^"]+)"`).FindStringSubmatch(string(page))
		if found == nil {
			t.Fatalf("the page has no token:\n%s", page)
		}
		b.token = found[1]
	}
	return b.token
}

func (b *browser) get(t testing.TB, path, accept string) []byte {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, b.h.server.URL+path, nil)
	check(err)
	req.Header.Set("Accept", accept)
	res, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %v %s\n%s", path, err, res.Status, body)
	}
	return body
}

// told is the answer to a form that the script sends.
type told struct {
	Text    string
	Alert   bool
	Message int64
	Dialog  string
}

// form sends a form as the page's script does, and remembers how to send it again.
func (b *browser) form(t testing.TB, path string, files []chattest.File, pairs ...string) told {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	pairs = append(pairs, "csrf__token", b.csrf(t))
	for i := 0; i < len(pairs); i += 2 {
		check(form.WriteField(pairs[i], pairs[i+1]))
	}
	for _, f := range files {
		header := textproto.MIMEHeader{}
		header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="files"; filename=%q`, f.Name))
		header.Set("Content-Type", f.MIMEType)
		part, err := form.CreatePart(header)
		check(err)
		_, err = part.Write(f.Data)
		check(err)
	}
	check(form.Close())
	send := func(t testing.TB) (answer told) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, b.h.server.URL+path, bytes.NewReader(body.Bytes()))
		check(err)
		req.Header.Set("Content-Type", form.FormDataContentType())
		req.Header.Set("Accept", "application/json")
		res, err := b.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(raw, &answer) != nil {
			t.Fatalf("POST %s: %v %s\n%s", path, err, res.Status, raw)
		}
		return answer
	}
	b.h.mu.Lock()
	b.h.last = func(t testing.TB) { send(t) }
	b.h.mu.Unlock()
	return send(t)
}

var nonces struct {
	sync.Mutex
	n int
}

func nonce() string {
	nonces.Lock()
	defer nonces.Unlock()
	nonces.n++
	return "nonce" + strconv.Itoa(nonces.n)
}

func (h *harness) Post(t testing.TB, p chattest.Post) string {
	t.Helper()
	answer := h.browser(p.From).form(t, "/chat/say", p.Files, "text", p.Text, "reply", p.ReplyTo, "nonce__", nonce())
	return strconv.FormatInt(answer.Message, 10)
}

func (h *harness) Repeat(t testing.TB) {
	h.mu.Lock()
	last := h.last
	h.mu.Unlock()
	last(t)
}

func (h *harness) Press(t testing.TB, by chattest.Person, in chattest.Room, messageID, label string) chat.PressAnswer {
	t.Helper()
	for _, key := range h.browser(by).find(t, messageID).all("button") {
		if key.text() == label && key.attr("name") == "data" {
			return h.PressData(t, by, in, messageID, key.attr("value"))
		}
	}
	t.Fatalf("no button %q under message %s", label, messageID)
	return chat.PressAnswer{}
}

func (h *harness) PressData(t testing.TB, by chattest.Person, _ chattest.Room, messageID, data string) chat.PressAnswer {
	t.Helper()
	return h.browser(by).form(t, "/chat/press", nil, "message__", whole(messageID), "nonce__", nonce(), "data", data).answer(t)
}

// whole is the id of the message that an item of an album belongs to.
func whole(id string) string {
	id, _, _ = strings.Cut(id, "/")
	return id
}

// answer reads a dialog as people do.
func (a told) answer(t testing.TB) chat.PressAnswer {
	t.Helper()
	answer := chat.PressAnswer{Text: a.Text, Alert: a.Alert}
	if a.Dialog == "" {
		return answer
	}
	d := parse(t, a.Dialog)
	form := &chat.Form{Title: d.all("h2")[0].text()}
	labels := map[string]string{}
	for _, l := range d.all("label") {
		labels[l.attr("for")] = l.text()
	}
	for _, in := range append(d.all("input"), d.all("textarea")...) {
		name := in.attr("name")
		if name == "data__" {
			form.Data = in.attr("value")
		}
		if field, ok := strings.CutPrefix(name, "field."); ok {
			value := in.attr("value")
			if in.name == "textarea" {
				value = in.text()
			}
			form.Fields = append(form.Fields, chat.FormField{Name: field, Label: labels[in.attr("id")], Value: value, Required: in.has("required"), Multiline: in.name == "textarea"})
		}
	}
	answer.Form = form
	return answer
}

func (h *harness) Choose(t testing.TB, by chattest.Person, _ chattest.Room, messageID string, labels ...string) chat.PressAnswer {
	t.Helper()
	for _, form := range h.browser(by).find(t, messageID).all("form") {
		if form.attr("class") != "choose" {
			continue
		}
		pairs := []string{"message__", whole(messageID), "nonce__", nonce()}
		for _, in := range form.all("input") {
			if in.attr("name") == "data" {
				pairs = append(pairs, "data", in.attr("value"))
			}
		}
		found := 0
		for _, o := range options(form) {
			for _, label := range labels {
				if o.label == label {
					pairs = append(pairs, "values", o.value)
					found++
				}
			}
		}
		if found == len(labels) {
			return h.browser(by).form(t, "/chat/press", nil, pairs...).answer(t)
		}
	}
	t.Fatalf("no menu under message %s has %q", messageID, labels)
	return chat.PressAnswer{}
}

type option struct {
	label, value string
	chosen       bool
}

// options are the entries of a menu, of either look.
func options(form *node) []option {
	var list []option
	for _, o := range form.all("option") {
		if o.attr("value") != "" {
			label, _, _ := strings.Cut(o.text(), " – ")
			list = append(list, option{label, o.attr("value"), o.has("selected")})
		}
	}
	for _, l := range form.all("label") {
		for _, in := range l.all("input") {
			list = append(list, option{strings.TrimSpace(l.text()), in.attr("value"), in.has("checked")})
		}
	}
	return list
}

func (h *harness) Fill(t testing.TB, by chattest.Person, _ chattest.Room, messageID string, form chat.Form, values map[string]string) chat.PressAnswer {
	t.Helper()
	pairs := []string{"message__", whole(messageID), "nonce__", nonce(), "data__", form.Data}
	for _, f := range form.Fields {
		value, ok := values[f.Label]
		if !ok {
			value = f.Value
		}
		pairs = append(pairs, "field."+f.Name, value)
	}
	return h.browser(by).form(t, "/chat/form", nil, pairs...).answer(t)
}

func (h *harness) UseOn(t testing.TB, by chattest.Person, _ chattest.Room, messageID, entry string) {
	t.Helper()
	for _, b := range h.browser(by).find(t, messageID).all("button") {
		if b.attr("name") == "use" && b.text() == entry {
			h.browser(by).form(t, "/chat/use", nil, "message__", whole(messageID), "nonce__", nonce(), "use", b.attr("value"))
			return
		}
	}
	t.Fatalf("the menu of message %s has no %q", messageID, entry)
}

// Entries looks at the menu of a message with a picture that somebody has sent.
func (h *harness) Entries(t testing.TB) []string {
	t.Helper()
	b := h.browser(chattest.Person{ID: "1", Name: "Reader", Language: "en"})
	if len(b.look(t)) == 0 {
		red := chattest.File{Name: "red.png", MIMEType: "image/png", Data: onePixel}
		b.form(t, "/chat/say", []chattest.File{red}, "text", "", "nonce__", nonce())
	}
	list := b.look(t)
	var names []string
	for _, l := range list[:1] {
		b.mu.Lock()
		b.after, b.seen, b.byID = "", nil, map[int64]*line{} // entries are drawn with the message
		b.mu.Unlock()
		for _, button := range b.find(t, strconv.FormatInt(l.id, 10)).all("button") {
			if button.attr("name") == "use" {
				names = append(names, button.text())
			}
		}
	}
	return names
}

// look asks for what is new in the conversation and gives it all.
func (b *browser) look(t testing.TB) []*line {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	req, err := http.NewRequest(http.MethodGet, b.h.server.URL+"/chat/events", nil)
	check(err)
	req.Header.Set("Last-Event-ID", b.after)
	res, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for event := range events(res.Body) {
		if event.name == "current" {
			break
		}
		b.take(t, event)
	}
	return b.seen
}

// take puts a message in its place. It needs b.mu.
func (b *browser) take(t testing.TB, e event) {
	t.Helper()
	var m struct {
		ID   int64
		Mine bool
		HTML string
	}
	if err := json.Unmarshal([]byte(e.data), &m); err != nil {
		t.Fatalf("the event %q: %v", e.data, err)
	}
	l := b.byID[m.ID]
	if l == nil {
		l = &line{id: m.ID, mine: m.Mine}
		b.byID[m.ID] = l
		b.seen = append(b.seen, l)
	}
	l.html, l.gone, b.after = m.HTML, m.HTML == "", e.id
}

type event struct{ id, name, data string }

// events reads server-sent events.
func events(r io.Reader) func(func(event) bool) {
	return func(yield func(event) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		var e event
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
				if e != (event{}) && !yield(e) {
					return
				}
				e = event{}
			}
		}
	}
}

// find gives a message of the page.
func (b *browser) find(t testing.TB, id string) *node {
	t.Helper()
	for _, l := range b.look(t) {
		if strconv.FormatInt(l.id, 10) == whole(id) && !l.gone {
			return parse(t, l.html)
		}
	}
	t.Fatalf("there is no message %s", id)
	return nil
}

func (h *harness) Messages(t testing.TB, in chattest.Room) []chattest.Seen {
	t.Helper()
	h.mu.Lock()
	b := h.rooms[in.ID]
	h.mu.Unlock()
	var list []chattest.Seen
	for _, l := range b.look(t) {
		if !l.mine && !l.gone {
			list = append(list, b.see(t, l)...)
		}
	}
	return list
}

// see reads a message as people do. An album is one for each item.
func (b *browser) see(t testing.TB, l *line) []chattest.Seen {
	t.Helper()
	m := parse(t, l.html)
	s := chattest.Seen{ID: strconv.FormatInt(l.id, 10)}
	for _, d := range m.all("div") {
		switch d.attr("class") {
		case "text":
			s.Text = d.text()
		case "row":
			var labels []string
			for _, key := range append(d.all("button"), d.all("a")...) {
				labels = append(labels, key.text())
			}
			s.Buttons = append(s.Buttons, labels)
		}
	}
	for _, a := range m.all("a") {
		if a.attr("class") == "quoted" {
			s.ReplyTo = strings.TrimPrefix(a.attr("href"), "#m")
		}
	}
	for _, form := range m.all("form") {
		if form.attr("class") == "choose" {
			var menu chattest.SeenMenu
			for _, o := range options(form) {
				menu.Options = append(menu.Options, o.label)
				if o.chosen {
					menu.Chosen = append(menu.Chosen, o.label)
				}
			}
			s.Menus = append(s.Menus, menu)
		}
	}
	list := []chattest.Seen{}
	for i, f := range b.media(t, m) {
		item := s
		if i > 0 {
			item = chattest.Seen{ID: s.ID + "/" + strconv.Itoa(i)}
		}
		item.Media, item.Alt, item.Spoiler = f.file, f.alt, f.covered
		list = append(list, item)
	}
	if len(list) == 0 {
		list = append(list, s)
	}
	return list
}

type shownFile struct {
	file    *chattest.File
	alt     string
	covered bool
}

// media loads the files of a message.
func (b *browser) media(t testing.TB, m *node) []shownFile {
	t.Helper()
	covered := map[*node]bool{}
	for _, d := range m.all("details") {
		if d.attr("class") == "spoiler" {
			for _, inside := range d.all("") {
				covered[inside] = true
			}
		}
	}
	var list []shownFile
	for _, n := range m.all("") {
		if n.attr("data-kind") == "" {
			continue
		}
		address, alt := n.attr("src")+n.attr("href"), n.attr("aria-label")
		for _, img := range n.all("img") {
			alt = img.attr("alt")
		}
		name := address[strings.LastIndex(address, "/")+1:]
		list = append(list, shownFile{
			&chattest.File{Kind: chat.MediaKind(n.attr("data-kind")), Name: name, Data: b.load(t, address)}, alt, covered[n],
		})
	}
	return list
}

func (b *browser) load(t testing.TB, address string) []byte {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.files[address] == nil {
		b.files[address] = b.get(t, address, "*/*")
	}
	return b.files[address]
}

func (h *harness) Notices(_ testing.TB, in chattest.Room) []chattest.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]chattest.Notice(nil), h.notices[in.ID]...)
}

// offered is what the composer offers after a text.
func (b *browser) offered(t testing.TB, typed, language string) (list []struct{ Text, Label, About string }) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, b.h.server.URL+"/chat/offers?text="+url.QueryEscape(typed), nil)
	check(err)
	req.Header.Set("Accept-Language", language)
	res, err := b.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// Commands types a slash and each letter that a command can begin with. All chats here are of one kind.
func (h *harness) Commands(t testing.TB, _ chat.ChatKind) []string {
	t.Helper()
	b := h.browser(chattest.Person{ID: "1", Name: "Reader", Language: "en"})
	var names []string
	for letter := 'a'; letter <= 'z'; letter++ {
		for _, o := range b.offered(t, "/"+string(letter), "en") {
			names = append(names, strings.TrimPrefix(o.Label, "/"))
		}
	}
	return names
}

func (h *harness) Description(t testing.TB, _ chat.ChatKind, name, language string) string {
	t.Helper()
	b := h.browser(chattest.Person{ID: "2", Name: "Reader"})
	for _, o := range b.offered(t, "/"+name, language) {
		if o.Label == "/"+name {
			return o.About
		}
	}
	return ""
}

func (h *harness) Block(t testing.TB, p chattest.Person) {
	h.browser(p).form(t, "/chat/silence", nil, "on", "1")
}

func (h *harness) Unblock(t testing.TB, p chattest.Person) {
	h.browser(p).form(t, "/chat/silence", nil)
}

func (h *harness) DeleteMessage(t testing.TB, in chattest.Room, messageID string) {
	t.Helper()
	h.mu.Lock()
	b := h.rooms[in.ID]
	h.mu.Unlock()
	b.form(t, "/chat/delete", nil, "message__", whole(messageID))
}

func (h *harness) Refuse(n int, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusals, h.pause = n, d
}

// node is an element of a page.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	data     string // of a text, which has no name
}

func (n *node) attr(name string) string { return n.attrs[name] }

func (n *node) has(name string) bool {
	_, ok := n.attrs[name]
	return ok
}

// all gives the elements of a name ("": any) inside, in order.
func (n *node) all(name string) []*node {
	var list []*node
	for _, c := range n.children {
		if c.name != "" && (name == "" || c.name == name) {
			list = append(list, c)
		}
		list = append(list, c.all(name)...)
	}
	return list
}

func (n *node) text() string {
	if n.name == "" && n.children == nil {
		return n.data
	}
	var b strings.Builder
	for _, c := range n.children {
		b.WriteString(c.text())
	}
	return b.String()
}

// parse reads a piece of a page.
func parse(t testing.TB, html string) *node {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader("<page>" + html + "</page>"))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	root := &node{name: "root"}
	open := []*node{root}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root
		}
		if err != nil {
			t.Fatalf("the page can't be read: %v\n%s", err, html)
		}
		top := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.children = append(top.children, &node{data: string(token)})
		}
	}
}

func TestSuite(t *testing.T) {
	t.Parallel()
	chattest.Suite(t, func(t testing.TB) chattest.Harness { return newHarness(t) })
}
