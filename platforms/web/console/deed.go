package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// deed is something an operator can do. Its GET is a page that says what would happen and asks why; its
// POST does it.
type deed struct {
	path  string // under Root, with {id} for what it is done to
	place string // the entry of the navigation
	// plan says what would happen; an error where it cannot be done now.
	plan func(ctx context.Context, id string) (plan, error)
	// do does it and says what happened. A *registry.Error is the operator's to mend.
	do func(ctx context.Context, o order) (outcome, error)
}

// plan is what the page before a deed says.
type plan struct {
	Title  string
	Says   []string // what happens, in sentences with figures
	Button string
	Danger bool
	Fields []field
	Why    bool   // a reason must be given
	Back   string // where Cancel leads
}

// seen is what a form says when it is drawn; its sender tells by it whether somebody else has changed that since. Empty: the form has no fields.
func (p plan) seen() string {
	if len(p.Fields) == 0 {
		return ""
	}
	h := sha256.New()
	for _, f := range p.Fields {
		fmt.Fprintf(h, "%q=%q\n", f.Name, f.Value)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// overtaken is the error for a form whose fields said something else when it was drawn; nil where they did not, or where it says what holds now.
func (p plan) overtaken(form url.Values) error {
	if seen := form.Get("seen"); seen == "" || seen == p.seen() {
		return nil
	}
	var now []string
	for _, f := range p.Fields {
		if sent := form.Get(f.Name); f.Value != sent {
			now = append(now, fmt.Sprintf("%s is %s now", f.Label, quoted(f.Value)))
		}
	}
	if len(now) == 0 {
		return nil
	}
	return registry.Errorf(registry.CodeInvalidInput, "Somebody changed this meanwhile: %s. What you filled in is kept below and not saved; the same button puts it in place of that.", strings.Join(now, ", "))
}

// field is something to fill in before a deed.
type field struct {
	Name, Label, Hint, Value string
	Required                 bool
	Long                     bool     // a text of several lines
	Choices                  []string // nil: it is typed
}

// order is a deed that was confirmed.
type order struct {
	ID   string // of what it is done to
	Who  users.Account
	Why  string
	Key  string // of this form: sending it twice acts once
	Form url.Values
}

// outcome is what a deed did.
type outcome struct {
	Account string // whom it concerns, for the audit; empty: nobody in particular
	Action  string // what it was, for the audit; empty: what was called has recorded it
	Says    string // one sentence with the effect
	Shown   string // told beside it on the next page, and nowhere kept
	To      string // page to go on to
}

// asked is the page before a deed.
type asked struct {
	plan
	Key, Seen, Reason, Problem string
}

func (c *Console) ask(d deed) pageHandler {
	return func(w http.ResponseWriter, r *http.Request, who users.Account) error {
		p, err := d.plan(r.Context(), r.PathValue("id"))
		if err != nil {
			return c.refuse(w, r, who, d, err)
		}
		return c.show(w, r, who, "ask", view{Title: p.Title, Place: d.place, Data: asked{plan: p, Key: rand.Text(), Seen: p.seen()}})
	}
}

func (c *Console) act(d deed) pageHandler {
	return func(w http.ResponseWriter, r *http.Request, who users.Account) error {
		ctx := r.Context()
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		if err := r.ParseForm(); err != nil {
			return fmt.Errorf("reading the form: %w", err)
		}
		o := order{ID: r.PathValue("id"), Who: who, Why: strings.TrimSpace(r.PostForm.Get("why")), Key: r.PostForm.Get("key"), Form: r.PostForm}
		done, err := c.perform(ctx, d, o)
		if err != nil {
			return c.askAgain(w, r, who, d, o, err)
		}
		leaveNotice(w, r, strings.TrimSpace(done.Says+" "+done.Shown))
		http.Redirect(w, r, done.To, http.StatusSeeOther)
		return nil
	}
}

// perform does a deed and takes it down in the audit log.
func (c *Console) perform(ctx context.Context, d deed, o order) (outcome, error) {
	if o.Form.Get("seen") != "" { // of two who save what they saw, the second sees what the first one saved
		c.saving.Lock()
		defer c.saving.Unlock()
	}
	p, err := d.plan(ctx, o.ID)
	if err != nil {
		return outcome{}, err
	}
	if err := p.overtaken(o.Form); err != nil {
		return outcome{}, err
	}
	if p.Why && o.Why == "" {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "Say why: the audit log keeps it.")
	}
	if len(o.Why) > 500 {
		return outcome{}, registry.Errorf(registry.CodeInvalidInput, "The reason is too long: at most 500 characters.")
	}
	done, err := d.do(ctx, o)
	if err != nil || done.Action == "" {
		return done, err
	}
	err = c.cfg.People.Record(ctx, users.AuditEntry{By: o.Who.ID, AccountID: done.Account, Action: done.Action, Detail: done.Says, Note: o.Why})
	return done, errs.Wrap(err, "%s It could not be taken down in the audit log", done.Says)
}

// askAgain shows the page before a deed with what is wrong, as it was filled in.
func (c *Console) askAgain(w http.ResponseWriter, r *http.Request, who users.Account, d deed, o order, err error) error {
	text, mendable := complaint(err)
	p, planErr := d.plan(r.Context(), o.ID)
	if !mendable || planErr != nil {
		return c.refuse(w, r, who, d, errors.Join(err, planErr))
	}
	seen := p.seen()
	for i, f := range p.Fields {
		p.Fields[i].Value = o.Form.Get(f.Name)
	}
	v := view{Title: p.Title, Place: d.place, Who: who, Data: asked{plan: p, Key: o.Key, Seen: seen, Reason: o.Why, Problem: text}}
	c.render(w, r, http.StatusUnprocessableEntity, "ask", v)
	return nil
}

// refuse says why a deed cannot be done.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, who users.Account, d deed, err error) error {
	text, mendable := complaint(err)
	if !mendable {
		return err
	}
	c.render(w, r, http.StatusConflict, "problem", view{Title: "That can't be done now", Place: d.place, Who: who, Data: text})
	return nil
}

// complaint is what to tell an operator about an error that is no fault of ours.
func complaint(err error) (text string, ok bool) {
	var poor billing.ErrInsufficient
	if errors.As(err, &poor) {
		return poor.Error(), true
	}
	for _, known := range []error{billing.ErrNothingCaptured, billing.ErrKeyReused, billing.ErrNoWallet, runs.ErrUnknownTool, runs.ErrNotFailed} {
		if errors.Is(err, known) {
			return known.Error() + ".", true
		}
	}
	var e *registry.Error
	if errors.As(err, &e) && e.Code != registry.CodeInternal {
		return e.Message, true
	}
	return "", false
}
