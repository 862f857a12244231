package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// homeView is the list of tools, or what a search found.
type homeView struct {
	Query, Category string
	Categories      []string
	Tools           []toolCard
	Waiting         []*registry.Tool // tools that nobody can run now
	WaitingAll      int              // how many there are, also where not all are shown
	Latest          []runView
	Examples        []picture // what the tools make, for those who have made nothing yet
	More            string    // address of the next tools
}

// toolCard is a tool in the list, with a picture that the reader made with it, if there is one.
type toolCard struct {
	*registry.Tool
	Picture string
	Takes   string // kind of what goes in: text, image, video, audio, file, or empty
	Gives   string // kind of what comes out
	Price   string // what a run costs usually, or by which rate it is counted
}

// manyTools is how many tools one page shows, so that a large catalogue loads as fast as a small one.
const manyTools = 60

// latestRuns is how many runs the list looks through for pictures.
const latestRuns = 40

// front is the list of tools, or the page for those who are not signed in.
func (s *overview) front(w http.ResponseWriter, r *http.Request, a users.Account) error {
	if a.ID == "" || a.Narrowed() {
		return s.landing(w, r)
	}
	return s.home(w, r, a)
}

func (s *overview) home(w http.ResponseWriter, r *http.Request, a users.Account) error {
	h := homeView{Query: strings.TrimSpace(r.URL.Query().Get("q")), Category: r.URL.Query().Get("category")}
	recent, err := s.runs.List(r.Context(), runs.Filter{AccountID: a.ID, Limit: latestRuns})
	if err != nil {
		return err
	}
	all := s.tools.listed(a)
	if h.Category != "" && !slices.ContainsFunc(all, func(t *registry.Tool) bool { return t.Category == h.Category }) {
		h.Category = ""
	}
	h.Categories = categories(all, h.Category)
	if h.Query != "" {
		all = s.tools.search(r.Context(), a, h.Query)
	}
	language, pictures := s.render.Voice(r, a).Language(), s.pictures(recent)
	for _, t := range readIn(language, h.turn(all, r.URL.Query().Get("from"))) {
		h.Tools = append(h.Tools, toolCard{Tool: t, Picture: cmp.Or(pictures[t.ToolID], s.examples.tile(t.ToolID)), Takes: takes(t), Gives: gives(t)})
	}
	readIn(language, h.Waiting)
	if h.Query == "" && h.Category == "" && len(recent) == 0 {
		h.Examples = s.examplesOf(h.Tools)
	}
	if err := s.addPrices(r, s.render.Voice(r, a), h.Tools); err != nil {
		return err
	}
	if h.Query == "" {
		for _, run := range recent[:min(8, len(recent))] {
			h.Latest = append(h.Latest, s.views.run(s.render.Voice(r, a), run))
		}
	}
	return s.pages.Show(w, r, a, "home", render.View{Title: s.render.Voice(r, a).Line("web.tools"), Place: "tools", Data: &h, Scripts: []string{"search.js"}})
}

// addPrices tells on each card what a run costs.
func (s *overview) addPrices(r *http.Request, v i18n.Voice, cards []toolCard) error {
	var counted []string // by time, tokens or the provider: what that comes to is seen when it is over
	for _, c := range cards {
		if m := c.CostingModel; m != nil && (m.Unit != registry.UnitRequest || m.RateSource != registry.RateStatic) {
			counted = append(counted, c.ToolID)
		}
	}
	usual, err := s.runs.Usual(r.Context(), counted)
	if err != nil {
		return err
	}
	for i := range cards {
		c := &cards[i]
		if c.Price = priceOf(v, *c.Tool); usual[c.ToolID] > 0 {
			c.Price = joined(v.Line("money.usual", "amount", usual[c.ToolID]), v.ForADollar(usual[c.ToolID], words.Makes(*c.Tool)))
		}
	}
	return nil
}

// turn gives the page of tools that begins at a place, and tells where the next one does. The first has those that wait beside it.
func (h *homeView) turn(all []*registry.Tool, from string) []*registry.Tool {
	var ready, waiting []*registry.Tool
	first, _ := strconv.Atoi(from)
	enough := min(max(first, 0), len(all)) + manyTools + 1 // more are not looked at one by one: that there is a next page is seen by now
	for _, t := range all {
		lost := t.State() == registry.StateUnavailable
		switch {
		case !lost && len(ready) >= enough:
		case h.Category != "" && t.Category != h.Category:
		case h.Category == "" && h.Query == "" && !t.InMenus():
		case lost:
			waiting = append(waiting, t)
		default:
			ready = append(ready, t)
		}
	}
	shown, begin, next := turnTo(ready, from, manyTools)
	if next != "" {
		h.More = "/?" + url.Values{"category": {h.Category}, "from": {next}}.Encode()
	}
	if begin == 0 {
		h.Waiting, h.WaitingAll = waiting[:min(manyTools, len(waiting))], len(waiting)
	}
	return shown
}

// turnTo gives the page of at most length tools that begins at a place, that place, and the one where the next page begins, if there is one.
func turnTo(tools []*registry.Tool, from string, length int) (page []*registry.Tool, begin int, next string) {
	begin, err := strconv.Atoi(from)
	if err != nil || begin < 0 || begin >= len(tools) {
		begin = 0
	}
	end := min(begin+length, len(tools))
	if end < len(tools) {
		next = strconv.Itoa(end)
	}
	return tools[begin:end], begin, next
}

// categories lists those in which there is something to pick, and the one that is shown, in alphabetical order. Others have their
// addresses all the same.
func categories(tools []*registry.Tool, shown string) []string {
	var names []string
	for _, t := range tools {
		if t.Category == "" || slices.Contains(names, t.Category) { // asked first: there are few, and many tools
			continue
		}
		if t.Category == shown || t.InMenus() && t.State() != registry.StateUnavailable {
			names = append(names, t.Category)
		}
	}
	slices.Sort(names)
	return names
}

// pictures finds the latest picture of each tool.
func (s *overview) pictures(recent []runs.Run) map[string]string {
	found := map[string]string{}
	for _, run := range recent {
		if found[run.Tool.ToolID] != "" {
			continue
		}
		for _, o := range run.Outputs {
			if o.Type == string(registry.TypeImage) && o.Media != "" {
				found[run.Tool.ToolID] = s.views.links.Thumb(run.AccountID, o.Media, files.TileSide)
				break
			}
		}
	}
	return found
}

// takes tells the kind of a tool's main input; a tool that only has settings takes nothing.
func takes(t *registry.Tool) string {
	primary := registry.InputType(t.Hints().PrimaryInput)
	text := ""
	for _, f := range t.InputSchema {
		switch {
		case f.Type.IsMedia() && f.Type == primary:
			return string(primary)
		case f.Type == registry.TypeString && len(f.Choices) == 0 && !f.Advanced:
			text = "text"
		}
	}
	return text
}

// gives tells the kind of a tool's first result.
func gives(t *registry.Tool) string {
	if len(t.OutputSchema) == 0 {
		return string(registry.TypeFile)
	}
	return t.OutputSchema[0].Type
}

func (s *overview) routes() []door.Route {
	front := door.Public
	if s.door.Site.Local() { // there are no strangers, but for those who come by a proxy
		front = door.View
	}
	return []door.Route{
		door.ForPeople("GET /{$}", front, s.front),
		door.ForPeople("GET /history", door.View, s.history),
		door.ForPeople("GET /prices", door.View, s.prices),
		door.ForPeople("GET /buy", door.View, s.buy),
		door.ForPeople("POST /buy", door.Person, s.order),
		door.ForPeople("POST /buy/redeem", door.Person, s.redeem),
		door.ForPeople("GET /buy/receipts/{number}", door.View, s.receipt),
		door.ForPeople("GET /developers", door.View, s.developers),
		door.ForAll("GET /llms.txt", s.llms),
		door.ForAll("GET /terms", s.terms),
		door.ForAll("GET /privacy", s.privacy),
	}
}
