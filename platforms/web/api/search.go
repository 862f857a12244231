package api

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/platforms/web/request"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/users"
)

// maxFound is how many tools a search, or a page of the list, gives at most.
const maxFound = 100

// foundTool is a tool with what speaks for it.
type foundTool struct {
	*registry.Tool
	Score float64 `json:"score"`
	Why   string  `json:"why"`
}

// search gives the tools that a request in plain words asks for, best first.
func (a *catalogueAPI) search(w http.ResponseWriter, r *http.Request, who users.Account) error {
	o, err := searchOptions(r)
	if err != nil {
		return err
	}
	o.Audience = request.Audience(who)
	found := []foundTool{}
	for _, m := range a.cfg.Search(r.Context(), r.FormValue("q"), o) {
		found = append(found, foundTool{m.Tool, math.Round(m.Score*100) / 100, strings.Join(m.Why, ", ")})
	}
	door.WriteJSON(w, http.StatusOK, map[string]any{"tools": found})
	return nil
}

// toolLimit is how many tools are asked for.
func toolLimit(r *http.Request, otherwise int) (int, error) {
	limit, err := strconv.Atoi(cmp.Or(r.FormValue("limit"), strconv.Itoa(otherwise)))
	if err != nil || limit < 1 || limit > maxFound {
		return 0, registry.Errorf(registry.CodeInvalidInput, "limit must be a number from 1 to %d", maxFound)
	}
	return limit, nil
}

func searchOptions(r *http.Request) (catalog.SearchOptions, error) {
	o := catalog.SearchOptions{Language: r.FormValue("language")}
	var err error
	o.Limit, err = toolLimit(r, 10)
	if err == nil && r.Form.Has("has") {
		o.Has, err = catalog.ParseKinds(strings.Join(r.Form["has"], ","))
	}
	return o, err
}
