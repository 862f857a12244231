package canvas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/registry"
)

// house is a provider with a database.
type house struct{ *Provider }

func newHouse(t *testing.T) house {
	t.Helper()
	p, err := New(Config{
		Pool: postgrestest.New(t), Fonts: testFonts(), Media: memory{}, Painter: Abstract{},
		User:  func(_ context.Context, id string) (Person, error) { return Person{ID: id, Name: "Ann"}, nil },
		Owned: func(context.Context, string, registry.Media) (bool, error) { return false, nil },
		Keep:  func(context.Context, string, io.Reader, string) (registry.Media, error) { return "asset:1", nil },
		Penpot: func(context.Context, string, string, any) (json.RawMessage, error) {
			return json.RawMessage(`{"shapeIds": []}`), nil
		},
		Say: func(_ context.Context, _, key string) string { return key },
	})
	if err != nil {
		t.Fatal(err)
	}
	return house{p}
}

// call is a run of a tool.
func (h house) call(account, session, tool string, inputs in) registry.Call {
	return registry.Call{RunID: uuid.NewString(), UserID: account, Tool: registry.Tool{ToolID: tool}, Inputs: inputs, Context: registry.CallContext{SessionID: session}}
}

func (h house) do(t *testing.T, c registry.Call) Envelope {
	t.Helper()
	r, err := h.Call(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return envelopeOf(t, r)
}

func envelopeOf(t *testing.T, r registry.Result) Envelope {
	t.Helper()
	var e Envelope
	if err := json.Unmarshal([]byte(r.Outputs[0].Text), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func (h house) shapes(t *testing.T, account, id string) int {
	t.Helper()
	raw, err := h.Export(t.Context(), Whose{Account: account}, id)
	if err != nil {
		t.Fatal(err)
	}
	var e struct{ Shapes []any }
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return len(e.Shapes)
}

func TestProvider(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ann, bob := uuid.NewString(), uuid.NewString()
	square := at4(0, 0, 10, 10)
	t.Run("E82 E138 each answer has success, a message and a payload, and a drawing tool gives the picture", func(t *testing.T) {
		r, err := h.Call(t.Context(), h.call(ann, "envelope", "rectangleMaker", square))
		if err != nil || len(r.Outputs) != 2 || r.Outputs[1].Type != "image" || r.Outputs[1].Info.Width != 10 {
			t.Fatalf("got %+v, %v", r, err)
		}
		schema, err := registry.ParseSchema([]byte(envelopeSchema))
		if err != nil {
			t.Fatal(err)
		}
		var data any
		_ = json.Unmarshal([]byte(r.Outputs[0].Text), &data)
		if err := schema.Check(data); err != nil {
			t.Error(err)
		}
		if e := envelopeOf(t, r); !e.Success || e.Message == "" || e.Scene == "" {
			t.Errorf("got %+v", e)
		}
	})
	t.Run("E13 E81 what an operation refuses is told with the tool's words, and nothing is kept", func(t *testing.T) {
		_, err := h.Call(t.Context(), h.call(ann, "refused", "rectangleMaker", merge(square, "opacity", 7)))
		var told *registry.Error
		if !errors.As(err, &told) || told.Field != "opacity" || !strings.HasPrefix(told.Message, "Failed to create rectangle") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("E14 E15 a tool that fails is logged by its id, and the error comes back", func(t *testing.T) {
		var log bytes.Buffer
		p := *h.Provider
		p.Logger = slog.New(slog.NewTextHandler(&log, nil))
		_, err := p.Call(t.Context(), h.call(ann, "logged", "delete-shape", in{"shapeId": "nobody"}))
		if err == nil || !strings.Contains(log.String(), "tool=delete-shape") || !strings.Contains(log.String(), "nobody") {
			t.Errorf("logged was %q, %v", log.String(), err)
		}
	})
	t.Run("a conversation goes on with its drawing, another has its own", func(t *testing.T) {
		first, second := h.do(t, h.call(ann, "one", "rectangleMaker", square)), h.do(t, h.call(ann, "one", "rectangleMaker", square))
		other := h.do(t, h.call(ann, "two", "rectangleMaker", square))
		if first.Scene != second.Scene || first.Scene == other.Scene {
			t.Errorf("the drawings are %s, %s and %s", first.Scene, second.Scene, other.Scene)
		}
		if n := h.shapes(t, ann, first.Scene); n != 2 {
			t.Errorf("there are %d shapes", n)
		}
	})
	t.Run("a run that is repeated draws once", func(t *testing.T) {
		c := h.call(ann, "again", "rectangleMaker", square)
		first, second := h.do(t, c), h.do(t, c)
		if first.ShapeID != second.ShapeID || h.shapes(t, ann, first.Scene) != 1 {
			t.Errorf("the shapes are %s and %s", first.ShapeID, second.ShapeID)
		}
	})
	t.Run("nobody reaches another's drawing, and hears no more than that there is none", func(t *testing.T) {
		e := h.do(t, h.call(ann, "mine", "rectangleMaker", square))
		if _, err := h.Call(t.Context(), h.call(bob, "mine", "rectangleMaker", merge(square, "scene", e.Scene))); err == nil || !strings.Contains(err.Error(), "there is no drawing") {
			t.Errorf("got %v", err)
		}
		for _, err := range []error{second(h.Export(t.Context(), Whose{Account: bob}, e.Scene)), second(h.Picture(t.Context(), Whose{Account: bob}, e.Scene, draw.Options{Format: draw.PNG})), second(h.Info(t.Context(), Whose{Account: bob}, e.Scene)), second(h.Info(t.Context(), Whose{Account: bob}, "nonsense"))} {
			if told := registry.AsError(err); err == nil || told.Code != registry.CodeLost {
				t.Errorf("got %v", err)
			}
		}
		if list, err := h.List(t.Context(), Whose{Account: bob}); err != nil || len(list) != 0 {
			t.Errorf("the list has %v, %v", list, err)
		}
	})
	t.Run("another's picture is not taken by its reference", func(t *testing.T) {
		_, err := h.Call(t.Context(), h.call(bob, "", "rectangleMaker", merge(square, "backgroundImage", "asset:"+strings.Repeat("0", 64))))
		if err == nil || !strings.Contains(err.Error(), "you have no picture") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("what is drawn at the same time is all kept", func(t *testing.T) {
		id := h.do(t, h.call(ann, "crowd", "boardMaker", at4(0, 0, 50, 50))).Scene
		var group errgroup.Group
		for range 12 {
			group.Go(func() error {
				return second(h.Call(context.Background(), h.call(ann, "crowd", "ellipseMaker", square)))
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := h.shapes(t, ann, id); n != 13 {
			t.Errorf("there are %d shapes", n)
		}
	})
	t.Run("accounts that become one keep all drawings, and one that is erased leaves none", func(t *testing.T) {
		carl, dora := uuid.NewString(), uuid.NewString()
		a, b := h.do(t, h.call(carl, "", "rectangleMaker", square)).Scene, h.do(t, h.call(dora, "", "rectangleMaker", square)).Scene
		if err := pgx.BeginFunc(t.Context(), h.Pool, func(tx pgx.Tx) error { return Adopt(t.Context(), tx, carl, dora) }); err != nil {
			t.Fatal(err)
		}
		if h.shapes(t, dora, a) != 1 || h.do(t, h.call(dora, "", "rectangleMaker", square)).Scene != b {
			t.Error("the drawings are not all there, or another one goes on")
		}
		if err := pgx.BeginFunc(t.Context(), h.Pool, func(tx pgx.Tx) error { return Forget(t.Context(), tx, dora) }); err != nil {
			t.Fatal(err)
		}
		if list, err := h.List(t.Context(), Whose{Account: dora}); err != nil || len(list) != 0 {
			t.Errorf("left are %v, %v", list, err)
		}
	})
}

func second[A any](_ A, err error) error { return err }

func TestDrawingsAreLinkedBySecureAddressesOnly(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]int{"": 0, "http://192.168.1.2:8080": 0, "https://bot.example": 1} {
		p := &Provider{Config: Config{Address: func(path string) string {
			if base == "" {
				return ""
			}
			return base + path
		}}}
		if got := p.links("7", "Open"); len(got) != want {
			t.Errorf("with the address %q the links are %v, want %d", base, got, want)
		}
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	version := map[string]int64{}
	offered := false // whether the last answer has a button that takes a step back
	say := func(t *testing.T, session, words string) (title, sceneID string) {
		t.Helper()
		r, err := h.Call(t.Context(), h.call("11111111-1111-4111-8111-111111111111", session, DrawTool, in{"text": words}))
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if len(r.Outputs) != 2 || r.Outputs[0].Type != "image" {
			t.Fatalf("%q gives %+v", words, r.Outputs)
		}
		var card struct {
			Title   string
			Actions []struct {
				Label, Tool string
				InPlace     bool
				Inputs      struct{ Scene, Text string }
			}
		}
		if err := json.Unmarshal([]byte(r.Outputs[1].Text), &card); err != nil || len(card.Actions) < 4 || card.Actions[0].Tool != DrawTool {
			t.Fatalf("%q: %s, %v", words, r.Outputs[1].Text, err)
		}
		var can []string
		for _, a := range card.Actions {
			if can = append(can, a.Inputs.Text); a.InPlace != (a.Inputs.Text == "undo" || a.Inputs.Text == "again") {
				t.Errorf("the action is %+v", a)
			}
		}
		offered = can[0] == "undo"
		if want := []string{"undo", "again", "svg", "png", "pdf"}; !slices.Equal(can, want) && !slices.Equal(can, want[1:]) {
			t.Errorf("the actions are %s", can)
		}
		if of := r.Outputs[0].Subject; of.ID != card.Actions[0].Inputs.Scene || of.Version <= version[session+of.ID] {
			t.Errorf("%q shows %+v after version %d", words, of, version[session+of.ID])
		} else {
			version[session+of.ID] = of.Version
		}
		return card.Title, card.Actions[0].Inputs.Scene
	}
	text := func(t *testing.T, id string) string {
		t.Helper()
		raw, err := h.Export(t.Context(), Whose{Account: "11111111-1111-4111-8111-111111111111"}, id)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	t.Run("words become a poster, which is changed by talk, and steps are taken back", func(t *testing.T) {
		title, id := say(t, "a", "a poster for Friday: Summer party, 8 pm, garden")
		if title != "Summer party" || !strings.Contains(text(t, id), `"text":"garden"`) || !strings.Contains(text(t, id), `"text":"Friday"`) {
			t.Errorf("title %q: %s", title, text(t, id))
		}
		if offered {
			t.Error("a first drawing offers to take back what can't be")
		}
		first := text(t, id)
		_, same := say(t, "a", "make it blue")
		if !offered {
			t.Error("a change can't be taken back")
		}
		if same != id || !strings.Contains(text(t, id), "#1D6FB8") {
			t.Errorf("it is not blue: %s", text(t, id))
		}
		say(t, "a", "title: Winter party")
		if !strings.Contains(text(t, id), "Winter party") {
			t.Error("the title was not changed")
		}
		say(t, "a", "undo")
		if s := text(t, id); strings.Contains(s, "Winter party") || !strings.Contains(s, "#1D6FB8") {
			t.Errorf("one step back is %s", s)
		}
		say(t, "a", "undo")
		if shapesOf(text(t, id)) != shapesOf(first) {
			t.Error("two steps back is not what it was")
		}
		if offered {
			t.Error("after the last step back there is one more")
		}
		if _, err := h.Call(t.Context(), h.call("11111111-1111-4111-8111-111111111111", "a", DrawTool, in{"text": "undo"})); err == nil || !strings.Contains(err.Error(), "nothing to undo") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a long text gives a short title", func(t *testing.T) {
		if title, _ := say(t, "long", strings.Repeat("lorem ipsum ", 300)); len([]rune(title)) > 60 {
			t.Errorf("the title has %d characters", len([]rune(title)))
		}
	})
	t.Run("another request begins another drawing, and the first is kept", func(t *testing.T) {
		_, first := say(t, "b", "a card: Thank you")
		_, second := say(t, "b", "a poster: Concert, 9 pm")
		if first == second || !strings.Contains(text(t, first), "Thank you") {
			t.Errorf("the drawings are %s and %s", first, second)
		}
		_, third := say(t, "b", "again")
		if third != second {
			t.Error("another version is not the same drawing")
		}
	})
	t.Run("a drawing is had as a file, which changes nothing; where nothing is drawn, that is said", func(t *testing.T) {
		ask := func(session, words string) (registry.Result, error) {
			return h.Call(t.Context(), h.call("11111111-1111-4111-8111-111111111111", session, DrawTool, in{"text": words}))
		}
		_, id := say(t, "files", "a poster: Concert, 9 pm")
		before := text(t, id)
		for words, begins := range map[string]string{"svg": "<svg", "PNG": "\x89PNG", "pdf": "%PDF-"} {
			r, err := ask("files", words)
			if err != nil || len(r.Outputs) != 1 || r.Outputs[0].Type != "file" || r.Outputs[0].Subject.ID != "" || r.Outputs[0].Info.Name != "drawing."+strings.ToLower(words) {
				t.Fatalf("%s gives %+v, %v", words, r.Outputs, err)
			}
			content, err := r.Outputs[0].Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(content)
			if err != nil || !strings.HasPrefix(string(raw), begins) {
				t.Errorf("%s begins with %.20q, %v", words, raw, err)
			}
		}
		if text(t, id) != before {
			t.Error("a file changed the drawing")
		}
		if _, err := ask("no files", "pdf"); registry.AsError(err).Code != registry.CodeInvalidInput {
			t.Errorf("where nothing is drawn: %v", err)
		}
	})
	t.Run("lines are drawn as they say, and go on with the drawing", func(t *testing.T) {
		_, id := say(t, "c", "board 400 300 white\ncircle 200 150 80 red\ntext 40 40 24 \"Hello\" blue font=serif")
		say(t, "c", "rect 10 10 50 50 #00FF00 radius=8 rotate=10")
		for _, want := range []string{`"ellipse"`, "#E63946", "Hello", "Literata", "#00FF00"} {
			if !strings.Contains(text(t, id), want) {
				t.Errorf("%s is not there", want)
			}
		}
		_, err := h.Call(t.Context(), h.call("11111111-1111-4111-8111-111111111111", "c", DrawTool, in{"text": "rect 10 10 50 50 sparkling"}))
		if err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("got %v", err)
		}
	})
}

// shapesOf is the part of an export that has the shapes.
func shapesOf(export string) string {
	_, rest, _ := strings.Cut(export, `"shapes":`)
	list, _, _ := strings.Cut(rest, `,"title"`)
	list, _, _ = strings.Cut(list, `,"tokenSets"`)
	return fmt.Sprint(list)
}

// TestDrawingsOfAKey has two keys that see only what was made by them, and their owner, draw in conversations of one name.
func TestDrawingsOfAKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.Sees = func(_ context.Context, _, budget string) (string, error) { return budget, nil }
	ctx, ann := t.Context(), uuid.NewString()
	square := at4(10, 10, 50, 50)
	by := func(key, session string, inputs in) registry.Call {
		c := h.call(ann, session, "rectangleMaker", inputs)
		c.Budget = key
		return c
	}
	makers := []string{"", "key:1", "key:12"}
	made := map[string]string{}
	for _, maker := range makers {
		made[maker] = h.do(t, by(maker, "", square)).Scene
		if again := h.do(t, by(maker, "", square)).Scene; again != made[maker] {
			t.Errorf("%q does not go on with its drawing", maker)
		}
		drawing := by(maker, "", in{"text": "undo"})
		drawing.Tool.ToolID = DrawTool
		if _, err := h.Call(ctx, drawing); err != nil {
			t.Errorf("%q takes back: %v", maker, err)
		}
	}
	for _, maker := range makers {
		w := Whose{Account: ann, Maker: maker}
		list, err := h.List(ctx, w)
		if want := map[bool]int{true: len(makers), false: 1}[maker == ""]; err != nil || len(list) != want || maker != "" && list[0].ID != made[maker] {
			t.Errorf("the list of %q has %v, %v", maker, list, err)
		}
		for other, id := range made {
			sees := maker == "" || other == maker
			for _, err := range []error{
				second(h.Info(ctx, w, id)), second(h.Export(ctx, w, id)), second(h.Picture(ctx, w, id, draw.Options{Format: draw.PNG})), second(h.Edit(ctx, w, id, editOf(3, Operation{redoStep, nil}))),
				second(h.Call(ctx, by(maker, "", merge(square, "scene", id)))), second(h.Call(ctx, registry.Call{UserID: ann, Budget: maker, RunID: uuid.NewString(), Tool: registry.Tool{ToolID: DrawTool}, Inputs: in{"text": "png", "scene": id}})),
			} {
				if told := registry.AsError(err); sees && told != nil && told.Code == registry.CodeLost || !sees && (told == nil || !strings.Contains(told.Message, "there is no drawing")) {
					t.Errorf("%q and the drawing of %q: %v", maker, other, err)
				}
			}
		}
	}
	if _, err := h.Call(ctx, by("", "key:12/", square)); err != nil || h.shapes(t, ann, made["key:12"]) < 2 {
		t.Errorf("its owner draws nothing in it: %v", err)
	}
}
