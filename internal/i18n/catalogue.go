package i18n

import (
	"embed"
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"slices"
	"strings"
	"sync"

	goi18n "github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"github.com/signalbox/signalbox/internal/said"
)

//go:embed texts/*.json
var texts embed.FS

// Catalogue is all texts in all languages. It does not change, and may be used by many goroutines at once.
type Catalogue struct {
	voices map[string]Voice // by base language
}

// Load gives the texts that come with the program. They are read once, and all share them.
func Load() (*Catalogue, error) { return own() }

var own = sync.OnceValues(func() (*Catalogue, error) { return load(texts, said.Texts) })

// file is a file of texts in one language.
type file struct {
	room fs.FS
	name string // texts/ROOM.LANGUAGE.json
}

// load finds the texts and reads those in English. Others are read when somebody speaks their language: they take memory.
func load(rooms ...fs.FS) (*Catalogue, error) {
	files := map[string][]file{} // by language
	for _, room := range rooms {
		names, err := fs.Glob(room, "texts/*.json")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			tag := strings.TrimPrefix(path.Ext(strings.TrimSuffix(name, ".json")), ".")
			files[tag] = append(files[tag], file{room, name})
		}
	}
	english, err := read(Fallback, files[Fallback])
	if err != nil {
		return nil, err
	}
	c := &Catalogue{voices: map[string]Voice{}}
	for tag, list := range files {
		c.voices[tag] = Voice{language: tag, english: english, own: sync.OnceValue(func() *goi18n.Localizer {
			if tag == Fallback {
				return english
			}
			if l, err := read(tag, list); err == nil { // tests read all that come with the program
				return l
			}
			return english
		})}
	}
	return c, nil
}

// read reads the texts in one language.
func read(tag string, files []file) (*goi18n.Localizer, error) {
	bundle := goi18n.NewBundle(language.Make(tag))
	for _, f := range files {
		if _, err := bundle.LoadMessageFileFS(f.room, f.name); err != nil {
			return nil, fmt.Errorf("texts in %s: %w", f.name, err)
		}
	}
	return goi18n.NewLocalizer(bundle, tag), nil
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
	for lang := range c.voices {
		if lang != Fallback {
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
