package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

func travel() *catalog.Snapshot {
	make := func(id, name, description string, tags ...string) registry.Tool {
		return registry.Tool{
			ToolID: id, Service: "test", DisplayName: name, Description: description, CommandName: "/" + strings.ToLower(id), Advice: registry.Advice{IntentTags: tags},
			InputSchema: registry.InputSchema{},
		}
	}
	secret := make("flight_audit", "Flight audit", "Lists flights that were booked.", "flights")
	secret.Visibility = registry.VisibilityInternal
	return catalog.NewSnapshot([]registry.Tool{
		make("flight_search", "Search flights", "Finds a flight to a city.", "Travel", "flights"),
		make("flight_book", "Book a flight", "Books a seat that was found.", "travel", "flights"),
		make("hotel_search", "Search hotels", "Finds a room in a city.", "travel", "hotels"),
		make("pets.search", "Search pets", "Finds a pet in a city.", "pets"),
		make("poem", "Poem", "Writes a poem about a city.", "words"),
		secret,
	}, noon)
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	s := travel()
	ask := func(request string, o catalog.SearchOptions, tags ...string) string {
		var ids []string
		for _, tool := range s.Candidates(request, tags, o) {
			ids = append(ids, tool.ToolID)
		}
		return strings.Join(ids, " ")
	}
	for name, c := range map[string]struct{ got, want string }{
		"C16 tags narrow what a planner chooses from":        {ask("find something in a city", catalog.SearchOptions{}, "flights"), "flight_search flight_book"},
		"C16 one tag of several is enough, in any case":      {ask("a room in a city", catalog.SearchOptions{}, "HOTELS", "pets"), "hotel_search pets.search"},
		"C16 wrong tags do not hide a tool called by its id": {ask("use pets.search, please", catalog.SearchOptions{}, "hotels"), "pets.search hotel_search"},
		"C16 nor by its command":                             {ask("/Poem@ourbot about hotels", catalog.SearchOptions{}, "pets"), "poem pets.search"},
		"C16 nor by its name":                                {ask("can you search  Hotels there", catalog.SearchOptions{}, "words"), "hotel_search poem"},
		"C16 tags of no tool narrow nothing":                 {ask("write a poem", catalog.SearchOptions{}, "weather"), "poem"},
		"C16 without words all of the intent are candidates": {ask("", catalog.SearchOptions{}, "flights"), "flight_book flight_search"},
		"C16 no tag shows what is not for the asker":         {ask("flight_audit", catalog.SearchOptions{}, "flights"), "flight_search flight_book"},
		"C16 insiders are told of internal tools":            {ask("flight_audit", catalog.SearchOptions{Audience: registry.Insiders, Limit: 1}, "pets"), "flight_audit"},
		"C16 a limit holds":                                  {ask("city", catalog.SearchOptions{Limit: 2}, "travel"), "flight_search hotel_search"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Equal(strings.Fields(c.got), strings.Fields(c.want)) {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}
