package show

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/card"
	"github.com/signalbox/signalbox/platforms/chat"
)

// add adds a text output: structured answers as cards, all others as they are.
func (r *result) add(v Voice, text string) {
	text = strings.TrimSpace(text)
	shown := chat.Plain(text)
	if answer, ok := card.Parse(text); ok {
		shown, r.partial = v.cards(answer), r.partial || answer.Cut
	}
	r.text, r.raw = chat.Join("\n\n", r.text, shown), append(r.raw, text)
}

// rawFile makes a file of the texts as they came, for what does not fit into a message.
func (r *result) rawFile() chat.Media {
	raw := []byte(strings.Join(r.raw, "\n\n"))
	m := chat.Media{Kind: chat.KindDocument, FileName: "result.txt", MIMEType: "text/plain; charset=utf-8", Bytes: int64(len(raw))}
	if json.Valid(raw) {
		m.FileName, m.MIMEType = "result.json", "application/json"
	}
	m.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	return m
}

// cards writes an answer as cards below each other. Its words are a stranger's: they are never markup, and an address
// stands beside what it calls itself.
func (v Voice) cards(a card.Answer) chat.Text {
	all := make([]chat.Text, len(a.Cards))
	for i, c := range a.Cards {
		all[i] = v.card(c)
	}
	return chat.Join("\n\n", all...)
}

func (v Voice) card(c card.Card) chat.Text {
	text := chat.Lines(v.cardTitle(c), styled(chat.StyleItalic, c.Subtitle), chat.Plain(c.Text), v.labelled("card.status", c.Status), v.labelled("card.reference", c.Reference))
	for _, f := range c.Fields {
		text = chat.Lines(text, field(f))
	}
	for _, item := range c.Items {
		text = chat.Lines(text, cardItem(item))
	}
	if c.Total != "" {
		text = chat.Lines(text, styled(chat.StyleBold, v.Line("card.total")+": "+c.Total))
	}
	for _, link := range c.Links {
		label := link.Label
		switch {
		case label == "" && link.Image:
			label = v.Line("card.picture")
		case label == "":
			label = v.Line("card.open")
		}
		text = chat.Lines(text, chat.Join(" ", chat.Plain(label), linked(link.Host, link.URL)))
	}
	return text
}

// cardTitle says what a card is: a receipt and a confirmation by their names, all by their titles.
func (v Voice) cardTitle(c card.Card) chat.Text {
	kind := ""
	switch c.Kind {
	case card.Receipt:
		kind = v.Line("card.receipt")
	case card.Confirmation:
		kind = v.Line("card.confirmation")
	}
	return chat.Join(" · ", styled(chat.StyleBold, kind), styled(chat.StyleBold, c.Title))
}

func (v Voice) labelled(key, value string) chat.Text {
	if value == "" {
		return nil
	}
	return chat.Plain(v.Line(key) + ": " + value)
}

func field(f card.Field) chat.Text {
	value := chat.Plain(f.Value)
	if f.URL != "" {
		value = linked(f.Value, f.URL)
	}
	return chat.Join(": ", chat.Plain(f.Label), value)
}

func cardItem(item card.Item) chat.Text {
	text := "• "
	if item.Quantity != "" && item.Quantity != "1" {
		text += item.Quantity + " × "
	}
	return chat.Join(" ", chat.Plain(strings.TrimRight(text+strings.Join(slices.DeleteFunc([]string{item.Title, item.Amount, item.Text}, isEmpty), " – "), " ")), linked(hostOf(item.URL), item.URL))
}

func isEmpty(s string) bool { return s == "" }

// hostOf is the host of an address that a card has.
func hostOf(address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
	return host
}

func styled(style chat.Style, s string) chat.Text {
	if s == "" {
		return nil
	}
	return chat.Text{{Style: style, Text: s}}
}

func linked(label, address string) chat.Text {
	if address == "" {
		return nil
	}
	return chat.Text{{Style: chat.StyleLink, Text: label, URL: address}}
}
