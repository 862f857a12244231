package canvas

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/signalbox/signalbox/providers/canvas/draw"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// List gives somebody's drawings, the one that was changed last first, at most a hundred.
func (p *Provider) List(ctx context.Context, w Whose) ([]Info, error) {
	return p.store.list(ctx, w)
}

// Info gives one drawing. Where w has none of that id it is a *registry.Error with CodeLost, no matter who else has one.
func (p *Provider) Info(ctx context.Context, w Whose, sceneID string) (Info, error) {
	return p.store.info(ctx, w, sceneID)
}

// Picture makes a picture of somebody's drawing. A *registry.Error with CodeInvalidInput says what is wrong with the options.
func (p *Provider) Picture(ctx context.Context, w Whose, sceneID string, o draw.Options) (draw.Picture, error) {
	s, err := p.store.get(ctx, w, sceneID)
	if err != nil {
		return draw.Picture{}, err
	}
	picture, err := p.drawer.Draw(ctx, s.scene(p.Fonts), o)
	var wrong *scene.Error
	if errors.As(err, &wrong) {
		err = &registry.Error{Code: registry.CodeInvalidInput, Field: wrong.Field, Message: wrong.Error()}
	}
	return picture, err
}

// Export is somebody's drawing as data: id, title, version and shapes, parents before their children and siblings from bottom to top, each as
// scene.View has it; flows and tokenSets.
func (p *Provider) Export(ctx context.Context, w Whose, sceneID string) (json.RawMessage, error) {
	s, err := p.store.get(ctx, w, sceneID)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"id": s.ID, "title": s.Title, "version": s.Version, "shapes": s.scene(p.Fonts).Views(), "flows": orEmpty(s.page.Flows), "tokenSets": orEmpty(s.page.Sets),
	})
}
