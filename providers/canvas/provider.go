// Package canvas is drawing as tools: scenes in Postgres that are drawn, changed and undone by calls, and shown as pictures.
//
// There are two sets of tools for the same operations, which package scene does: those of an older document (rectangleMaker, ...), and those of
// Penpot's plugin (create-rectangle, ...). People have one of their own, draw, which understands words and a small language of lines.
package canvas

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/providers/canvas/typeset"
	"github.com/signalbox/signalbox/registry"
)

// Service is the service name of all tools.
const Service = "canvas"

// Person is whom a drawing is for.
type Person struct{ ID, Name, Email string }

// Painter makes a picture of about a size from words; a size of 0 is any. The call is that of our own tool.
type Painter interface {
	// Cost is what a picture costs, as of a tool; nil: nothing. Price bounds it for a call.
	Cost() *registry.CostingModel
	Price(ctx context.Context, c registry.Call, prompt string, width, height int) (registry.Price, error)
	Paint(ctx context.Context, c registry.Call, prompt string, width, height int) (Painting, error)
}

// Painting is a picture that was made from words.
type Painting struct {
	Content []byte
	Usage   registry.Usage
	Note    string // for people, such as who made it
}

// Config wires a Provider. All but Address, Logger, Overlays and Sees are required.
type Config struct {
	Pool  *pgxpool.Pool
	Fonts *typeset.Setter
	Media registry.MediaOpener // stored files and addresses
	// Keep stores a file of an account and gives its reference.
	Keep func(ctx context.Context, accountID string, content io.Reader, name string) (registry.Media, error)
	// Owned tells whether a stored file is an account's.
	Owned func(ctx context.Context, accountID string, ref registry.Media) (bool, error)
	User  func(ctx context.Context, accountID string) (Person, error)
	// Sees gives the Maker whose drawings alone are there for a run of an account that draws on a budget; empty: all of the account's. nil: always all.
	Sees func(ctx context.Context, accountID, budget string) (maker string, err error)
	// Penpot asks the Penpot that an account has connected. The error is for people, also where none is connected.
	Penpot func(ctx context.Context, accountID, kind string, payload any) (json.RawMessage, error)
	// Painter makes pictures from words.
	Painter Painter
	// Say tells an account something in its language, by the key of a text.
	Say func(ctx context.Context, accountID, key string) string
	// Address is where people find a path of ours; nil or empty: the house has no address.
	Address func(path string) string
	Logger  *slog.Logger // nil: nothing is logged
	// Overlays offers the two tools for overlays, which Penpot's own plugin has switched off.
	Overlays bool
}

// Provider is the loader of the drawing tools and runs them.
type Provider struct {
	Config
	store  store
	drawer *draw.Drawer
	tools  []registry.Tool
	byID   map[string]operation
}

var (
	_ registry.Loader = (*Provider)(nil)
	_ registry.Caller = (*Provider)(nil)
	_ registry.Pricer = (*Provider)(nil)
)

// New makes the provider. It fails only where what comes with the program is broken.
func New(cfg Config) (*Provider, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	p := &Provider{Config: cfg, store: store{cfg.Pool}, byID: map[string]operation{}}
	p.drawer = &draw.Drawer{Fonts: cfg.Fonts, Image: p.image, File: p.file}
	inputs, err := readLibrary()
	if err != nil {
		return nil, err
	}
	for _, o := range operations() {
		if o.switched && !cfg.Overlays {
			continue
		}
		t, err := o.tool(inputs)
		if err != nil {
			return nil, err
		}
		if o.paints() {
			t.CostingModel, t.TimeoutMs = cfg.Painter.Cost(), 180_000
		}
		if o.ahead != nil {
			t.TimeoutMs = 600_000
		}
		p.byID[t.ToolID] = o
		p.tools = append(p.tools, t)
	}
	p.tools = append(p.tools, drawTool())
	return p, nil
}

// Name identifies the loader.
func (p *Provider) Name() string { return Service }

// Load gives all tools.
func (p *Provider) Load(ctx context.Context) ([]registry.Tool, error) { return p.tools, ctx.Err() }

// Price bounds what a call will cost: pictures from words cost what their painter takes, all else is free.
func (p *Provider) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	o := p.byID[c.Tool.ToolID]
	if !o.paints() {
		return registry.Price{}, nil
	}
	t := &turn{inputs: maps.Clone(c.Inputs)}
	delete(t.inputs, "scene")
	in, err := read[imageInputs](t)
	if err != nil {
		return registry.Price{}, o.refusal(err)
	}
	return p.Painter.Price(ctx, c, in.Prompt+in.Image, int(in.Width), int(in.Height))
}

// Call runs a tool, and logs one that fails by its id.
func (p *Provider) Call(ctx context.Context, c registry.Call) (registry.Result, error) {
	result, err := p.run(ctx, c)
	if err != nil && ctx.Err() == nil {
		p.Logger.InfoContext(ctx, "a drawing tool failed", "tool", c.Tool.ToolID, "run", c.RunID, "error", err)
	}
	return result, err
}

// run runs a tool on its scene. What it changes is kept as one step that can be undone, together with its answer: a call that is repeated
// answers again and changes nothing.
func (p *Provider) run(ctx context.Context, c registry.Call) (registry.Result, error) {
	if c.Tool.ToolID == DrawTool {
		return p.draw(ctx, c)
	}
	o, ok := p.byID[c.Tool.ToolID]
	if !ok {
		return registry.Result{}, registry.Say(registry.CodeUnavailable, said.DrawNoTool, "tool", c.Tool.ToolID)
	}
	key, err := p.key(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	inputs := maps.Clone(c.Inputs)
	delete(inputs, "scene")
	t := &turn{Provider: p, ctx: ctx, call: c, inputs: inputs, account: c.UserID}
	if o.picture != "" {
		if err := t.prepare(o); err != nil {
			return registry.Result{}, o.refusal(err)
		}
	}
	if o.ahead != nil {
		if err := p.ahead(o, t, key); err != nil {
			return registry.Result{}, o.refusal(err)
		}
	}
	var usage registry.Usage
	work := func(s *stored) (Envelope, error) {
		t.scene, t.id = s.scene(p.Fonts), s.ID
		r, err := o.do(t)
		if err != nil {
			return Envelope{}, err
		}
		usage = r.usage
		s.board = t.boardOf(r.shape)
		s.change = t.scene.Changes()
		return r.envelope(s.ID), nil
	}
	s, answer, err := p.store.do(ctx, key, c.RunID, o.id, o.reads, work)
	if err != nil {
		return registry.Result{}, o.refusal(err)
	}
	return p.result(ctx, o, s, answer, usage)
}

// key finds the scene of a call.
func (p *Provider) key(ctx context.Context, c registry.Call) (key sceneKey, err error) {
	id, _ := c.Inputs["scene"].(string)
	key = sceneKey{Whose: Whose{Account: c.UserID}, name: c.Context.SessionID, id: id}
	if p.Sees != nil {
		key.Maker, err = p.Sees(ctx, c.UserID, c.Budget)
	}
	return key, err
}

// ahead lets an operation look at a scene, which others may change meanwhile, and do what takes long.
func (p *Provider) ahead(o operation, t *turn, key sceneKey) error {
	look := func(s *stored) (Envelope, error) {
		t.scene, t.id = s.scene(p.Fonts), s.ID
		return Envelope{}, nil
	}
	if _, _, err := p.store.do(t.ctx, key, t.call.RunID, o.id, true, look); err != nil {
		return err
	}
	return o.ahead(t)
}

// refusal says what failed, in the words of the tool, with the input that is to blame.
func (o operation) refusal(err error) error {
	var wrong *scene.Error
	if errors.As(err, &wrong) {
		return &registry.Error{Code: registry.CodeInvalidInput, Field: wrong.Field, Message: o.failure + ": " + wrong.Error()}
	}
	var known *registry.Error
	if errors.As(err, &known) {
		told := *known
		told.Message = o.failure + ": " + known.Message
		return &told
	}
	return fmt.Errorf("%s: %w", o.failure, err)
}

// boardOf is the board on the page that holds what was drawn, which the picture shows; empty: all of the scene.
func (t *turn) boardOf(sh *scene.Shape) string {
	if sh == nil {
		return ""
	}
	if root := t.scene.Root(sh); root.Type == scene.Board {
		return root.ID
	}
	return ""
}

// result is the answer as data and, for a tool that draws, the picture.
func (p *Provider) result(ctx context.Context, o operation, s *stored, answer json.RawMessage, usage registry.Usage) (registry.Result, error) {
	result := registry.Result{Usage: usage, Outputs: []registry.Output{{Name: "result", Type: "text", Text: string(answer)}}}
	if o.kind != drawing || o.reads {
		return result, nil
	}
	picture, err := p.drawer.Draw(ctx, s.scene(p.Fonts), draw.Options{Board: s.board, Format: draw.PNG})
	var nothing *scene.Error
	if errors.As(err, &nothing) { // an empty scene, or one too large for a picture
		return result, nil
	}
	if err != nil {
		return registry.Result{}, err
	}
	result.Outputs = append(result.Outputs, s.pictureOutput(picture))
	return result, nil
}

// pictureOutput is the picture of a drawing as it is now, which takes the place of earlier ones in chats.
func (s *stored) pictureOutput(p draw.Picture) registry.Output {
	o := imageOutput(p, draw.PNG, s.Title)
	o.Subject = registry.Subject{ID: s.ID, Version: s.Version}
	return o
}

func imageOutput(p draw.Picture, f draw.Format, alt string) registry.Output {
	return registry.Output{
		Name: "picture", Type: "image",
		Info: registry.MediaInfo{Name: "drawing." + string(f), MIMEType: f.MIMEType(), Bytes: int64(len(p.Content)), Width: p.Width, Height: p.Height, Alt: alt},
		Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(p.Content)), nil },
	}
}
