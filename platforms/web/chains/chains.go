// Package chains draws the pages of chains and missions: /chains lists those of an account, /chains/build makes a chain of tools, whose outputs
// are chosen as inputs of later ones, and /chains/missions/{id} shows how far a mission is.
package chains

import (
	"embed"
	"errors"
	"html/template"
	"net/http"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/problem"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

//go:embed templates/*.html
var templateFiles embed.FS

// Routes gives the addresses of the pages.
func Routes(cfg Config) []door.Route {
	drawn := cfg.Render.Pages(templateFiles, func(i18n.Voice) template.FuncMap { return nil })
	s := server{cfg, drawn}
	return []door.Route{
		door.ForPeople("GET "+Path, door.View, s.told(s.list)),
		door.ForPeople("GET "+Path+"/build", door.View, s.told(s.blank)),
		door.ForPeople("GET "+Path+"/build/{id}", door.View, s.told(s.edit)),
		door.ForPeople("POST "+Path+"/build", door.Person, s.told(s.build)),
		door.ForPeople("POST "+Path+"/{id}/{deed}", door.Person, s.told(s.press)),
		door.ForPeople("GET "+Path+"/missions/{id}", door.View, s.told(s.mission)),
		door.ForPeople("POST "+Path+"/missions/{id}/confirm", door.Person, s.told(s.confirm)),
		door.ForPeople("POST "+Path+"/missions/{id}/cancel", door.Person, s.told(s.cancel)),
	}
}

// listed is a chain in the list.
type listed struct {
	missions.Chain
	Steps []string // names of its tools
}

func (s server) list(w http.ResponseWriter, r *http.Request, a users.Account) error {
	own, err := s.Missions.Chains(r.Context(), a.ID)
	if err != nil {
		return err
	}
	begun, err := s.Missions.List(r.Context(), a.ID, a.Runs, "")
	if err != nil {
		return err
	}
	var data struct {
		Chains   []listed
		Missions []missions.Mission
	}
	data.Missions = begun
	for _, c := range own {
		one := listed{Chain: c}
		for _, leg := range c.Legs {
			one.Steps = append(one.Steps, s.tool(leg.Tool).DisplayName)
		}
		data.Chains = append(data.Chains, one)
	}
	return s.show(w, r, a, "chains", "chains.title", "", data)
}

// press does what a button beside a chain says.
func (s server) press(w http.ResponseWriter, r *http.Request, a users.Account) error {
	c, err := s.Missions.Chain(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	deed := r.PathValue("deed")
	switch deed {
	case "share":
		c.Visibility = missions.Public
		_, err = s.Missions.SaveChain(r.Context(), c)
	case "keep":
		c.Visibility = missions.Private
		_, err = s.Missions.SaveChain(r.Context(), c)
	case "delete":
		err = s.Missions.DeleteChain(r.Context(), c.ID, a.ID)
	default:
		err = problem.ErrNothingThere
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, Path+"?done=chain-"+deed, http.StatusSeeOther)
	return nil
}

func (s server) mission(w http.ResponseWriter, r *http.Request, a users.Account) error {
	m, err := s.Missions.Get(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	return s.showMission(w, r, a, m, "")
}

func (s server) showMission(w http.ResponseWriter, r *http.Request, a users.Account, m missions.Mission, wrong string) error {
	return s.show(w, r, a, "mission", "chains.mission", wrong, &m)
}

// confirm takes the person's word to what the page has shown.
func (s server) confirm(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := request.MayApprove(r); err != nil {
		return err
	}
	m, err := s.Missions.Confirm(r.Context(), r.PathValue("id"), a.ID, r.PostFormValue("hash"))
	var gate *runs.GateError
	var poor billing.ErrInsufficient
	if errors.As(err, &gate) || errors.As(err, &poor) {
		why := s.Render.Explain(r, a, err).Detail
		if m, err = s.Missions.Get(r.Context(), r.PathValue("id"), a.ID); err == nil {
			return s.showMission(w, r, a, m, why)
		}
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, Path+"/missions/"+m.ID, http.StatusSeeOther)
	return nil
}

func (s server) cancel(w http.ResponseWriter, r *http.Request, a users.Account) error {
	m, err := s.Missions.Cancel(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	http.Redirect(w, r, Path+"/missions/"+m.ID, http.StatusSeeOther)
	return nil
}
