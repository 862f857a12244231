package pages

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// Landing is what strangers are told beside what the tools are.
type Landing struct {
	Ways           func() []Way  // the chat platforms where somebody can begin; nil: none
	Terms, Privacy func() string // what the operator says at the moment, or its address; nil or "": what holds in any case is told
}

// now is what a text says at the moment.
func now(text func() string) string {
	if text == nil {
		return ""
	}
	return text()
}

// Way is a chat platform that is connected, and where to begin there.
type Way struct {
	Platform string // telegram, discord
	URL      string
}

// landingView is what somebody sees who is not signed in.
type landingView struct {
	Ways     []Way
	Terms    string
	Privacy  string
	Pictures []picture
	Tools    []toolCard
	More     int // how many tools are not shown
}

// picture is a result that strangers may look at.
type picture struct {
	Name, URL, Large, Link string // of the tool, of the picture small and for screens of fine pixels, and where it leads
	Width, Height          int    // 0: not known
}

// manyPictures is how many pictures the landing page shows.
const manyPictures = 12

// landing is the page for strangers: what is made here, with which tools, for how much, and how to begin.
func (s *overview) landing(w http.ResponseWriter, r *http.Request) error {
	voice := s.render.Voice(r, users.Account{})
	v := landingView{Terms: now(s.strangers.Terms), Privacy: now(s.strangers.Privacy)}
	if s.strangers.Ways != nil {
		v.Ways = s.strangers.Ways()
	}
	for _, t := range s.tools.snapshot().Listed(registry.Everyone) {
		if t.State() != registry.StateActive || !t.InMenus() {
			continue
		}
		if len(v.Tools) == manyTools {
			v.More++
			continue
		}
		v.Tools = append(v.Tools, toolCard{Tool: t.In(voice.Language()), Picture: s.examples.tile(t.ToolID), Takes: takes(t), Gives: gives(t)})
	}
	var err error
	if v.Pictures, err = s.shownPictures(r, voice.Language()); err != nil {
		return err
	}
	if len(v.Pictures) == 0 {
		v.Pictures = s.examplesOf(v.Tools)
	}
	s.pages.Render(w, r, http.StatusOK, "landing", render.View{Title: voice.Line("web.landing.title"), Data: &v, Preview: &render.Preview{
		Title: "Signalbox", Address: s.door.Site.Absolute(r, "/"), About: voice.Line("web.landing.lead"),
	}})
	return nil
}

// terms and privacy lead to what the operator has published, or tell what holds in any case.
func (s *overview) terms(w http.ResponseWriter, r *http.Request) {
	s.published(w, r, s.strangers.Terms, "web.landing.terms", "operator.noTerms")
}

func (s *overview) privacy(w http.ResponseWriter, r *http.Request) {
	s.published(w, r, s.strangers.Privacy, "web.landing.privacy", "operator.noPrivacy")
}

func (s *overview) published(w http.ResponseWriter, r *http.Request, says func() string, title, otherwise string) {
	text := now(says)
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		http.Redirect(w, r, text, http.StatusSeeOther)
		return
	}
	v := s.render.Voice(r, users.Account{})
	s.pages.Render(w, r, http.StatusOK, "published", render.View{Title: v.Line(title), Data: cmp.Or(text, v.Line(otherwise))})
}

// shownPictures are the shared results that the operator has picked.
func (s *overview) shownPictures(r *http.Request, language string) ([]picture, error) {
	if !s.sharing.on() {
		return nil, nil
	}
	picked, err := s.sharing.shares.landing(r.Context(), manyPictures)
	if err != nil {
		return nil, err
	}
	var list []picture
	for _, share := range picked {
		run, err := s.sharing.callers.Runs.Get(r.Context(), share.RunID)
		if errors.Is(err, runs.ErrNotFound) {
			continue // its files are gone since
		}
		if err != nil {
			return nil, err
		}
		for _, o := range run.Outputs {
			if o.Type == string(registry.TypeImage) && o.Media != "" {
				list = append(list, picture{run.Tool.In(language).DisplayName, s.views.links.Thumb(run.AccountID, o.Media, files.WallSide), s.views.links.Thumb(run.AccountID, o.Media, files.CardSide), s.sharing.path(share.ID), o.Width, o.Height})
				break
			}
		}
	}
	return list, nil
}

// examplesOf are the example pictures of tools.
func (s *overview) examplesOf(tools []toolCard) []picture {
	var list []picture
	for _, t := range tools {
		if e, ok := s.examples.of(t.ToolID); ok && len(list) < manyPictures {
			list = append(list, picture{t.DisplayName, e.wall, e.address, "/tool/" + t.ToolID, e.size.X, e.size.Y})
		}
	}
	return list
}
