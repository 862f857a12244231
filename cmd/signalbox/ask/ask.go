// Package ask asks a model of the running program, in a terminal.
package ask

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/internal/i18n"
)

// Question is what is asked, and whom.
type Question struct {
	Text         string
	Files        []string // paths of files that go along
	Model        string   // empty: the first one
	Conversation string   // empty: it stands alone
	Key          string   // of the one who asks
	Server       string   // address of the running program
	Language     string   // of the one who reads, as in LANG: de_DE.UTF-8
	// Yes is where the person's word to what waits is read; nil: nobody is there, and it goes on waiting.
	Yes io.Reader
}

// Ask puts a question to a model of the program that is running, and prints the answer while it comes. What waits then for a word is shown
// with its price and, where somebody is there and says yes, followed to its end.
func Ask(ctx context.Context, w io.Writer, q Question) error {
	if q.Key == "" {
		return errors.New("there is no key to ask with: make one on the page (API, at its foot) and set SIGNALBOX_KEY")
	}
	c := client{server: strings.TrimSuffix(q.Server, "/"), key: q.Key}
	var attachments []attachment
	for _, path := range q.Files {
		one, err := c.upload(ctx, path)
		if err != nil {
			return err
		}
		attachments = append(attachments, one)
	}
	response, err := c.send(ctx, http.MethodPost, "/api/ask", "text/event-stream", map[string]any{
		"question": q.Text, "model": q.Model, "conversation": q.Conversation, "attachments": attachments,
	})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	texts, err := i18n.Load()
	if err != nil {
		return err
	}
	language, _, _ := strings.Cut(q.Language, ".")
	t := &printer{out: w, server: c.server, say: texts.Voice(strings.ReplaceAll(language, "_", "-"))}
	if err := t.follow(response.Body); err != nil || len(t.cards) == 0 {
		return err
	}
	return c.settle(ctx, t, q.Yes)
}

// printer prints an answer as it comes.
type printer struct {
	out    io.Writer
	server string
	say    i18n.Voice
	inLine bool // something was printed that has no end of line yet
	cards  []card
}

// event is one of POST /api/ask, with the members that are printed.
type event struct {
	Text    string `json:"text"`
	Replace bool   `json:"replace"`
	Tool    string `json:"tool"`
	Card    *card  `json:"card"`
	Result  *struct {
		OK    bool `json:"ok"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"result"`
	Answer string `json:"answer"`
	Notice string `json:"notice"`
	Error  *struct {
		Detail string `json:"detail"`
	} `json:"error"`
}

func (t *printer) follow(stream io.Reader) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 16<<20)
	name, said := "", ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			var e event
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				return fmt.Errorf("the program sent what can't be read: %w", err)
			}
			if name == "text" {
				said = t.text(e, said)
				continue
			}
			if name == "done" {
				return t.done(e, said)
			}
			t.step(name, e)
		}
	}
	return errors.Join(errors.New("the answer broke off"), lines.Err())
}

// text prints what the model says. What begins anew begins a line.
func (t *printer) text(e event, said string) string {
	if e.Replace {
		t.endLine()
		said = ""
	}
	fmt.Fprint(t.out, e.Text)
	t.inLine = e.Text != ""
	return said + e.Text
}

func (t *printer) step(name string, e event) {
	t.endLine()
	switch {
	case name == "card" && e.Card != nil:
		t.cards = append(t.cards, *e.Card)
		price := t.say.AtMost(e.Card.Summary.Promise)
		fmt.Fprintln(t.out, "  "+t.say.Line("ask.waits", "tool", e.Tool, "price", price, "where", t.server+"/run/"+e.Card.RunID))
		t.show(*e.Card)
	case e.Result == nil:
		fmt.Fprintf(t.out, "  %s ...\n", e.Tool)
	case e.Result.Error != nil:
		fmt.Fprintf(t.out, "  %s: %s\n", e.Tool, e.Result.Error.Message)
	}
}

// done prints what has not been said yet.
func (t *printer) done(e event, said string) error {
	t.endLine()
	if e.Answer != "" && !strings.HasSuffix(strings.TrimSpace(said), strings.TrimSpace(e.Answer)) {
		fmt.Fprintln(t.out, e.Answer)
	}
	if e.Notice != "" {
		fmt.Fprintln(t.out, e.Notice)
	}
	if e.Error != nil {
		return errors.New(e.Error.Detail)
	}
	return nil
}

func (t *printer) endLine() {
	if t.inLine {
		fmt.Fprintln(t.out)
		t.inLine = false
	}
}
