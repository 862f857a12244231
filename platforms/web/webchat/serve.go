package webchat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// The limits of what pages send, in bytes.
const (
	maxSaid   = 4000
	maxData   = 100
	maxNonce  = 64
	maxValues = 100
)

// fieldPrefix tells the fields of a dialog from those of the form that carries it.
const fieldPrefix = "field."

// startWait is how long what somebody says waits for the program to be ready.
const startWait = 5 * time.Second

var errNotReady = registry.Say(registry.CodeUnavailable, said.Starting).After(time.Second)

// visit is a request of somebody to their conversation.
type visit struct {
	*Adapter
	w       http.ResponseWriter
	r       *http.Request
	account users.Account
	chat    string // the conversation: the account's id, or that of the account it has become since it was looked up
	voice   i18n.Voice
}

// Serve answers a request under /chat. It gives the main part of the page that is the answer, or none when it
// has answered otherwise.
func (a *Adapter) Serve(w http.ResponseWriter, r *http.Request, account users.Account) (template.HTML, error) {
	v, err := a.visit(w, r, account)
	if err != nil {
		return "", err
	}
	serve := map[string]func() (template.HTML, error){
		"GET ":          v.conversation,
		"GET /events":   v.events,
		"GET /offers":   v.offers,
		"POST /say":     v.say,
		"POST /press":   v.pressed,
		"POST /form":    v.filled,
		"POST /use":     v.use,
		"POST /delete":  v.remove,
		"POST /silence": v.silence,
	}[r.Method+" "+strings.TrimPrefix(r.URL.Path, pages.ChatPath)]
	if serve == nil {
		http.NotFound(w, r)
		return "", nil
	}
	return serve()
}

// visit is a request of an account; w is nil where it is answered by somebody else.
func (a *Adapter) visit(w http.ResponseWriter, r *http.Request, account users.Account) (*visit, error) {
	place, err := a.log.place(r.Context(), account.ID)
	if err != nil {
		return nil, err
	}
	return &visit{a, w, r, account, place, a.texts.Voice(account.Language, r.Header.Get("Accept-Language"))}, nil
}

// scripted tells requests of the page's script from those of its forms.
func (v *visit) scripted() bool {
	return strings.Contains(v.r.Header.Get("Accept"), "application/json")
}

// done answers what went well: scripts learn of changes by events, others get the page anew.
func (v *visit) done(answer chat.PressAnswer, messageID int64) (template.HTML, error) {
	if v.scripted() {
		door.WriteJSON(v.w, http.StatusOK, struct {
			Text    string        `json:"text,omitempty"`
			Alert   bool          `json:"alert,omitempty"`
			Message int64         `json:"message,omitempty"`
			Dialog  template.HTML `json:"dialog,omitempty"`
		}{answer.Text, answer.Alert, messageID, v.dialog(answer.Form, messageID)})
		return "", nil
	}
	if answer.Form != nil {
		return v.formPage(*answer.Form, messageID)
	}
	if answer.Text != "" {
		return v.page(answer.Text)
	}
	http.Redirect(v.w, v.r, pages.ChatPath+"#composer", http.StatusSeeOther)
	return "", nil
}

// update is an update of this person's, without what it says.
func (v *visit) update(id string, kind chat.IncomingKind) (chat.Incoming, error) {
	from, err := v.identity(v.r.Context(), v.account, v.voice.Language())
	asked := request.PersonContext(v.r)
	return chat.Incoming{
		ID: id, Kind: kind, At: time.Now(), From: from, Addressed: true, Region: asked.Region, DeviceKind: asked.DeviceKind,
		Chat: chat.Chat{Place: chat.Place{Chat: v.chat}, Kind: chat.ChatPrivate},
	}, err
}

// identity is the one by which the web knows an account. One that has come by another platform gets its own.
func (a *Adapter) identity(ctx context.Context, account users.Account, language string) (users.Identity, error) {
	known, err := a.cfg.People.Identities(ctx, account.ID)
	if err != nil {
		return users.Identity{}, err
	}
	for _, id := range known {
		if id.Platform == web.Platform {
			id.Language = language
			return id.Identity, nil
		}
	}
	// Not made of the account's id: an identity of that name could have been unlinked before.
	id := users.Identity{Platform: web.Platform, ExternalID: newNonce(), Name: account.DisplayName, Language: language}
	return id, a.cfg.People.Link(ctx, account.ID, id)
}

// receive passes an update on to the Router.
func (v *visit) receive(in chat.Incoming) error {
	select {
	case <-v.ready:
	default:
		wait := time.NewTimer(startWait)
		defer wait.Stop()
		select {
		case <-v.ready:
		case <-wait.C:
			return errNotReady
		case <-v.r.Context().Done():
			return v.r.Context().Err()
		}
	}
	return v.receiver.Receive(v.r.Context(), web.Platform, in)
}

// nonce tells a form that is sent twice. Forms without one, of pages from before an update, count as new.
func (v *visit) nonce() string {
	nonce := v.r.PostFormValue("nonce__")
	if nonce == "" || len(nonce) > maxNonce {
		return newNonce()
	}
	return nonce
}

// updateID names an update by what makes it one of its own.
func (v *visit) updateID(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(v.chat + "\n" + strings.Join(parts, "\n")))
	return kind + hex.EncodeToString(sum[:16])
}

// about is the message of the conversation that a form is about.
func (v *visit) about(field string) (message, error) {
	id, err := strconv.ParseInt(v.r.PostFormValue(field), 10, 64)
	if err != nil {
		return message{}, errNoMessage
	}
	m, err := v.log.find(v.r.Context(), v.chat, id)
	if errors.Is(err, chat.ErrGone) {
		return m, errNoMessage
	}
	return m, err
}

var errNoMessage = registry.Say(registry.CodeInvalidInput, said.MessageGone)

// pressed passes a button or a choice on and answers as the Router does.
func (v *visit) pressed() (template.HTML, error) {
	m, err := v.about("message__")
	if err != nil {
		return "", err
	}
	data := v.r.PostFormValue("data")
	values := v.r.PostForm["values"]
	if len(data) == 0 || len(data) > maxData || len(values) > maxValues {
		return "", registry.Say(registry.CodeInvalidInput, said.MessageNoButton)
	}
	return v.act(m, chat.KindPress, chat.Press{Data: data, Values: values}, nil)
}

// filled passes a form on.
func (v *visit) filled() (template.HTML, error) {
	m, err := v.about("message__")
	if err != nil {
		return "", err
	}
	values := map[string]any{}
	for name := range v.r.PostForm {
		if field, ok := strings.CutPrefix(name, fieldPrefix); ok {
			values[field] = v.r.PostFormValue(name)
		}
	}
	return v.act(m, chat.KindForm, chat.Press{Data: v.r.PostFormValue("data__")}, values)
}

// act passes a press or a form on, once, and waits for its answer.
func (v *visit) act(m message, kind chat.IncomingKind, press chat.Press, options map[string]any) (template.HTML, error) {
	press.ID = v.updateID("p", v.nonce(), strconv.FormatInt(m.ID, 10), press.Data)
	waiting, known := v.press.expect(press.ID)
	if !known {
		in, err := v.update(press.ID, kind)
		if err == nil {
			in.Message, in.Press, in.Options = m.ref(v.chat, 0), &press, options
			err = v.receive(in)
		}
		if err != nil {
			v.press.forget(press.ID)
			return "", err
		}
	}
	return v.done(waiting.wait(v.r.Context()), m.ID)
}

// use gives a command of the menu that messages have.
func (v *visit) use() (template.HTML, error) {
	m, err := v.about("message__")
	if err != nil {
		return "", err
	}
	use := v.r.PostFormValue("use")
	in, err := v.update(v.updateID("u", v.nonce(), use), chat.KindMessage)
	if err != nil {
		return "", err
	}
	in.Message, in.Command, in.ReplyTo = chat.MessageRef{Place: in.Chat.Place, ID: in.ID}, use, v.quoted(m)
	in.Meant = in.ReplyTo.Ref
	if err := v.receive(in); err != nil {
		return "", err
	}
	return v.done(chat.PressAnswer{}, m.ID)
}

// quoted is a message as one that is replied to.
func (v *visit) quoted(m message) *chat.Quoted {
	return &chat.Quoted{Ref: m.ref(v.chat, 0), Own: !m.Mine, Text: m.Body.Text.String(), Attachments: m.attachments()}
}

// remove deletes a message for good.
func (v *visit) remove() (template.HTML, error) {
	m, err := v.about("message__")
	if err == nil {
		_, err = v.log.change(v.r.Context(), m.ID, func(now *message) error {
			now.Deleted, now.Body, now.Media = true, body{}, nil
			return nil
		})
	}
	if err != nil && !errors.Is(err, chat.ErrGone) && !errors.Is(err, errNoMessage) {
		return "", err
	}
	return v.done(chat.PressAnswer{}, m.ID)
}

// silence pauses the conversation, or ends that: what becomes ready meanwhile is offered afterwards.
func (v *visit) silence() (template.HTML, error) {
	on := v.r.PostFormValue("on") != ""
	if err := v.log.pause(v.r.Context(), v.chat, on); err != nil {
		return "", err
	}
	in, err := v.update(v.updateID("s", newNonce()), chat.KindMembership)
	if err != nil {
		return "", err
	}
	in.Membership = chat.MemberJoined
	if on {
		in.Membership = chat.MemberRemoved
	}
	if err := v.receive(in); err != nil {
		return "", err
	}
	if v.scripted() {
		return v.done(chat.PressAnswer{}, 0)
	}
	http.Redirect(v.w, v.r, pages.ChatPath, http.StatusSeeOther)
	return "", nil
}
