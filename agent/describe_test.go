package agent_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/agent"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 500)
	for name, c := range map[string]struct {
		says string
		want agent.Sight
		err  string
	}{
		"an object":                {`{"description":"A red mug.","tags":["Mug","red"]}`, agent.Sight{Description: "A red mug.", Tags: []string{"mug", "red"}}, ""},
		"an object in marks":       {"Here it is:\n```json\n{\"description\":\"A mug.\"}\n```", agent.Sight{Description: "A mug."}, ""},
		"what is hidden in a text": {"{\"description\":\"A\\nmug\u202e.\",\"tags\":[\" \",\"\\u0000\"]}", agent.Sight{Description: "A mug."}, ""},
		"no picture":               {`{}`, agent.Sight{}, "saw no picture"},
		"no object":                {"I can't see pictures.", agent.Sight{}, "expected a JSON object"},
		"too much":                 {`{"description":"` + long + `","tags":["` + strings.Repeat(long+`","`, 20) + `"]}`, agent.Sight{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &script{say: func(agent.Conversation) (agent.Turn, error) { return agent.Turn{By: agent.Asked, Text: c.says}, nil }}
			picture := agent.Picture{MIMEType: "image/png", Content: []byte("png")}
			got, answer, err := agent.New(agent.Config{Model: model}).Describe(t.Context(), agent.Question{Text: "a picture", House: true}, picture, "German")
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || answer.Stop != agent.StopAnswered {
				t.Fatalf("got %+v, %v", answer, err)
			}
			if name == "too much" {
				if utf8.RuneCountInString(got.Description) > 301 || len(got.Tags) != 10 || utf8.RuneCountInString(got.Tags[0]) > 41 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if got.Description != c.want.Description || !slices.Equal(got.Tags, c.want.Tags) {
				t.Errorf("got %+v", got)
			}
			if said := model.last.Turns[0]; len(said.Pictures) != 1 || !strings.Contains(said.Text, "German") || len(model.last.Tools) != 0 {
				t.Errorf("the model was told %+v", model.last)
			}
		})
	}
}
