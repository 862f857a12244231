package pages

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/render"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// priceList is a page of the list of prices.
type priceList struct {
	Tools []*registry.Tool
	More  string // address of the next page
}

// manyPrices is how many tools a page of the list has.
const manyPrices = 200

func (s *overview) prices(w http.ResponseWriter, r *http.Request, a users.Account) error {
	voice := s.render.Voice(r, a)
	shown, _, next := turnTo(s.tools.forPeople(a), r.URL.Query().Get("from"), manyPrices)
	list := priceList{Tools: readIn(voice.Language(), shown)}
	if next != "" {
		list.More = "/prices?from=" + next
	}
	return s.pages.Show(w, r, a, "prices", render.View{Title: voice.Line("web.prices"), Data: list})
}

// buyView is how people get more credit, as it is at the moment.
type buyView struct {
	words.Buying
	Support string
}

// now is that at this moment.
func (b Buying) now() buyView {
	v := buyView{Support: now(b.Support)}
	if b.Offers != nil {
		v.Buying = b.Offers()
	}
	return v
}

// developers explains the API and offers a key for it.
func (s *overview) developers(w http.ResponseWriter, r *http.Request, a users.Account) error {
	return s.pages.Show(w, r, a, "developers", render.View{Title: "API", Data: s.door.Site.Absolute(r, "")})
}

// llms answers GET /llms.txt: an index of all that is documented here, in Markdown, for models that look for
// what a site has (llmstxt.org).
func (s *overview) llms(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	var b strings.Builder
	b.WriteString("# Signalbox\n\n> Tools that make pictures, videos and texts, for chats, browsers and programs. Every run has a price before and a receipt after.\n\n## Documentation\n\n")
	for _, page := range [][3]string{
		{"API", "/openapi.json", "every operation with its inputs and answers, as OpenAPI 3.1"},
		{"For developers", "/developers", "how to get a key, and an example"},
		{"Tools", "/api/tools", "all definitions as JSON; needs a key"},
		{"Prices", "/prices", "what each tool costs"},
	} {
		fmt.Fprintf(&b, "- [%s](%s): %s\n", page[0], s.door.Site.Absolute(r, page[1]), page[2])
	}
	b.WriteString("\n## Tools\n\n")
	for _, tool := range s.tools.snapshot().Offered(registry.Everyone) {
		about, _, _ := strings.Cut(tool.Description, "\n")
		fmt.Fprintf(&b, "- [%s](%s): %s\n", inLink.Replace(tool.DisplayName), s.door.Site.Absolute(r, "/tool/"+tool.ToolID), about)
	}
	_, _ = io.WriteString(w, b.String()) // the reader has gone
}

// inLink keeps a name inside the brackets of a Markdown link.
var inLink = strings.NewReplacer("[", "(", "]", ")", "\n", " ")
