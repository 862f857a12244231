package pages

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/edit"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/web/files"
	"github.com/signalbox/signalbox/platforms/words"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// views draw what a page shows of runs and files.
type views struct {
	links files.Links
}

// runView is a run as a page shows it.
type runView struct {
	runs.Run
	Results   []result
	Percent   string // empty while no real figure is known
	RestWords string // how long it will go on, or ""
	Given     []givenValue
	Asked     string   // what its provider says that it would do
	Changes   []change // what it would change, in place of Given while it is asked for
	Usual     bool     // some of them are as the tool has them
	Cover     result   // the first result that can be looked at
	Picture   string   // the last picture among the results: see lastPicture
	Price     string   // in short
	// ExactPrice is what was told before, to the nano-dollar.
	ExactPrice string
}

// result is one output on a page.
type result struct {
	runs.Output
	Label string
	URL   string
	Thumb string // a small version of a picture
	Size  string
	Next  []useLink // the best tool for each thing that can be done with it
	Uses  []useLink // the other tools that take it
}

// useLink leads to a tool's form with a result filled in.
type useLink struct {
	Name, URL string
}

type givenValue struct {
	Label, Value string
	Source       runs.Source
	Files        []keptFile
	Usual        bool // an advanced input as the tool has it
}

func (s views) run(voice i18n.Voice, run runs.Run) runView {
	run.Tool = *run.Tool.In(voice.Language())
	v := runView{Run: run, Price: priceWords(voice, run.Tool, run.Quote).Price, ExactPrice: exactPrice(voice, run.Quote)}
	for _, o := range run.Outputs {
		v.Results = append(v.Results, s.result(voice, run, o))
	}
	for _, o := range v.Results {
		if v.Cover.Type == "" || v.Cover.Type != string(registry.TypeImage) && o.Type == string(registry.TypeImage) {
			v.Cover = o
		}
	}
	v.Picture = lastPicture(v.Results)
	v.Stage = words.Stage(voice, run.Stage)
	v.RestWords = voice.Rest(run.Rest(time.Now()))
	if run.Fraction != nil {
		v.Percent = fmt.Sprintf("%.0f", *run.Fraction*100)
	}
	if run.Preview != nil && len(run.Preview.Parts) > 0 {
		v.Given = steps(voice, run.Preview.Parts)
		return v
	}
	if run.Preview != nil {
		v.Changes, v.Asked = changes(run.Tool, *run.Preview), words.Asked(voice, *run.Preview)
	}
	for _, f := range run.Tool.InputSchema.Ordered() {
		if value, ok := run.Inputs[f.Name]; ok {
			g := s.given(voice, run.AccountID, f, value, run.Sources[f.Name])
			v.Given, v.Usual = append(v.Given, g), v.Usual || g.Usual
		}
	}
	return v
}

// change is a field that a run would change, as the page shows it.
type change struct {
	Label  string
	Pieces []edit.Piece
}

func changes(t registry.Tool, p registry.Preview) []change {
	list := make([]change, len(p.Changes))
	for i, c := range p.Changes {
		list[i] = change{words.Field(t, c.Field), c.Pieces}
	}
	return list
}

// steps are the parts of a run, each with what it was given and the most that it may cost.
func steps(voice i18n.Voice, parts []registry.Part) []givenValue {
	list := make([]givenValue, len(parts))
	for i, part := range parts {
		var given []string
		for _, in := range part.Inputs {
			given = append(given, in.Label+": "+words.PartValue(voice, in))
		}
		if most, err := billing.ParseUSD(part.CostUSD); err == nil && most > 0 {
			given = append(given, voice.Amount(most))
		}
		list[i] = givenValue{Label: fmt.Sprintf("%d. %s", i+1, part.Name), Value: strings.Join(given, " · "), Source: runs.FromArgument}
	}
	return list
}

func (s views) result(voice i18n.Voice, run runs.Run, o runs.Output) result {
	out := result{Output: o, Label: resultLabel(voice, run.Tool, o)}
	if o.Media != "" {
		out.URL = s.links.File(run.AccountID, o.Media, o.FileName)
		if o.Type == string(registry.TypeImage) {
			out.Thumb = s.links.Thumb(run.AccountID, o.Media, files.CardSide)
		}
	}
	if o.Width > 0 {
		out.Size = fmt.Sprintf("%d × %d", o.Width, o.Height)
	}
	return out
}

// maxResultLabel is the longest description, in characters, that stands as a label.
const maxResultLabel = 40

// resultLabel is what a result is: its description where that is short, what it is called, or its kind where it is called by that.
func resultLabel(voice i18n.Voice, tool registry.Tool, o runs.Output) string {
	for _, f := range tool.OutputSchema {
		if f.Name == o.Name && f.Description != "" && utf8.RuneCountInString(f.Description) <= maxResultLabel {
			return f.Description
		}
	}
	if o.Name == o.Type {
		return voice.Line("web.kind." + o.Type)
	}
	return o.Name
}

func (s views) given(voice i18n.Voice, owner string, f registry.InputField, value any, from runs.Source) givenValue {
	g := givenValue{Label: f.Label(), Source: from, Usual: f.Advanced && plain(value) == plain(f.Default)}
	if f.Type.IsMedia() {
		g.Files = s.keptFiles(owner, f, value)
		return g
	}
	g.Value = plain(value)
	if f.Type == registry.TypeBoolean {
		g.Value = voice.Line(map[bool]string{true: "value.yes", false: "value.no"}[value == true])
	}
	for _, c := range f.Choices {
		if plain(c.Value) == g.Value {
			g.Value = c.Text()
		}
	}
	return g
}

// lastPicture is the picture that a tool gives last: what comes before it are steps on the way.
func lastPicture(results []result) string {
	found := ""
	for _, o := range results {
		if o.Type == string(registry.TypeImage) && o.URL != "" {
			found = o.URL
		}
	}
	return found
}

// keptFile is a stored file that stands in a form.
type keptFile struct {
	Ref, URL string
	Thumb    string // a small version of a picture
	Picture  bool
}

// keptFiles shows files that a form holds already, so that they need not be sent again.
func (s views) keptFiles(owner string, f registry.InputField, value any) []keptFile {
	list, many := value.([]any)
	if !many && value != nil {
		list = []any{value}
	}
	var kept []keptFile
	for _, item := range list {
		if ref, ok := item.(string); ok && strings.HasPrefix(ref, files.Scheme) {
			kept = append(kept, keptFile{Ref: ref, URL: s.links.File(owner, ref, f.Name), Thumb: s.links.Thumb(owner, ref, files.TileSide), Picture: f.Type == registry.TypeImage})
		}
	}
	return kept
}

// plain is a JSON value as a person would type it.
func plain(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return fmt.Sprint(x)
	}
	data, err := json.Marshal(x)
	if err != nil {
		return ""
	}
	return string(data)
}
