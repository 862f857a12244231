package knowledge

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/registry"
)

const (
	passages     = 3    // that /docs shows
	leastScore   = 0.12 // of the best one; below, nothing is about the question
	besideScore  = 0.4  // of the best one's score that the others have, at least
	passageBytes = 320
)

// docs answers with the best passages of all sources that the asker may read, each with its source.
func (p *Provider) docs(ctx context.Context, c registry.Call) (registry.Result, error) {
	voice := p.cfg.Texts.Voice(p.cfg.Language(ctx, c.UserID))
	query, err := p.query(ctx, c)
	if err != nil {
		return registry.Result{}, err
	}
	found, err := p.search(ctx, c, query)
	if err != nil {
		return registry.Result{}, failure(c, err)
	}
	found.Results = telling(found)
	outputs := []registry.Output{{Name: "answer", Type: "text", Text: written(voice, found)}}
	if c.Context.PlannerProvider != "" { // by which the sources are named below what the model says; others are shown the answer alone
		results, err := encoded(found.Results)
		if err != nil {
			return registry.Result{}, err
		}
		outputs = append(outputs, registry.Output{Name: "results", Type: "text", Text: results})
	}
	return registry.Result{Outputs: outputs, Usage: found.usage()}, nil
}

// telling are the results that say something about the question. In one of another language only names can be found: that is little of it.
func telling(found answer) []index.Result {
	least := leastScore
	if found.Foreign != "" && found.Translated == "" {
		least = 0
	}
	for i, r := range found.Results {
		if r.Score < max(least, besideScore*found.Results[0].Score) {
			return found.Results[:i]
		}
	}
	return found.Results
}

// named parts a question from the source that it names: by its own input, or by "in NAME" at the end.
func (p *Provider) named(ctx context.Context, c registry.Call) (question, toolID string, err error) {
	question, wanted := text(c, "question"), text(c, "source")
	if wanted == "" && !strings.Contains(strings.ToLower(question), " in ") {
		return question, "", nil
	}
	sources, err := p.cfg.Index.Sources(ctx, c.UserID)
	if err != nil {
		return "", "", failure(c, err)
	}
	for _, s := range sources {
		if c.Context.Shared && s.Access == index.AccessListed {
			continue // others need not know that it is there
		}
		for _, name := range []string{s.Name, s.Title, s.ToolID} {
			if strings.EqualFold(wanted, name) {
				return question, s.ToolID, unread(s)
			}
			if head, is := cutFold(question, " in "+name); is && wanted == "" {
				return head, s.ToolID, unread(s)
			}
		}
	}
	if wanted != "" {
		return "", "", registry.Say(registry.CodeInvalidInput, said.DocsNoSource, "words", wanted).At("source")
	}
	return question, "", nil
}

// unread is why there is nothing in a source to answer with.
func unread(s index.Source) error {
	if s.Chunks > 0 || s.Problem == "" {
		return nil
	}
	return registry.Say(registry.CodeUnavailable, said.DocsUnread, "words", s.Title, "reason", s.Problem)
}

// cutFold takes an ending off, in any case of letters.
func cutFold(text, ending string) (string, bool) {
	at := len(text) - len(ending)
	if at <= 0 || !strings.EqualFold(text[at:], ending) {
		return text, false
	}
	return text[:at], true
}

// written is what was found as a text for people.
func written(voice i18n.Voice, found answer) string {
	var parts []string
	for i, r := range found.Results {
		parts = append(parts, fmt.Sprintf("%d. %s\n%s\n%s", i+1, strings.Join(r.Breadcrumbs, " › "), brief(r.Snippet), place(r)))
	}
	if len(parts) == 0 {
		parts = append(parts, voice.Line("knowledge.nothing"))
	}
	switch {
	case found.Translated != "":
		parts = append(parts, voice.Line("knowledge.translated", "language", languageName(voice, found.Foreign), "words", found.Translated))
	case found.Foreign != "":
		parts = append(parts, voice.Line("knowledge.foreign", "language", languageName(voice, found.Foreign)))
	}
	return strings.Join(parts, "\n\n")
}

// languageName is the name of a language, given by its English one, in the language of a voice.
func languageName(voice i18n.Voice, english string) string {
	return display.Languages(language.Make(voice.Language())).Name(language.Make(index.LanguageCode(english)))
}

// brief is the begin of a passage.
func brief(snippet string) string {
	if len(snippet) <= passageBytes {
		return snippet
	}
	cut := strings.ToValidUTF8(snippet[:passageBytes], "")
	if at := strings.LastIndexAny(cut, " \n"); at > passageBytes/2 {
		cut = cut[:at]
	}
	return strings.TrimSpace(cut) + "…"
}

// place says where a passage stands.
func place(r index.Result) string {
	if strings.HasPrefix(r.URL, "http") {
		return r.URL
	}
	return r.Source + ": " + r.Path
}
