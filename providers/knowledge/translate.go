package knowledge

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/registry"
)

// translationTime bounds the wait for a translation: an answer without one is better than none.
const translationTime = 10 * time.Second

// answer is what was found.
type answer struct {
	index.Answer
	Translated string // what was looked for, where the question was put into the language of the documents; else empty
}

// search finds passages. A question in another language than the documents is put into theirs, where somebody translates it and what is found then is
// no worse.
func (p *Provider) search(ctx context.Context, c registry.Call, q index.Query) (answer, error) {
	found, err := p.cfg.Index.Search(ctx, q)
	if err != nil || found.Foreign == "" {
		return answer{Answer: found}, err
	}
	translated := p.translated(ctx, c, q.Text, found.Foreign)
	if translated == "" {
		return answer{Answer: found}, ctx.Err()
	}
	q.Text = translated
	again, err := p.cfg.Index.Search(ctx, q)
	if err != nil || again.Foreign != "" || bestScore(again) < bestScore(found) {
		return answer{Answer: found}, err
	}
	again.Foreign = found.Foreign
	return answer{again, translated}, nil
}

func bestScore(a index.Answer) float64 {
	if len(a.Results) == 0 {
		return 0
	}
	return a.Results[0].Score
}

// costs is the price of an answer: free, but for what a translation of the question may take. nil: that is free, too.
func (p *Provider) costs(ctx context.Context) (*registry.CostingModel, error) {
	if p.cfg.TranslationUSD == nil {
		return nil, nil
	}
	most, err := p.cfg.TranslationUSD(ctx, registry.Call{})
	if err != nil || most == free {
		return nil, err
	}
	return &registry.CostingModel{Rate: json.Number(most), Unit: registry.UnitRequest, RateSource: registry.RateAPI, UpTo: true}, nil
}

const free = "0"

// Price is nothing, or what a translation takes at most where the question will be translated. That pays for itself, as a question of its own.
func (p *Provider) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	if p.cfg.TranslationUSD == nil || c.UserID == "" {
		return registry.Price{CostUSD: free}, nil
	}
	most, err := p.cfg.TranslationUSD(ctx, c)
	if err != nil || most == free {
		return registry.Price{CostUSD: free}, err
	}
	if p.untranslated(ctx, c) {
		return registry.Price{CostUSD: most, LowUSD: free, Parts: true}, nil
	}
	return registry.Price{CostUSD: free}, nil
}

// untranslated reports whether a call's question is in another language than the documents, and its translation not known yet. What is wrong with a
// question is told when it is asked.
func (p *Provider) untranslated(ctx context.Context, c registry.Call) bool {
	query, err := p.query(ctx, c)
	if err != nil {
		return false
	}
	found, err := p.cfg.Index.Search(ctx, query)
	_, known := p.translations.Get(translationKey(query.Text, found.Foreign), time.Now())
	return err == nil && found.Foreign != "" && !known
}

func translationKey(question, language string) string { return language + "\n" + question }

// translated is a question in another language; empty where it can't be had.
func (p *Provider) translated(ctx context.Context, c registry.Call, question, language string) string {
	if p.cfg.Translate == nil || c.UserID == "" { // nobody would pay for it
		return ""
	}
	key := translationKey(question, language)
	if known, ok := p.translations.Get(key, time.Now()); ok {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, translationTime)
	defer cancel()
	said, err := p.cfg.Translate(ctx, c, question, titled(language))
	if err != nil {
		p.cfg.Logger.InfoContext(ctx, "a question is looked for as it was asked, for it could not be translated", "language", language, "error", err)
		return ""
	}
	said = sensible(question, said)
	p.translations.Put(key, said, time.Now())
	return said
}

// sensible is a translation on one line; empty where it is none.
func sensible(question, said string) string {
	said = plain.Line(said)
	if strings.EqualFold(said, question) || len(said) > 4*len(question)+200 {
		return ""
	}
	return said
}
