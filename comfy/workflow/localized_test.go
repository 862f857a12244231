package workflow

import (
	"maps"
	"testing"

	"github.com/signalbox/signalbox/comfy/graph/graphtest"
)

func TestWordsForChoicesAndOutputs(t *testing.T) {
	t.Parallel()
	d := define(t, graphtest.Sampling("@input 5.cfg name=cfg choices=2|4 default=4\n@output 7 name=picture\n"+
		"@i18n de input=cfg label=Treue choices=\"2=frei|4=genau|8=nie\"\n@i18n de input=cfg choices=\"2=ganz frei\"\n@i18n de output=picture label=\"Das <b>Bild</b>\"").String(), graphtest.Mini(t))
	checkTool(t, d)
	words := d.Tool.Localized["de"]
	if own := words.Inputs["cfg"]; own.DisplayName != "Treue" || !maps.Equal(own.Choices, map[string]string{"2": "ganz frei", "4": "genau"}) {
		t.Errorf("the input is read as %+v", own)
	}
	if words.Outputs["picture"] != "Das Bild" {
		t.Errorf("the outputs are read as %v", words.Outputs)
	}
	if hasCode(d, "directive-target") || hasCode(d, "directive-value") {
		t.Errorf("findings: %+v", d.Findings)
	}
	for line, code := range map[string]string{
		"@i18n de output=film label=Film":  "directive-target",
		"@i18n de input=shape label=a":     "directive-target",
		"@i18n de input=cfg choices=2":     "directive-value",
		"@i18n de input=cfg choice=\"2=\"": "unknown-directive",
	} {
		if d := define(t, graphtest.Sampling("@input 5.cfg name=cfg choices=2|4 default=4\n"+line).String(), graphtest.Mini(t)); !hasCode(d, code) {
			t.Errorf("%s: findings %+v, want %s", line, d.Findings, code)
		}
	}
}
