package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/registry"
)

// Translator puts questions into the language of documents, which is given by its English name. Prices are exact decimals of US dollars.
type Translator interface {
	// Most is what a translation costs who asks at most; "0": nothing.
	Most() (string, error)
	// Price is what the translation of a call's question would cost. One that nobody can pay costs nothing, for there will be none.
	Price(ctx context.Context, c registry.Call, question, language string) (registry.Price, error)
	// Translate gives a question in a language, and what that costs the run of the call. An error, or a text that is no translation, is no failure:
	// the question is then asked as it is.
	Translate(ctx context.Context, c registry.Call, question, language string) (said, costUSD string, err error)
}

// translationTime bounds the wait for a translation: an answer without one is better than none.
const translationTime = 10 * time.Second

// free is the price of an answer without a translation.
const free = "0"

// answer is what was found.
type answer struct {
	index.Answer
	Translated string // what was looked for, where the question was put into the language of the documents; else empty
	costUSD    string // of the translation; empty: there was none
}

func (a answer) usage() registry.Usage { return registry.Usage{CostUSD: cmp.Or(a.costUSD, free)} }

// search finds passages. A question in another language than the documents is put into theirs, where somebody translates it and what is found then is
// no worse.
func (p *Provider) search(ctx context.Context, c registry.Call, q index.Query) (answer, error) {
	found, err := p.cfg.Index.Search(ctx, q)
	if err != nil || found.Foreign == "" {
		return answer{Answer: found}, err
	}
	translated, costUSD := p.translated(ctx, c, q.Text, found.Foreign)
	if translated == "" {
		return answer{Answer: found, costUSD: costUSD}, ctx.Err()
	}
	q.Text = translated
	again, err := p.cfg.Index.Search(ctx, q)
	if err != nil || again.Foreign != "" || bestScore(again) < bestScore(found) {
		return answer{Answer: found, costUSD: costUSD}, err
	}
	again.Foreign = found.Foreign
	return answer{again, translated, costUSD}, nil
}

func bestScore(a index.Answer) float64 {
	if len(a.Results) == 0 {
		return 0
	}
	return a.Results[0].Score
}

// costs is the price of an answer: that of a translation, where it needs one. nil: all are free.
func (p *Provider) costs() (*registry.CostingModel, error) {
	if p.cfg.Translator == nil {
		return nil, nil
	}
	most, err := p.cfg.Translator.Most()
	if err != nil || most == free {
		return nil, err
	}
	return &registry.CostingModel{Rate: json.Number(most), Unit: registry.UnitRequest, RateSource: registry.RateAPI, UpTo: true}, nil
}

// Price is that of the translation, where the question is in another language than the documents and was not translated lately. What is wrong with
// a question is told when it is asked.
func (p *Provider) Price(ctx context.Context, c registry.Call) (registry.Price, error) {
	query, err := p.query(ctx, c)
	if err != nil || !p.translates(c) {
		return registry.Price{CostUSD: free}, nil
	}
	found, err := p.cfg.Index.Search(ctx, query)
	if err != nil || found.Foreign == "" {
		return registry.Price{CostUSD: free}, nil
	}
	if _, known := p.translations.Get(translationKey(query.Text, found.Foreign), time.Now()); known {
		return registry.Price{CostUSD: free}, nil
	}
	return p.cfg.Translator.Price(ctx, c, query.Text, titled(found.Foreign))
}

// translates reports whether there is somebody to translate for a call, and an account to pay for it.
func (p *Provider) translates(c registry.Call) bool { return p.cfg.Translator != nil && c.UserID != "" }

func translationKey(question, language string) string { return language + "\n" + question }

// translated is a question in another language, and what that costs; empty where it can't be had.
func (p *Provider) translated(ctx context.Context, c registry.Call, question, language string) (said, costUSD string) {
	if !p.translates(c) {
		return "", ""
	}
	key := translationKey(question, language)
	if known, ok := p.translations.Get(key, time.Now()); ok {
		return known, ""
	}
	ctx, cancel := context.WithTimeout(ctx, translationTime)
	defer cancel()
	said, costUSD, err := p.cfg.Translator.Translate(ctx, c, question, titled(language))
	if err != nil {
		p.cfg.Logger.InfoContext(ctx, "a question is looked for as it was asked, for it could not be translated", "language", language, "error", err)
		return "", ""
	}
	said = sensible(question, said)
	p.translations.Put(key, said, time.Now())
	return said, costUSD
}

// sensible is a translation on one line; empty where it is none.
func sensible(question, said string) string {
	said = plain.Line(said)
	if strings.EqualFold(said, question) || len(said) > 4*len(question)+200 {
		return ""
	}
	return said
}
