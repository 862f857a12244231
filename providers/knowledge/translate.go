package knowledge

import (
	"context"
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

// translated is a question in another language; empty where it can't be had.
func (p *Provider) translated(ctx context.Context, c registry.Call, question, language string) string {
	if p.cfg.Translate == nil || c.UserID == "" { // nobody would pay for it
		return ""
	}
	key := language + "\n" + question
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
