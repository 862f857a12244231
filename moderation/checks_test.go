package moderation_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// pictures are all alike.
type pictures []byte

func (p pictures) OpenMedia(context.Context, registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	return io.NopCloser(bytes.NewReader(p)), registry.MediaInfo{}, nil
}

func TestChecks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	var file bytes.Buffer
	h.must(png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 2000, 10))))
	scores, down, looked := map[string]float64{"sexual": 0.79}, error(nil), 0
	c := moderation.Checks{Media: pictures(file.Bytes()), At: 0.8, Look: func(_ context.Context, mime string, picture []byte) (map[string]float64, error) {
		looked++
		small, err := png.DecodeConfig(bytes.NewReader(picture))
		if err != nil || mime != "image/png" || small.Width > 768 {
			t.Errorf("a picture of %d pixels as %s, %v", small.Width, mime, err)
		}
		return scores, down
	}}
	run := h.makes(h.ann)
	run.Outputs = append(run.Outputs, runs.Output{Name: "words", Type: "text", Text: "a cat"}, runs.Output{Name: "sound", Type: "audio", Media: "asset:" + uuid.NewString()})
	h.must(h.Check(ctx, c, run))
	if looked != 1 || len(h.told) != 0 {
		t.Errorf("looked at %d pictures, told %+v", looked, h.told)
	}

	scores = map[string]float64{"violence": 0.85, "sexual/minors": 0.93, "hate": 0.2}
	for range 2 { // the second time after a crash
		h.refuses(h.Check(ctx, c, run), said.ResultHeld)
	}
	cases, err := h.Cases(ctx, moderation.Place{}, 10)
	h.must(err)
	if len(cases) != 1 || cases[0].Reports != 1 || cases[0].AccountID != h.ann || cases[0].Where.Platform != moderation.CheckPlace ||
		!slices.Equal(cases[0].Reasons, []string{"sexual"}) || !slices.Equal(cases[0].Words, []string{"sexual/minors 0.93, violence 0.85"}) {
		t.Errorf("the cases are %+v", cases)
	}
	if len(h.told) != 1 || h.told[0].AccountID != h.operator || h.told[0].Key != "report.held" {
		t.Errorf("told %+v, want the operator once", h.told)
	}
	h.must(h.Dismiss(ctx, moderation.Decision{RunID: run.ID, By: h.operator}))

	down = registry.Say(registry.CodeUnavailable, said.Internal)
	h.must(h.Check(ctx, c, run))
	c.Strict = true
	h.refuses(h.Check(ctx, c, run), said.ResultUnchecked)
	t.Run("a picture that can't be looked at hides no other", func(t *testing.T) {
		two := h.makes(h.ben)
		two.Outputs = append(slices.Clone(two.Outputs), two.Outputs...)
		first := true
		c := c
		c.Strict = false
		c.Look = func(context.Context, string, []byte) (map[string]float64, error) {
			if first {
				first = false
				return nil, errors.New("it takes no such pictures")
			}
			return map[string]float64{"sexual": 0.9}, nil
		}
		h.refuses(h.Check(ctx, c, two), said.ResultHeld)
	})
	c.Media, down = pictures("no picture"), errors.New("not asked")
	h.refuses(h.Check(ctx, c, run), said.ResultUnchecked)
	log, err := h.people.Audit(ctx, users.AuditQuery{AccountID: h.ann})
	h.must(err)
	var actions []string
	for _, e := range slices.Backward(log) {
		actions = append(actions, e.Action)
	}
	if want := []string{"result held back", "report dismissed", "result not checked"}; !slices.Equal(actions, want) {
		t.Errorf("the audit has %q, want %q", actions, want)
	}
}
