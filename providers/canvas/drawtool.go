package canvas

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/templates"
	"github.com/signalbox/signalbox/registry"
)

// DrawTool is the id of the tool that people draw with.
const DrawTool = "draw"

// drawTool describes draw. Like image.generate it says that it reads: it changes nothing but a drawing of one's own, which can be undone, so nobody has to be
// asked before each step.
func drawTool() registry.Tool {
	return registry.Tool{
		ToolID: DrawTool, Service: Service, DisplayName: "Draw", CommandName: "/draw",
		Listing: registry.Listing{Category: "drawing", Kind: drawing, Follows: registry.FollowNone}, // a photo is put into a drawing, not changed
		Description: "Draws posters, cards, quotes, charts and memes from plain words, and changes them as you say. Use it for a picture with words in it, such as " +
			"\"a poster for Friday: Summer party, 8 pm, garden\", \"chart of visits: Mon 12, Tue 18\", then \"make it blue\", \"title: Winter party\", \"undo\".",
		InputSchema: registry.InputSchema{
			{Name: "text", Type: registry.TypeString, Required: true, Multiline: true, DisplayName: "What to draw", Description: "What to draw, or what to change in the last drawing. Or lines such as: board 400 300 white / circle 200 150 80 red / text 40 40 24 \"Hello\"."},
			{Name: "picture", Type: registry.TypeImage, DisplayName: "Picture", Description: "A picture to put in: of a meme, or behind a poster or a quote."},
			{Name: "scene", Type: registry.TypeString, Advanced: true, DisplayName: "Drawing", Description: "Id of the drawing to change; without one the last of this conversation."},
		},
		OutputSchema:  registry.OutputSchema{{Name: "picture", Type: "image", Description: "The drawing as PNG."}},
		PlatformHints: &registry.PlatformHints{PrimaryInput: "text", SupportsFileCaption: true, SupportsReplyWithCommand: true},
		Execution:     registry.Execution{Capability: registry.CapabilityRead, Idempotent: true, TimeoutMs: 60_000}, Advice: registry.Advice{IntentTags: []string{"image", "design"}},
		Localized: map[string]registry.Words{
			"de": drawWords("Zeichnen", "Zeichnet Plakate, Karten, Zitate, Diagramme und Memes aus einfachen Worten und ändert sie, wie du es sagst.",
				"Was gezeichnet werden soll", "Was gezeichnet oder an der letzten Zeichnung geändert werden soll.", "Bild", "Ein Bild, das hinein soll.", "Zeichnung", "Kennung der Zeichnung, die geändert wird; ohne sie die letzte dieser Unterhaltung.", "Die Zeichnung als PNG."),
			"es": drawWords("Dibujar", "Dibuja carteles, tarjetas, citas, gráficos y memes a partir de palabras sencillas, y los cambia como digas.",
				"Qué dibujar", "Qué dibujar, o qué cambiar en el último dibujo.", "Imagen", "Una imagen que incluir.", "Dibujo", "Identificador del dibujo que se cambia; sin él, el último de esta conversación.", "El dibujo en PNG."),
			"ru": drawWords("Рисунок", "Рисует плакаты, открытки, цитаты, диаграммы и мемы по простым словам и меняет их, как вы скажете.",
				"Что нарисовать", "Что нарисовать или изменить в последнем рисунке.", "Картинка", "Картинка, которую вставить.", "Рисунок", "Номер рисунка, который нужно изменить; без него меняется последний в этом разговоре.", "Рисунок в PNG."),
			"zh": drawWords("绘图", "用简单的话画海报、卡片、名言、图表和表情包，并按您说的修改。",
				"画什么", "要画什么，或要改动上一幅画的什么。", "图片", "要放进去的图片。", "画作", "要改动的画作的编号；不填则为本对话中最近的一幅。", "PNG 格式的画作。"),
		},
	}
}

// drawWords are the texts of draw in a language: its name and purpose, then labels and descriptions of its inputs and what it makes.
func drawWords(name, about, text, textAbout, picture, pictureAbout, drawing, drawingAbout, made string) registry.Words {
	return registry.Words{DisplayName: name, Description: about, Inputs: map[string]registry.InputWords{
		"text": {DisplayName: text, Description: textAbout}, "picture": {DisplayName: picture, Description: pictureAbout}, "scene": {DisplayName: drawing, Description: drawingAbout},
	}, Outputs: map[string]string{"picture": made}}
}

// maxWords bounds what is asked for.
const maxWords = 4000

// draw carries out a request in words.
func (p *Provider) draw(ctx context.Context, c registry.Call) (registry.Result, error) {
	words, _ := c.Inputs["text"].(string)
	if words = strings.TrimSpace(words); words == "" || len(words) > maxWords {
		return registry.Result{}, registry.Say(registry.CodeInvalidInput, said.DrawSay, "n", maxWords).At("text")
	}
	key, err := p.key(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	if f, ok := asFile(words); ok {
		return p.download(ctx, key, f)
	}
	picture, err := p.given(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	s, _, err := p.store.do(ctx, key, c.RunID, DrawTool, false, func(s *stored) (Envelope, error) {
		t := &turn{Provider: p, ctx: ctx, call: c, scene: s.scene(p.Fonts), account: c.UserID, id: s.ID}
		if err := t.understand(s, words, picture); err != nil {
			return Envelope{}, err
		}
		if err := t.checkImages(t.scene.Changes()); err != nil {
			return Envelope{}, err
		}
		s.change = t.scene.Changes()
		return Envelope{Success: true, Message: s.Title, Scene: s.ID, BoardID: s.board}, nil
	})
	if err != nil {
		var wrong *scene.Error
		if errors.As(err, &wrong) {
			err = &registry.Error{Code: registry.CodeInvalidInput, Field: "text", Message: wrong.Message}
		}
		return registry.Result{}, err
	}
	return p.shown(ctx, c.UserID, s)
}

// given is the picture that came along.
func (p *Provider) given(ctx context.Context, c registry.Call) (*templates.Picture, error) {
	ref, _ := c.Inputs["picture"].(string)
	if ref == "" {
		return nil, nil
	}
	wrong := func(err error) error {
		return registry.Say(registry.CodeInvalidInput, said.DrawPicture).At("picture").Because(err)
	}
	content, err := p.bytesOf(ctx, ref)
	if err != nil {
		return nil, wrong(err)
	}
	t := &turn{Provider: p, ctx: ctx, call: c, account: c.UserID}
	info, _, err := checkImage(content)
	if err != nil {
		return nil, wrong(err)
	}
	if !strings.HasPrefix(ref, assetScheme) {
		if ref, _, err = t.keep(content); err != nil {
			return nil, wrong(err)
		}
	}
	return &templates.Picture{Ref: ref, Width: info.Width, Height: info.Height}, nil
}

// Words for what is done with the whole drawing.
var (
	undoWords  = []string{"undo", "rückgängig", "zurück", "deshacer", "отмена", "отмени", "назад", "撤销"}
	againWords = []string{"again", "another", "nochmal", "noch einmal", "otra vez", "otro", "ещё раз", "еще раз", "ещё", "再来一次", "换一个"}
)

// Understands reports whether draw knows what is meant by words without a model's help.
func Understands(words string) bool {
	lower := strings.Trim(strings.ToLower(words), " .!?")
	_, file := asFile(lower)
	return file || slices.Contains(undoWords, lower) || slices.Contains(againWords, lower) || templates.Understands(words)
}

// understand does what the words say: it takes the last step back, draws the same anew, changes what is there, or begins something new.
func (t *turn) understand(s *stored, words string, picture *templates.Picture) error {
	lower := strings.Trim(strings.ToLower(words), " .!?")
	switch {
	case slices.Contains(undoWords, lower):
		return t.unwind(s, undoStep)
	case slices.Contains(againWords, lower):
		if t.scene.Page.Words == "" {
			return registry.Say(registry.CodeInvalidInput, said.DrawNoWords)
		}
		return t.compose(s, t.scene.Page.Words, t.pictureInUse(), t.scene.Page.Seed+1)
	}
	if board := lastBoard(t.scene); board != nil && picture == nil {
		_, done, err := templates.Edit(t.scene, board, words)
		if done || err != nil {
			s.board = board.ID
			return err
		}
	}
	if t.scene.Len() > 0 && !templates.AddsTo(words) {
		if err := s.renew(t.ctx); err != nil {
			return err
		}
		t.scene, t.id = s.scene(t.Fonts), s.ID
	}
	return t.compose(s, words, picture, 0)
}

// lastBoard is the board on top.
func lastBoard(s *scene.Scene) *scene.Shape {
	shapes := s.Children("")
	for _, sh := range slices.Backward(shapes) {
		if sh.Type == scene.Board {
			return sh
		}
	}
	return nil
}

// pictureInUse is the picture that the present drawing shows.
func (t *turn) pictureInUse() *templates.Picture {
	for _, sh := range t.scene.All() {
		for _, f := range sh.Fills {
			if f.Image != nil {
				return &templates.Picture{Ref: f.Image.ID, Width: f.Image.Width, Height: f.Image.Height}
			}
		}
	}
	return nil
}

// compose draws from words, in place of what was drawn from words before.
func (t *turn) compose(s *stored, words string, picture *templates.Picture, seed uint64) error {
	brief := templates.Read(words, picture, seed)
	if brief.Kind != templates.Lines {
		for _, sh := range t.scene.Children("") {
			if _, _, err := t.scene.Delete(sh.ID); err != nil {
				return err
			}
		}
	}
	board, err := templates.Draw(t.scene, brief)
	if err != nil {
		return err
	}
	t.scene.Remember(words, brief.Seed)
	if s.Title = shorten(brief.Title); s.Title == "" {
		s.Title = shorten(strings.TrimSpace(words))
	}
	if board != nil && board.Type == scene.Board {
		s.board = board.ID
	}
	return nil
}

// shown is the drawing as a person sees it: the picture, and what can be done next.
func (p *Provider) shown(ctx context.Context, account string, s *stored) (registry.Result, error) {
	picture, err := p.drawer.Draw(ctx, s.scene(p.Fonts), draw.Options{Board: s.board, Format: draw.PNG})
	if err != nil {
		return registry.Result{}, nothingDrawn(err)
	}
	text := append([]string{p.Say(ctx, account, "draw.hint")}, picture.Notes...)
	if picture.Missing != "" {
		text = append(text, p.Say(ctx, account, "draw.missing")+" "+picture.Missing)
	}
	actions, err := p.nextActions(ctx, account, s.ID)
	if err != nil {
		return registry.Result{}, err
	}
	card := map[string]any{"title": s.Title, "text": strings.Join(text, "\n"), "actions": actions}
	if links := p.links(s.ID, p.Say(ctx, account, "draw.open")); len(links) > 0 {
		card["links"] = links
	}
	next, err := json.Marshal(card)
	if err != nil {
		return registry.Result{}, err
	}
	return registry.Result{Outputs: []registry.Output{s.pictureOutput(picture), {Name: "next", Type: "text", Text: string(next)}}}, nil
}

// nextActions are what can be done with a drawing at once: it is changed in place, a step is taken back where there is one, or it is had as a file.
func (p *Provider) nextActions(ctx context.Context, account, sceneID string) ([]any, error) {
	undo, err := p.store.undoable(ctx, sceneID)
	if err != nil {
		return nil, err
	}
	action := func(label, text string, inPlace bool) any {
		return map[string]any{"label": label, "tool": DrawTool, "inputs": map[string]any{"text": text, "scene": sceneID}, "inPlace": inPlace}
	}
	var list []any
	if undo {
		list = append(list, action(p.Say(ctx, account, "draw.undo"), "undo", true))
	}
	list = append(list, action(p.Say(ctx, account, "draw.again"), "again", true))
	for _, f := range downloads {
		list = append(list, action(strings.ToUpper(string(f)), string(f), false))
	}
	return list, nil
}

// links lead to where a drawing is gone on with by hand, where the house has a secure address.
func (p *Provider) links(sceneID, open string) []any {
	if p.Address == nil {
		return nil
	}
	address := p.Address("/scenes/" + sceneID)
	if !strings.HasPrefix(address, "https://") { // a card leaves out any other, and chats add its text as a file
		return nil
	}
	return []any{map[string]any{"label": open, "url": address}}
}

// downloads are the formats that a drawing is had in as a file.
var downloads = []draw.Format{draw.SVG, draw.PNG, draw.PDF}

// asFile reports whether words ask for the drawing as a file.
func asFile(words string) (draw.Format, bool) {
	f := draw.Format(strings.ToLower(words))
	return f, slices.Contains(downloads, f)
}

// download gives a drawing as a file, and changes nothing.
func (p *Provider) download(ctx context.Context, key sceneKey, f draw.Format) (registry.Result, error) {
	s, _, err := p.store.do(ctx, key, "", DrawTool, true, func(s *stored) (Envelope, error) {
		if board := lastBoard(s.scene(p.Fonts)); board != nil {
			s.board = board.ID
		}
		return Envelope{}, nil
	})
	if err != nil {
		return registry.Result{}, err
	}
	picture, err := p.drawer.Draw(ctx, s.scene(p.Fonts), draw.Options{Board: s.board, Format: f})
	if err != nil {
		return registry.Result{}, nothingDrawn(err)
	}
	file := imageOutput(picture, f, s.Title)
	file.Type = "file"
	return registry.Result{Outputs: []registry.Output{file}}, nil
}

// nothingDrawn says so where there is nothing to make a picture of.
func nothingDrawn(err error) error {
	var nothing *scene.Error
	if errors.As(err, &nothing) {
		return registry.Say(registry.CodeInvalidInput, said.DrawNothing)
	}
	return err
}
