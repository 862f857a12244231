// Package ask asks a model of the running program, in a terminal.
package ask

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
)

// Question is what is asked, and whom.
type Question struct {
	Text         string
	Model        string // empty: the first one
	Conversation string // empty: it stands alone
	Key          string // of the one who asks
	Server       string // address of the running program
	Language     string // of the one who reads, as in LANG: de_DE.UTF-8
}

// Ask puts a question to a model of the program that is running, and prints the answer while it comes.
func Ask(ctx context.Context, w io.Writer, q Question) error {
	body, err := json.Marshal(map[string]string{"question": q.Text, "model": q.Model, "conversation": q.Conversation})
	if err != nil {
		return err
	}
	server := strings.TrimSuffix(q.Server, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/api/ask", bytes.NewReader(body))
	if err != nil {
		return err
	}
	if q.Key == "" {
		return errors.New("there is no key to ask with: make one on the page (API, at its foot) and set SIGNALBOX_KEY")
	}
	request.Header.Set("Authorization", "Bearer "+q.Key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("no program answers at %s; start it with signalbox up: %w", server, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusalOf(response)
	}
	texts, err := i18n.Load()
	if err != nil {
		return err
	}
	language, _, _ := strings.Cut(q.Language, ".")
	t := printer{out: w, server: server, say: texts.Voice(strings.ReplaceAll(language, "_", "-"))}
	return t.follow(response.Body)
}

// refusalOf reads why a request was refused.
func refusalOf(response *http.Response) error {
	var problem struct{ Detail string }
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&problem); err != nil || problem.Detail == "" {
		return fmt.Errorf("the program answered %s", response.Status)
	}
	return errors.New(problem.Detail)
}

// printer prints an answer as it comes.
type printer struct {
	out    io.Writer
	server string
	say    i18n.Voice
	inLine bool // something was printed that has no end of line yet
}

// event is one of POST /api/ask, with the members that are printed.
type event struct {
	Text    string `json:"text"`
	Replace bool   `json:"replace"`
	Tool    string `json:"tool"`
	RunID   string `json:"runId"`
	Card    *struct {
		Summary struct {
			ToolID  string          `json:"toolId"`
			Promise billing.NanoUSD `json:"promiseNanoUsd"`
		} `json:"summary"`
	} `json:"card"`
	Result *struct {
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
		price := t.say.AtMost(e.Card.Summary.Promise)
		fmt.Fprintln(t.out, "  "+t.say.Line("ask.waits", "tool", e.Tool, "price", price, "where", t.server+"/run/"+e.RunID))
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
