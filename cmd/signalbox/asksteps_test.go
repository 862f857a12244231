package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/agent/anthropic/anthropictest"
	"github.com/signalbox/signalbox/cmd/signalbox/ask"
)

// TestAskForSteps has a model do two things to a picture, one after the other, over the API and at a terminal.
func TestAskForSteps(t *testing.T) {
	t.Parallel()
	var ref string
	claude := anthropictest.New(t, func(heard []agent.Result) agent.Turn {
		if len(heard) > 0 {
			return agent.Turn{Text: "It waits for your word."}
		}
		return agent.Turn{Text: "I give it a look.", Calls: []agent.Call{{Tool: "planSteps", Arguments: `{"steps":[
			{"tool":"filmlook","inputs":{"image":"` + ref + `","grain":0.1}},{"tool":"sticker","inputs":{"image":{"$output":{"leg":1}}}}]}`}}}
	})
	page := start(t, "--admin-token", remoteAdmin, "--outbound-allow", "127.0.0.1",
		"--anthropic-api-key", anthropictest.Key, "--anthropic-base-url", claude.URL, "--anthropic-model", anthropictest.Model)
	operator := client{t, page, remoteAdmin}
	picture := filepath.Join(t.TempDir(), "cup.png")
	if err := os.WriteFile(picture, cup(t), 0o600); err != nil {
		t.Fatal(err)
	}
	status, body := operator.do("POST", "/api/uploads?name=cup.png", string(cup(t)))
	var kept struct{ Ref string }
	if err := json.Unmarshal([]byte(body), &kept); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	ref = kept.Ref
	question := ask.Question{Text: "give this a film look and make a sticker of it", Files: []string{picture}, Key: remoteAdmin, Server: page}

	t.Run("C42 POST /api/ask answers with one card that has all steps, and confirming it once has the last step's result", func(t *testing.T) {
		status, body := operator.do("POST", "/api/ask", `{"question":"give this a film look and make a sticker of it","attachments":["`+ref+`"]}`)
		var got struct {
			Cards []struct {
				RunID, Hash string
				Summary     struct {
					Promise int64 `json:"promiseNanoUsd"`
					Preview struct {
						Parts []struct{ ToolID, Name, CostUSD string }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK || len(got.Cards) != 1 {
			t.Fatalf("%d %s", status, body)
		}
		card := got.Cards[0]
		if parts := card.Summary.Preview.Parts; len(parts) != 2 || parts[0].Name != "Film look" || parts[1].ToolID != "sticker" || parts[1].CostUSD == "0" || card.Summary.Promise == 0 {
			t.Errorf("the card is %+v", card)
		}
		if status, body := operator.do("GET", "/run/"+card.RunID, ""); status != http.StatusOK || !strings.Contains(body, "1. Film look") || !strings.Contains(body, "Picture: what step 1 makes") {
			t.Errorf("its page does not show the steps: %d %s", status, body)
		}
		if status, body := operator.do("POST", "/api/runs/"+card.RunID+"/confirm", `{"summaryHash":"`+strings.Repeat("0", 64)+`"}`); status < 400 {
			t.Errorf("what was not shown is confirmed: %d %s", status, body)
		}
		if status, body := operator.do("POST", "/api/runs/"+card.RunID+"/confirm", `{"summaryHash":"`+card.Hash+`"}`); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, body)
		}
		operator.do("GET", "/api/runs/"+card.RunID+"/events", "") // to their end
		var run struct {
			Status  string
			Outputs []struct{ MIMEType, URL string }
		}
		if status, body := operator.do("GET", "/api/runs/"+card.RunID, ""); json.Unmarshal([]byte(body), &run) != nil || run.Status != "succeeded" || len(run.Outputs) != 1 || run.Outputs[0].MIMEType != "image/png" {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("C42 signalbox ask takes the file along, shows the steps, asks once and prints where the result is", func(t *testing.T) {
		var out bytes.Buffer
		question := question
		question.Yes = strings.NewReader("yes\n")
		if err := ask.Ask(t.Context(), &out, question); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		want := regexp.MustCompile(`(?s)waits for you.*1\. Film look \((?:under )?\$[0-9.]+\).*Grain: "0\.1".*2\. Sticker cut-out \((?:under )?\$[0-9.]+\).*Picture: "what step 1 makes".*Go ahead \((?:under )?\$[0-9.]+\)\? \[y/N\].*/files/`)
		if !want.MatchString(out.String()) {
			t.Errorf("it printed\n%s", &out)
		}
	})
	t.Run("no word is none", func(t *testing.T) {
		for said, want := range map[string]string{"\n": "Nothing was done", "yes, but blue\n": "Nothing was done"} {
			var out bytes.Buffer
			question := question
			question.Yes = strings.NewReader(said)
			if err := ask.Ask(t.Context(), &out, question); err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("%q: %v\n%s", said, err, &out)
			}
		}
		var out bytes.Buffer
		if err := ask.Ask(t.Context(), &out, question); err != nil || strings.Contains(out.String(), "[y/N]") {
			t.Errorf("somebody was asked who is not there: %v\n%s", err, &out)
		}
	})
}

// cup is a picture of something dark before a white wall.
func cup(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			shade := uint8(255)
			if x > 16 && x < 48 && y > 16 && y < 48 {
				shade = 40
			}
			m.Set(x, y, color.NRGBA{shade, shade, shade, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
