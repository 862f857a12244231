package pages

import (
	"net/http"
	"net/url"
	"time"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// historyPage is the account's runs, narrowed by what the address says.
type historyPage struct {
	Filter    historyFilter
	Filtered  bool
	Narrowed  bool // by more than a text
	Runs      []runView
	More      string           // the next page's address
	Tools     []*registry.Tool // to choose from; none where there are too many
	Statuses  []runs.Status
	Platforms []string
	Asks      bool // there are questions to models, on a page of their own
}

// historyFilter is what the form above the history holds.
type historyFilter struct {
	Tool, Status, Platform, Text string
	Since, Until                 string // days, as a form writes them: 2006-01-02, in UTC
}

// historyLength is how many runs one page shows.
const historyLength = 24

// manyChoices is up to how many tools a list offers to choose from.
const manyChoices = 200

// endings are the statuses that people look for.
var endings = [...]runs.Status{
	runs.StatusSucceeded, runs.StatusFailed, runs.StatusTimedOut, runs.StatusCanceled, runs.StatusQueued, runs.StatusRunning, runs.StatusAwaitingConfirmation,
}

// origins are the ways by which a run can have come.
var origins = [...]string{door.Platform, "telegram", "discord", "api"}

func (s *overview) history(w http.ResponseWriter, r *http.Request, a users.Account) error {
	q := r.URL.Query()
	page := historyPage{
		Filter: historyFilter{
			Tool: q.Get("tool"), Status: q.Get("status"), Platform: q.Get("platform"), Text: q.Get("q"), Since: q.Get("since"), Until: q.Get("until"),
		},
		Asks: s.asks, Statuses: endings[:], Platforms: origins[:], Tools: s.tools.forPeople(a),
	}
	if len(page.Tools) > manyChoices {
		page.Tools = nil // the text finds them, too
	}
	readIn(s.render.Voice(r, a).Language(), page.Tools)
	f, err := page.Filter.filter()
	if err != nil {
		return err
	}
	f.AccountID, f.Before, f.Limit = a.ID, q.Get("before"), historyLength
	page.Filtered = page.Filter != historyFilter{}
	page.Narrowed = page.Filter != historyFilter{Text: page.Filter.Text}
	if err := request.CheckFilter(f); err != nil {
		return err
	}
	list, err := s.runs.List(r.Context(), f)
	if err != nil {
		return err
	}
	voice := s.render.Voice(r, a)
	for _, run := range list {
		page.Runs = append(page.Runs, s.views.run(voice, run))
	}
	if len(list) == historyLength {
		page.More = page.Filter.address(list[len(list)-1].ID)
	}
	return s.pages.Show(w, r, a, "history", render.View{Title: voice.Line("web.history"), Place: "history", Data: &page})
}

// filter is the question that the form asks.
func (f historyFilter) filter() (runs.Filter, error) {
	since, err := day(f.Since)
	if err != nil {
		return runs.Filter{}, err
	}
	until, err := day(f.Until)
	if err != nil {
		return runs.Filter{}, err
	}
	filter := runs.Filter{ToolID: f.Tool, Status: runs.Status(f.Status), Platform: f.Platform, Text: f.Text, Since: since}
	if !until.IsZero() {
		filter.Until = until.AddDate(0, 0, 1) // the day itself counts
	}
	return filter, nil
}

// day reads a day as a form writes it; empty is the zero time.
func day(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, registry.Errorf(registry.CodeInvalidInput, "a day is written like 2026-01-31, found %q", text)
	}
	return t, nil
}

// address is the history narrowed like this, from a run on.
func (f historyFilter) address(before string) string {
	q := url.Values{"before": {before}}
	for name, value := range map[string]string{
		"tool": f.Tool, "status": f.Status, "platform": f.Platform, "q": f.Text, "since": f.Since, "until": f.Until,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/history?" + q.Encode()
}
