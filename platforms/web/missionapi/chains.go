package missionapi

import (
	"net/http"
	"time"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/users"
)

// chainBody is a chain as programs see it.
type chainBody struct {
	ChainID   string    `json:"chainId"`
	ToolID    string    `json:"toolId"` // by which it is run
	Version   int       `json:"version"`
	ChangedAt time.Time `json:"changedAt"`
	missions.Chain
}

func chainOf(c missions.Chain) chainBody {
	return chainBody{ChainID: c.ID, ToolID: c.ToolID(), Version: c.Version, ChangedAt: c.ChangedAt, Chain: c}
}

const chainExample = `{"name":"Poster","command":"/poster","visibility":"private","legs":[{"tool":"paint","inputs":{},"order":1,"depends_on":[]}],"exposed":[{"name":"subject","leg":1,"input":"prompt"}]}`

func (s server) makeChain(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.saveChain(w, r, missions.Chain{AccountID: a.ID}, http.StatusCreated)
}

// changeChain makes a new version of a chain that is the caller's.
func (s server) changeChain(w http.ResponseWriter, r *http.Request, a users.Account) error {
	known, err := s.Missions.Chain(r.Context(), r.PathValue("id"), a.ID)
	if err != nil {
		return err
	}
	return s.saveChain(w, r, missions.Chain{ID: known.ID, AccountID: a.ID}, http.StatusOK)
}

func (s server) saveChain(w http.ResponseWriter, r *http.Request, c missions.Chain, status int) error {
	if err := door.ReadLike(w, r, &c, chainExample); err != nil {
		return err
	}
	saved, err := s.Missions.SaveChain(r.Context(), c)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/chains/"+saved.ID)
	return writeChain(w, status, saved)
}

func writeChain(w http.ResponseWriter, status int, c missions.Chain) error {
	door.WriteJSON(w, status, chainOf(c))
	return nil
}

func (s server) showChain(w http.ResponseWriter, r *http.Request, a users.Account) error {
	c, err := s.Missions.Chain(r.Context(), r.PathValue("id"), a.ID)
	if err == nil && !seesChain(a, c) {
		err = missions.ErrNotFound
	}
	if err != nil {
		return err
	}
	return writeChain(w, http.StatusOK, c)
}

// seesChain reports whether what stands in a chain is an account's to see, as its key opens it. No restricted key writes chains down.
func seesChain(a users.Account, c missions.Chain) bool {
	return a.Sees("") && a.Tools.Names(c.ToolID())
}

func (s server) listChains(w http.ResponseWriter, r *http.Request, a users.Account) error {
	list, err := s.Missions.Chains(r.Context(), a.ID)
	if err != nil {
		return err
	}
	bodies := []chainBody{}
	for _, c := range list {
		if seesChain(a, c) {
			bodies = append(bodies, chainOf(c))
		}
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"chains": bodies})
	return nil
}

func (s server) deleteChain(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if err := s.Missions.DeleteChain(r.Context(), r.PathValue("id"), a.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
