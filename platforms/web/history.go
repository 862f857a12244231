package web

import (
	"net/http"
	"net/url"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// historyPage is the account's runs, narrowed by what the address says.
type historyPage struct {
	Filter    historyFilter
	Filtered  bool
	Runs      []runView
	More      string // the next page's address
	Tools     []registry.Tool
	Statuses  []runs.Status
	Platforms []string
}

// historyFilter is what the form above the history holds.
type historyFilter struct {
	Tool, Status, Platform string
}

// historyLength is how many runs one page shows.
const historyLength = 24

// endings are the statuses that people look for.
var endings = [...]runs.Status{
	runs.StatusSucceeded, runs.StatusFailed, runs.StatusTimedOut, runs.StatusCanceled, runs.StatusQueued, runs.StatusRunning, runs.StatusAwaitingConfirmation,
}

// doors are the ways by which a run can have come.
var doors = [...]string{Platform, "telegram", "discord", "api"}

func (s *Server) history(w http.ResponseWriter, r *http.Request, a users.Account) error {
	q := r.URL.Query()
	page := historyPage{
		Filter:   historyFilter{Tool: q.Get("tool"), Status: q.Get("status"), Platform: q.Get("platform")},
		Statuses: endings[:], Platforms: doors[:], Tools: s.listed(a),
	}
	f := page.Filter.filter()
	f.AccountID, f.Before, f.Limit = a.ID, q.Get("before"), historyLength
	page.Filtered = page.Filter != historyFilter{}
	if err := checkFilter(f); err != nil {
		return err
	}
	list, err := s.cfg.Runs.List(r.Context(), f)
	if err != nil {
		return err
	}
	voice := s.voice(r, a)
	for _, run := range list {
		page.Runs = append(page.Runs, s.runView(voice, run))
	}
	if len(list) == historyLength {
		page.More = page.Filter.address(list[len(list)-1].ID)
	}
	return s.show(w, r, a, "history", view{Title: voice.Line("web.history"), Place: "history", History: &page})
}

// filter is the question that the form asks.
func (f historyFilter) filter() runs.Filter {
	return runs.Filter{ToolID: f.Tool, Status: runs.Status(f.Status), Platform: f.Platform}
}

// address is the history narrowed like this, from a run on.
func (f historyFilter) address(before string) string {
	q := url.Values{"before": {before}}
	for name, value := range map[string]string{"tool": f.Tool, "status": f.Status, "platform": f.Platform} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/history?" + q.Encode()
}
