package pages

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Reports takes reports of shared results: moderation.Service.
type Reports interface {
	Report(ctx context.Context, r moderation.Report) error
}

// sharing shows results to anyone who has their link.
type sharing struct {
	shared
	shares  *Shares // nil: sharing is not offered
	reports Reports // nil: nothing is reported
	callers request.Callers
	key     []byte // signs the links
}

func (s *sharing) routes() []door.Route {
	list := []door.Route{
		door.ForPeople("POST /run/{id}/share", door.Person, s.share),
		door.ForPeople("POST /run/{id}/unshare", door.Person, s.unshare),
		door.ForAll("GET /s/{link}", s.page),
	}
	if s.reports != nil {
		list = append(list, door.ForVisitors("POST /s/{link}/report", s.report))
	}
	return list
}

func (s *sharing) on() bool { return s.shares != nil }

// path is the address of a link: its id and our signature, so that ids in the database open nothing by
// themselves.
func (s *sharing) path(id string) string { return "/s/" + id + "." + s.sign(id) }

func (s *sharing) sign(id string) string {
	mac := hmac.New(sha256.New, s.key)
	io.WriteString(mac, "share:"+id)
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

// share makes a run's link.
func (s *sharing) share(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.sharable(r, a)
	if err != nil {
		return err
	}
	if _, err := s.shares.share(r.Context(), run.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID+"?done=shared#share", http.StatusSeeOther)
	return nil
}

// unshare takes a run's link back.
func (s *sharing) unshare(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.sharable(r, a)
	if err != nil {
		return err
	}
	if err := s.shares.revoke(r.Context(), run.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID+"?done=unshared", http.StatusSeeOther)
	return nil
}

// sharable finds a run whose results its owner may show: operators see the runs of others, but do not show them
// around.
func (s *sharing) sharable(r *http.Request, a users.Account) (runs.Run, error) {
	run, err := s.callers.Own(r.Context(), a, r.PathValue("id"))
	if err == nil && (s.shares == nil || run.AccountID != a.ID || run.Status != runs.StatusSucceeded) {
		err = runs.ErrNotFound
	}
	return run, err
}

// link is the address of a run's link, empty where there is none.
func (s *sharing) link(r *http.Request, runID string) (string, error) {
	if s.shares == nil {
		return "", nil
	}
	id, err := s.shares.of(r.Context(), runID)
	if errors.Is(err, errNotShared) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.door.Site.Absolute(r, s.path(id)), nil
}

// sharePage is what anyone who has a link sees: the results and the tool, nothing of the account, its words or its
// money.
type sharePage struct {
	Tool    string
	ToolID  string // empty when visitors could not run it
	About   string
	Results []result
	Picture string // absolute address, for previews in chats
	Address string
	Report  string              // where it is reported; empty: it is not
	Reasons []moderation.Reason // to choose from
}

// page shows a shared run to anybody.
func (s *sharing) page(w http.ResponseWriter, r *http.Request) {
	page, err := s.view(r)
	if errors.Is(err, errNotShared) {
		voice := s.render.Voice(r, users.Account{})
		s.render.Problem(w, r, http.StatusNotFound, voice.Line("web.share.gone.title"), voice.Line("web.share.gone"))
		return
	}
	if err != nil {
		s.render.FailPage(w, r, err)
		return
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	s.pages.Render(w, r, http.StatusOK, "shared", render.View{
		Title: page.Tool, Scripts: []string{"run.js"}, Data: &page,
		Preview: &render.Preview{Title: page.Tool, Address: page.Address, Picture: page.Picture, About: page.About},
	})
}

// opened gives the id of the link that a request's address has, and its run.
func (s *sharing) opened(r *http.Request) (id, runID string, err error) {
	id, signature, _ := strings.Cut(r.PathValue("link"), ".")
	if s.shares == nil || !hmac.Equal([]byte(signature), []byte(s.sign(id))) {
		return "", "", errNotShared
	}
	runID, err = s.shares.run(r.Context(), id)
	return id, runID, err
}

// report takes what a visitor, signed in or not, says is wrong with a shared result.
func (s *sharing) report(w http.ResponseWriter, r *http.Request) error {
	id, runID, err := s.opened(r)
	if errors.Is(err, errNotShared) {
		return runs.ErrNotFound
	}
	if err != nil {
		return err
	}
	reason := moderation.Reason(r.PostFormValue("reason"))
	if !slices.Contains(moderation.Reasons[:], reason) {
		return registry.Errorf(registry.CodeInvalidInput, "reason: found %.40q, expected one of %v", reason, moderation.Reasons)
	}
	who, _ := door.Caller(r.Context())
	err = s.reports.Report(r.Context(), moderation.Report{
		RunID: runID, By: who.ID, Where: moderation.Place{Platform: "web"}, Reason: reason, Words: r.PostFormValue("words"),
	})
	if err != nil {
		return err
	}
	http.Redirect(w, r, s.path(id)+"?done=reported", http.StatusSeeOther)
	return nil
}

func (s *sharing) view(r *http.Request) (sharePage, error) {
	id, runID, err := s.opened(r)
	if err != nil {
		return sharePage{}, err
	}
	run, err := s.callers.Runs.Get(r.Context(), runID)
	if err != nil {
		return sharePage{}, err
	}
	voice := s.render.Voice(r, users.Account{})
	run.Tool = *run.Tool.In(voice.Language())
	page := sharePage{Tool: run.Tool.DisplayName, About: render.Purpose(run.Tool.Description), Address: s.door.Site.Absolute(r, s.path(id))}
	if t, ok := s.tools.snapshot().Resolve(run.Tool.ToolID); ok && t.ListedFor(registry.Everyone) {
		page.ToolID = t.ToolID
	}
	if s.reports != nil {
		page.Report, page.Reasons = s.path(id)+"/report", moderation.Reasons[:]
	}
	for _, o := range run.Outputs {
		page.Results = append(page.Results, s.views.result(voice, run, o))
	}
	if picture := lastPicture(page.Results); picture != "" {
		page.Picture = s.door.Site.Absolute(r, picture)
	}
	return page, nil
}
