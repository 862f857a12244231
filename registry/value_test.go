package registry_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
)

func n(s string) json.Number { return json.Number(s) }

var (
	width   = registry.InputField{Name: "width", Type: registry.TypeNumber, Integer: true, Min: "64", Max: "2048", Step: "8", Default: n("1023")}
	ratio   = registry.InputField{Name: "cfg", Type: registry.TypeNumber, Min: "0", Max: "30", Step: "0.1"}
	seed    = registry.InputField{Name: "seed", Type: registry.TypeNumber, Seed: true, Min: "0", Max: "18446744073709551615"}
	flag    = registry.InputField{Name: "hd", Type: registry.TypeBoolean}
	text    = registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}
	sampler = registry.InputField{Name: "sampler", Type: registry.TypeString, Choices: []registry.Choice{{Value: "euler"}, {Value: "dpmpp_2m", Label: "DPM++ 2M"}, {Value: "Euler"}}}
	factor  = registry.InputField{Name: "factor", Type: registry.TypeNumber, Choices: []registry.Choice{{Value: n("2")}, {Value: n("4"), Label: "Four times"}}}
	photo   = registry.InputField{Name: "photo", Type: registry.TypeImage, DisplayName: "Photo"}
	nested  = registry.InputField{Name: "options", Type: registry.TypeString, Schema: json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}},"additionalProperties":false}`)}
	many    = registry.InputField{Name: "pics", Type: registry.TypeImage, Multiple: true, Required: true}
	asset   = "asset:" + strings.Repeat("0a", 32)
)

func TestCheckValueAccepts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field registry.InputField
		value any
		want  any
	}{
		"A18 number as text":                      {width, " 1024 ", n("1024")},
		"A18 number as JSON":                      {width, n("1024"), n("1024")},
		"A18 whole number with an empty fraction": {width, "1024.0", n("1024")},
		"A18 whole number with an exponent":       {width, n("1.024e3"), n("1024")},
		"a Go number":                             {width, 1024, n("1024")},
		"the default fits beside the steps":       {width, n("1023"), n("1023")},
		"fraction keeps its digits":               {ratio, "3.50", n("3.50")},
		"fraction as people write it":             {ratio, ".5", n("0.5")},
		"plus sign":                               {ratio, "+5", n("5")},
		"steps are exact":                         {ratio, "0.3", n("0.3")},
		"64-bit seed":                             {seed, "18446744073709551615", n("18446744073709551615")},
		"random seed by word":                     {seed, "Random", registry.RandomSeed},
		"random seed below the minimum":           {seed, "-1", n("-1")},
		"A18 yes":                                 {flag, "Yes", true},
		"A18 off":                                 {flag, "off", false},
		"A18 boolean":                             {flag, true, true},
		"A18 text":                                {text, "a red bicycle", "a red bicycle"},
		"choice by value":                         {sampler, "dpmpp_2m", "dpmpp_2m"},
		"choice by value, exact case first":       {sampler, "Euler", "Euler"},
		"choice by value in any case":             {sampler, "EULER", "euler"},
		"choice by label in any case":             {sampler, "dpm++ 2m", "dpmpp_2m"},
		"numeric choice as text":                  {factor, "2", n("2")},
		"numeric choice by worth":                 {factor, n("2.0"), n("2")},
		"numeric choice by label":                 {factor, "four TIMES", n("4")},
		"A18 stored file":                         {photo, asset, asset},
		"A18 address":                             {photo, "https://example.org/a.png?x=1", "https://example.org/a.png?x=1"},
		"nested value as JSON":                    {nested, map[string]any{"n": n("5")}, map[string]any{"n": n("5")}},
		"nested value as text":                    {nested, `{"n": 5}`, map[string]any{"n": n("5")}},
		"A19 nothing where optional":              {photo, nil, nil},
		"several":                                 {many, []any{asset, "https://example.org/b.png"}, []any{asset, "https://example.org/b.png"}},
		"one where several are taken":             {many, asset, []any{asset}},
		"empty text where optional":               {registry.InputField{Name: "neg", Type: registry.TypeString}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := registry.CheckValue(c.field, c.value)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, %v, want %#v", got, err, c.want)
			}
		})
	}
}

func TestCheckValueRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field registry.InputField
		value any
		want  string
	}{
		"A18 word for a number":              {width, "wide", `"wide"`},
		"A18 yes or no for a number":         {width, true, "takes a number, got yes or no"},
		"A18 list for a number":              {width, []any{}, "got a list"},
		"A18 number for a text":              {text, n("5"), "takes text, got a number"},
		"A18 number for yes or no":           {flag, n("1"), "yes or no"},
		"A18 word for yes or no":             {flag, "perhaps", `"perhaps"`},
		"A18 word for a file":                {photo, "cat.png", "Photo: takes an image: send a file"},
		"A18 unencrypted address":            {photo, "http://example.org/a.png", "https"},
		"A18 address with a password":        {photo, "https://me:pw@example.org/a.png", "https"},
		"A18 cut reference":                  {photo, "asset:00ff", "send a file"},
		"too small":                          {width, "8", "too small; allowed is 64 to 2048"},
		"too large":                          {width, "4096", "too large"},
		"beside the steps":                   {width, "100", "steps of 8; the next below is 96"},
		"fraction beside the steps":          {ratio, "0.35", "the next below is 0.3"},
		"fraction for a whole number":        {registry.InputField{Name: "n", Type: registry.TypeNumber, Integer: true}, "1.5", "whole number"},
		"decimal comma":                      {ratio, "0,5", "write decimals with a point: 0.5"},
		"comma between thousands":            {width, "1,024", "(write it without commas: 1024)"},
		"commas between thousands":           {ratio, "-1,000,000.5", "(write it without commas: -1000000.5)"},
		"a comma that may be either":         {ratio, "1,000", "(write it without commas: 1000, or 1.000 for a decimal)"},
		"hexadecimal":                        {seed, "0x10", "number"},
		"not a number":                       {ratio, "NaN", "number"},
		"huge exponent":                      {ratio, "1e999999999", "number"},
		"very many digits":                   {ratio, strings.Repeat("1", 5000), "number"},
		"seed below the random one":          {seed, "-2", "too small"},
		"random for a plain number":          {width, "random", "number"},
		"unknown choice names the nearest":   {sampler, "eulr", "did you mean euler?"},
		"A18 number for a choice of texts":   {sampler, true, "one of"},
		"nested value of another shape":      {nested, map[string]any{"n": "x"}, "/n"},
		"nested value with a foreign member": {nested, `{"n":1,"m":2}`, "m"},
		"A19 nothing where required":         {text, nil, "prompt: a value is needed"},
		"A19 blank where required":           {text, "  ", "needed"},
		"A19 empty list where required":      {many, []any{}, "at least one"},
		"too long":                           {text, strings.Repeat("x", registry.MaxTextBytes+1), "at most"},
		"zero byte":                          {text, "a\x00b", "no characters"},
		"too many":                           {many, make([]any, registry.MaxListLength+1), "at most"},
		"eighth type":                        {registry.InputField{Name: "x", Type: "colour"}, "red", `"colour"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := registry.CheckValue(c.field, c.value)
			if err == nil {
				t.Fatal("accepted")
			}
			wantContains(t, err, c.want)
			if err.Code != registry.CodeInvalidInput || err.Field != c.field.Name {
				t.Errorf("got code %s, field %s", err.Code, err.Field)
			}
			if len(err.Message) > 400 {
				t.Errorf("a message of %d bytes is not for people", len(err.Message))
			}
		})
	}
}

func TestParseText(t *testing.T) {
	t.Parallel()
	lines := registry.InputField{Name: "scenes", Type: registry.TypeString, Multiple: true}
	for name, c := range map[string]struct {
		field registry.InputField
		text  string
		want  any
	}{
		"one value":            {width, "512", n("512")},
		"texts line by line":   {lines, "a cat, sitting\n\n a dog ", []any{"a cat, sitting", "a dog"}},
		"files between blanks": {many, asset + ", https://example.org/b.png", []any{asset, "https://example.org/b.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := registry.ParseText(c.field, c.text)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, %v", got, err)
			}
		})
	}
}

func TestAWholeNumberIsNotAdvisedToHaveDecimals(t *testing.T) {
	t.Parallel()
	_, err := registry.CheckValue(registry.InputField{Name: "n", Type: registry.TypeNumber, Integer: true}, "1,5")
	if err == nil || strings.Contains(err.Message, "1.5") {
		t.Errorf("got %v", err)
	}
}
