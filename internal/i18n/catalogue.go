package i18n

import (
	"embed"
	"fmt"
	"io/fs"
	"math/big"
	"slices"
	"sync"

	goi18n "github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"github.com/signalbox/signalbox/internal/said"
)

//go:embed texts/*.json
var texts embed.FS

// Fallback is the language that every text exists in.
const Fallback = "en"

// Catalogue is all texts in all languages. It does not change, and may be used by many goroutines at once.
type Catalogue struct {
	bundle *goi18n.Bundle
	voices map[string]Voice // by base language
}

// Load gives the texts that come with the program. They are read once, and all share them.
func Load() (*Catalogue, error) { return own() }

var own = sync.OnceValues(func() (*Catalogue, error) { return load(texts, said.Texts) })

func load(rooms ...fs.FS) (*Catalogue, error) {
	c := &Catalogue{bundle: goi18n.NewBundle(language.Make(Fallback)), voices: map[string]Voice{}}
	for _, files := range rooms {
		names, err := fs.Glob(files, "texts/*.json")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if _, err := c.bundle.LoadMessageFileFS(files, name); err != nil {
				return nil, fmt.Errorf("texts in %s: %w", name, err)
			}
		}
	}
	for _, tag := range c.bundle.LanguageTags() {
		c.voices[tag.String()] = Voice{language: tag.String(), localizer: goi18n.NewLocalizer(c.bundle, tag.String())}
	}
	return c, nil
}

// WithUnit gives a catalogue whose voices show amounts in points as well: unit tells an amount in points. nil shows none.
func (c *Catalogue) WithUnit(unit func(m Money) *big.Rat) *Catalogue {
	other := *c
	other.voices = make(map[string]Voice, len(c.voices))
	for tag, v := range c.voices {
		v.unit = unit
		other.voices[tag] = v
	}
	return &other
}

// Languages lists the languages there are texts in (BCP 47), English first.
func (c *Catalogue) Languages() []string {
	list := []string{Fallback}
	for _, tag := range c.bundle.LanguageTags() {
		if lang := tag.String(); lang != Fallback {
			list = append(list, lang)
		}
	}
	slices.Sort(list[1:])
	return list
}

// Match finds the first of the wanted languages that there are texts in. Each is a BCP 47 tag or the value of an
// Accept-Language header. It gives "" where there is none.
func (c *Catalogue) Match(wanted ...string) string {
	for _, w := range wanted {
		tags, _, err := language.ParseAcceptLanguage(w)
		if err != nil {
			continue
		}
		for _, tag := range tags {
			base, _ := tag.Base()
			if _, ok := c.voices[base.String()]; ok && tag != language.Und {
				return base.String()
			}
		}
	}
	return ""
}

// Voice speaks the first of the wanted languages that there are texts in, else English.
func (c *Catalogue) Voice(wanted ...string) Voice {
	if lang := c.Match(wanted...); lang != "" {
		return c.voices[lang]
	}
	return c.voices[Fallback]
}
