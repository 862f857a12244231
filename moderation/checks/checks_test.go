package checks_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/moderation/checks"
	"github.com/signalbox/signalbox/moderation/checks/checkstest"
)

func TestLook(t *testing.T) {
	t.Parallel()
	s := checkstest.New(t)
	open := func(key string) *checks.Client {
		c, err := checks.New(checks.Config{URL: s.URL, Model: checkstest.Model, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	c := open(checkstest.Key)
	s.Score(map[string]float64{"violence": 0.91})
	scores, err := c.Look(t.Context(), "image/png", picture.Bytes())
	if err != nil || scores["violence"] != 0.91 || scores["sexual"] != 0.001 || len(scores) != 13 || s.Asked() != 1 {
		t.Errorf("%v, %v", scores, err)
	}
	if _, err := c.Look(t.Context(), "image/jpeg", picture.Bytes()); err == nil {
		t.Error("a picture of another type than is said was taken")
	}
	for name, body := range map[string]string{
		"no JSON": "no", "nothing": `{"results":[]}`, "no scores": `{"results":[{"flagged":true}]}`, "two": `{"results":[{"category_scores":{"sexual":0}},{"category_scores":{"sexual":0}}]}`,
		"beyond": `{"results":[{"category_scores":{"sexual":7}}]}`,
	} {
		s.Break(body)
		if scores, err := c.Look(t.Context(), "image/png", picture.Bytes()); err == nil {
			t.Errorf("%s: %v", name, scores)
		}
	}
	s.Break("")
	if _, err := open("sk-wrong").Look(t.Context(), "image/png", picture.Bytes()); err == nil || strings.Contains(err.Error(), "sk-wrong") {
		t.Errorf("a wrong key: %v", err)
	}
}
