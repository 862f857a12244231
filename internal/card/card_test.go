package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/card"
)

func parse(t *testing.T, text string) card.Answer {
	t.Helper()
	a, ok := card.Parse(text)
	if !ok {
		t.Fatalf("%.80s is no answer", text)
	}
	return a
}

func TestFourKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		want   card.Answer
	}{
		"C10 a card": {
			`{"type": "card", "title": "Hotel Alba", "subtitle": "Lisbon", "text": "By the river.\n\n\nBreakfast included.", "url": "https://alba.example/rooms",
			  "image": {"url": "https://img.example/1.jpg", "alt": "The house"}, "fields": [{"label": "Stars", "value": 4}, {"label": "Pets", "value": true}]}`,
			card.Answer{Cards: []card.Card{{
				Kind: card.Plain, Title: "Hotel Alba", Subtitle: "Lisbon", Text: "By the river.\n\nBreakfast included.",
				Fields: []card.Field{{Label: "Stars", Value: "4"}, {Label: "Pets", Value: "yes"}},
				Links:  []card.Link{{Host: "alba.example", URL: "https://alba.example/rooms"}, {Label: "The house", Host: "img.example", URL: "https://img.example/1.jpg", Image: true}},
			}}},
		},
		"C10 a receipt": {
			`{"type": "receipt", "title": "Two tickets", "currency": "EUR", "items": [{"title": "Ticket", "quantity": 2, "amount": "89.00"}, {"name": "Seat", "text": "12A", "price": {"amount": 5.50, "currency": "USD"}}],
			  "total": 183.50, "reference": "R-77", "paid_at": "2026-11-20"}`,
			card.Answer{Cards: []card.Card{{
				Kind: card.Receipt, Title: "Two tickets", Reference: "R-77", Total: "183.50 EUR", Fields: []card.Field{{Label: "Paid at", Value: "2026-11-20"}},
				Items: []card.Item{{Title: "Ticket", Quantity: "2", Amount: "89.00 EUR"}, {Title: "Seat", Text: "12A", Amount: "5.50 USD"}},
			}}},
		},
		"C10 a receipt that does not say so": {
			`{"lines": ["One cat"], "total": {"amount": "12", "currency": "GBP"}}`,
			card.Answer{Cards: []card.Card{{Kind: card.Receipt, Total: "12 GBP", Items: []card.Item{{Title: "One cat"}}}}},
		},
		"C10 a confirmation": {
			`{"confirmation": {"title": "Booked", "status": "confirmed", "confirmation_number": "QX7K2P", "details": {"Seat": "12A", "ticket": "https://air.example/t/1"}}}`,
			card.Answer{Cards: []card.Card{{
				Kind: card.Confirmation, Title: "Booked", Status: "confirmed", Reference: "QX7K2P",
				Fields: []card.Field{{Label: "Seat", Value: "12A"}, {Label: "Ticket", Value: "air.example", URL: "https://air.example/t/1"}},
			}}},
		},
		"C10 follow-up actions": {
			`{"title": "Booked", "actions": [{"label": "Cancel it", "tool": "flight_cancel", "inputs": {"booking_id": 12345678901234567890}}, {"title": "Again", "operationId": "flight_book"}]}`,
			card.Answer{Cards: []card.Card{{Kind: card.Plain, Title: "Booked"}}, Actions: []card.Action{
				{Label: "Cancel it", Tool: "flight_cancel", Inputs: map[string]any{"booking_id": json.Number("12345678901234567890")}},
				{Label: "Again", Tool: "flight_book", Inputs: map[string]any{}},
			}},
		},
		"C10 several in one answer, with what stands beside them": {
			`{"booking_id": "b_1", "receipt": {"total": "9"}, "cards": [{"title": "One"}, {"title": "Two"}]}`,
			card.Answer{Cards: []card.Card{
				{Fields: []card.Field{{Label: "Booking id", Value: "b_1"}}}, {Kind: card.Plain, Title: "One"}, {Kind: card.Plain, Title: "Two"}, {Kind: card.Receipt, Total: "9"},
			}},
		},
		"C10 what is none of them is shown by its members": {
			`{"id": 7, "firstName": "Rex", "owner": {"name": "Ann", "tags": ["a", "b"]}, "note": null, "type": "dog"}`,
			card.Answer{Cards: []card.Card{{Fields: []card.Field{
				{Label: "Id", Value: "7"}, {Label: "First name", Value: "Rex"}, {Label: "Owner", Value: "Name: Ann · Tags: a, b"}, {Label: "Type", Value: "dog"},
			}}}},
		},
		"C10 a list": {
			`[{"id": "a0", "name": "Rex", "age": 3, "url": "https://pets.example/a0"}, "Tom"]`,
			card.Answer{Cards: []card.Card{{Items: []card.Item{{Title: "Rex", Text: "Id: a0 · Age: 3", URL: "https://pets.example/a0"}, {Title: "Tom"}}}}},
		},
		"C10 members of other shapes are shown as they are": {
			`{"type": "receipt", "title": {"en": "Fish"}, "items": 3, "total": "1", "confirmation": "soon"}`,
			card.Answer{Cards: []card.Card{{Kind: card.Receipt, Total: "1", Fields: []card.Field{
				{Label: "Title", Value: "En: Fish"}, {Label: "Items", Value: "3"}, {Label: "Confirmation", Value: "soon"},
			}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, parse(t, c.answer)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, text := range []string{"", "Done.", "{}", "[]", "12", `{"a": 1} and more`, `{"a":`, `{"a": null}`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000)} {
		if a, ok := card.Parse(text); ok {
			t.Errorf("%.20q is %+v", text, a)
		}
	}
}

func TestAnswersAreData(t *testing.T) {
	t.Parallel()
	t.Run("C10 addresses are https or left out", func(t *testing.T) {
		t.Parallel()
		for _, address := range []string{"http://a.example", "javascript:alert(1)", "https://bank.example@evil.example/", "//a.example", "https://", "https://a.example/\u202egpj.exe", "data:text/html,x"} {
			raw, err := json.Marshal(map[string]any{"type": "card", "title": "T", "url": address, "image": address, "items": []any{map[string]any{"title": "I", "url": address}}})
			if err != nil {
				t.Fatal(err)
			}
			a := parse(t, string(raw))
			if len(a.Cards[0].Links) > 0 || a.Cards[0].Items[0].URL != "" || !a.Cut {
				t.Errorf("%q is linked: %+v", address, a)
			}
		}
	})
	t.Run("C10 lengths and numbers are bounded, and that is told", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("ä", 1600)
		many := strings.TrimSuffix(strings.Repeat(`{"title": "`+long[:600]+`", "label": "L", "tool": "t"},`, 30), ",")
		a := parse(t, `{"type": "card", "title": "`+long+`", "text": "`+long+`", "fields": [`+many+`], "items": [`+many+`], "actions": [`+many+`]}`)
		c := a.Cards[0]
		if !a.Cut || utf8.RuneCountInString(c.Title) != 200 || utf8.RuneCountInString(c.Text) != 1500 || len(c.Items) != 12 || len(a.Actions) != 6 || !strings.HasSuffix(c.Title, "…") {
			t.Errorf("title of %d, text of %d, %d items, %d actions, cut %v", len(c.Title), len(c.Text), len(c.Items), len(a.Actions), a.Cut)
		}
	})
	t.Run("C10 characters that change how others are shown are taken out", func(t *testing.T) {
		t.Parallel()
		a := parse(t, `{"type": "card", "title": "a\u202eb\u0000c\nd", "text": "x\r\ny\u2066z"}`)
		if c := a.Cards[0]; c.Title != "abc d" || c.Text != "x\nyz" {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("C10 actions without tool, label or room are left out", func(t *testing.T) {
		t.Parallel()
		a := parse(t, `{"title": "T", "actions": [{"label": "L"}, {"tool": "t"}, "x", {"label": "L", "tool": "t", "inputs": [1]}, {"label": "L", "tool": "t", "inputs": {"a": "`+strings.Repeat("b", 5000)+`"}}]}`)
		if len(a.Actions) > 0 || !a.Cut {
			t.Errorf("got %+v", a)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"type":"receipt","items":[{"title":"a","amount":1}],"total":2,"actions":[{"label":"l","tool":"t","inputs":{"a":[1]}}]}`,
		`[{"cards":[{"title":"x"}]}, 3]`, `{"confirmation":{"reference":"\ud800","status":true}}`, `{"a":{"b":{"c":[[]]}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, ok := card.Parse(text)
		if !ok {
			return
		}
		if len(a.Cards) > 6 || len(a.Actions) > 6 {
			t.Fatalf("%d cards, %d actions", len(a.Cards), len(a.Actions))
		}
		shown := fmt.Sprintf("%+v", a.Cards)
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) || r != '\n' && unicode.IsControl(r) }) {
			t.Fatalf("%q has characters that are no text", shown)
		}
	})
}
