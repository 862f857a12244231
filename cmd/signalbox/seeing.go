package main

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/providers/content"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// A description is one turn of few words about a picture of few pixels, for a cent where the first turn costs no more.
const (
	seenSide     = 640 // pixels, of which the site has a rendition anyway
	seenTokens   = 6_000
	seenMoney    = billing.Dollar / 100
	sitePictures = "site" // where such questions come from, in reports
)

// looks reports whether a model describes pictures that come to sites.
func (c *contents) looks() bool {
	return c.cfg.SeenPerDay > 0 && (c.cfg.AnthropicModel != "" || c.cfg.OpenAIModel != "")
}

// startSeeing has the connected model describe pictures that come to sites.
func (a *app) startSeeing(ctx context.Context) error {
	if !a.content.looks() {
		return nil
	}
	models, err := a.agents.each(agent.Config{Bounds: agent.Bounds{Rounds: 1, Tokens: seenTokens, Money: seenMoney}})
	if err != nil {
		return err
	}
	looker := content.NewLooker(content.LookerConfig{
		Pool: a.db.Pool, Now: a.clock.Now, Logger: a.log.With("component", "site"),
		See: func(ctx context.Context, ref registry.Media, language string) (content.Seen, error) {
			return a.see(ctx, models[""], ref, language)
		},
	})
	if err := looker.Start(ctx); err != nil {
		return err
	}
	a.OnStop("descriptions of pictures", looker.Stop)
	return nil
}

// see has a model say what a picture shows. Nobody asked, so the house pays.
func (a *app) see(ctx context.Context, model *agent.Agent, ref registry.Media, locale string) (content.Seen, error) {
	mime, small, err := a.content.shown.Picture(ctx, ref, seenSide)
	if err != nil {
		return content.Seen{}, err
	}
	sight, answer, err := model.Describe(ctx, agent.Question{
		Text: "What does " + ref + " show?", AccountID: uuid.Nil.String(), House: true, HouseDay: a.cfg.SeenPerDay, Origin: runs.Origin{Platform: sitePictures},
	}, agent.Picture{MIMEType: mime, Content: small}, display.English.Tags().Name(language.Make(locale)))
	if err == nil && answer.Stop == agent.StopDay {
		return content.Seen{}, content.ErrLater
	}
	if err == nil && answer.Stop != agent.StopAnswered {
		err = registry.Errorf(registry.CodeUnavailable, "a bound of questions is reached: %s", answer.Stop)
	}
	return content.Seen(sight), err
}
