package chattest

import (
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

// cards are what structured answers of services become.
func cards() map[string]func(*scene) {
	return map[string]func(*scene){
		"C10 an answer that is a card is shown as one":                                     plainCard,
		"C10 a receipt has its lines and its total":                                        receiptCard,
		"C10 a confirmation has its reference":                                             confirmationCard,
		"C10 a follow-up starts its tool when it is pressed, once":                         followUp,
		"C10 a follow-up waits for confirmation where it changes something":                followUpAsks,
		"C10 a follow-up to no tool, or with a file of somebody's, says so":                followUpNowhere,
		"C10 what is no card is shown by its members, and in full as a file when long":     anyJSON,
		"C10 a card's words are not markup, and its addresses are https and show the host": cardWords,
	}
}

// answered runs a tool that answers with a text and gives the message that has these parts.
func (s *scene) answered(answer string, parts ...string) Seen {
	s.t.Helper()
	n := len(s.Provider.Calls())
	s.say("/series a cat")
	s.Succeed(s.Call(n), registrytest.Text("result", answer))
	m := s.AwaitText(s.room, append([]string{"Series"}, parts...)...)
	if strings.Contains(m.Text, `{"`) {
		s.t.Errorf("the answer is shown raw:\n%s", m.Text)
	}
	return m
}

func plainCard(s *scene) {
	s.answered(`{"type": "card", "title": "Hotel Alba", "subtitle": "Lisbon", "text": "By the river.", "fields": {"check_in": "15:00", "pets": true}}`,
		"Hotel Alba\nLisbon\nBy the river.\nCheck in: 15:00\nPets: yes")
}

func receiptCard(s *scene) {
	s.answered(`{"type": "receipt", "title": "Two tickets", "currency": "EUR", "reference": "R-77", "total": 183.50,
		"items": [{"title": "Ticket", "quantity": 2, "amount": "89.00"}, {"title": "Seat", "amount": "5.50", "text": "12A"}]}`,
		"Receipt · Two tickets\nReference: R-77\n• 2 × Ticket – 89.00 EUR\n• Seat – 5.50 EUR – 12A\nTotal: 183.50 EUR")
}

func confirmationCard(s *scene) {
	s.answered(`{"confirmation": {"title": "Flight to Lisbon", "status": "confirmed", "confirmation_number": "QX7K2P"}}`,
		"Confirmation · Flight to Lisbon\nStatus: confirmed\nReference: QX7K2P")
}

// reader is a tool that only reads, and costs nothing.
func (s *scene) reader() {
	look := tool("look", "Look", registry.InputField{Name: "place", Type: registry.TypeString, Required: true})
	look.Capability = registry.CapabilityRead
	s.Loader.Set(append(Tools(), look)...)
	s.Reload()
}

func followUp(s *scene) {
	s.reader()
	m := s.answered(`{"title": "Booked", "actions": [{"label": "Show the hotel", "tool": "look", "inputs": {"place": "Alba", "extra": 1}}]}`, "Booked")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Fatalf("%d runs; a follow-up started by itself", n)
	}
	s.press(m, "Show the hotel")
	s.input(s.Call(1), "place", "Alba")
	s.AwaitText(s.room, "Look", "Look has no input “extra”")
	m = s.labelled("✓ Show the hotel", "Booked")
	if a := s.press(m, "✓ Show the hotel"); !strings.Contains(a.Text, "already") {
		s.t.Errorf("a second press answers %q", a.Text)
	}
	s.Handled()
	if n := s.CountRuns(); n != 2 {
		s.t.Errorf("%d runs, want 2", n)
	}
}

func followUpAsks(s *scene) {
	m := s.answered(`{"title": "Drawn", "actions": [{"label": "Look closer", "tool": "painter", "inputs": {"prompt": "a castle", "steps": 12}}]}`, "Drawn")
	s.press(m, "Look closer")
	m = s.labelled("Go ahead", "Painter", "a castle", "12", "under $0.01")
	s.Handled()
	if n := len(s.Provider.Calls()); n != 1 {
		s.t.Fatalf("%d runs went ahead; what costs something was not asked for", n)
	}
	s.press(m, "Go ahead")
	s.input(s.Call(1), "prompt", "a castle")
}

func followUpNowhere(s *scene) {
	m := s.answered(`{"title": "Done", "actions": [{"label": "Fly", "tool": "rocket_start", "inputs": {}},
		{"label": "Enlarge it", "tool": "enlarge", "inputs": {"image": "asset:`+strings.Repeat("ab", 32)+`"}}]}`, "Done")
	if a := s.press(m, "Fly"); !strings.Contains(a.Text, "no tool “rocket_start”") {
		s.t.Errorf("an unknown tool answers %q", a.Text)
	}
	if a := s.press(m, "Enlarge it"); strings.Contains(a.Text, "Started") {
		s.t.Errorf("a file of somebody's answers %q", a.Text)
	}
	s.Handled()
	if n := s.CountRuns(); n != 1 {
		s.t.Errorf("%d runs, want 1", n)
	}
}

func anyJSON(s *scene) {
	m := s.answered(`{"id": 7, "firstName": "Rex", "tags": ["good", "dog"]}`, "Id: 7\nFirst name: Rex\nTags: good, dog")
	if m.Media != nil {
		s.t.Error("a short answer came as a file")
	}
	long := `{"name": "Tom", "story": "` + strings.Repeat("very long ", 400) + `"}`
	s.say("/series a cat")
	s.Succeed(s.Call(1), registrytest.Text("result", long))
	s.AwaitText(s.room, "Series", "Name: Tom\nStory: very long")
	file := s.Await(s.room, "the whole answer as a file", func(m Seen) bool { return m.Media != nil && m.Media.Kind == chat.KindDocument })
	if string(file.Media.Data) != long {
		s.t.Errorf("the file has %d bytes", len(file.Media.Data))
	}
}

func cardWords(s *scene) {
	m := s.answered(`{"type": "card", "title": "<b>**B_o_b**</b> @everyone", "text": "[a](https://evil.example) <script>", "url": "https://alba.example/x",
		"image": "http://plain.example/1.png", "fields": [{"label": "A\u202eB", "value": "x\ny"}]}`,
		"<b>**B_o_b**</b>", "[a](", "<script>", "AB: x y", "Open:", "alba.example")
	if strings.Contains(m.Text, "plain.example") {
		s.t.Errorf("an address that is not https is linked:\n%s", m.Text)
	}
}
