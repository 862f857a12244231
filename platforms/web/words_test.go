package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

func TestFailuresAreToldInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	down, going := sketch(), sketch()
	down.ToolID, down.CommandName, down.DisplayName = "down", "/down", "Down"
	down.Status = registry.SayStatus(registry.StateUnavailable, said.EngineLacks.With("kind", said.Model, "names", "wall.safetensors"))
	going.ToolID, going.CommandName, going.DisplayName = "going", "/going", "Going"
	going.Status = registry.SayStatus(registry.StateDeprecated, said.ReasonRemoved.With())
	h.fakes.Set(studio(), down, going)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := h.reader()
	for want, reason := range map[string]said.Text{
		"Vidu hat gerade zu viel zu tun.":  said.ServiceBusyWork.With("service", "Vidu"),
		"Im Wortlaut: „the colour is odd“": {Words: "the colour is odd"},
	} {
		h.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) {
			return registry.Result{}, registry.SayText(registry.CodeProvider, reason)
		})
		run := h.started(v, "studio", url.Values{"prompt": {"a boat"}})
		has(t, v.page("/run/"+run.ID, "Accept-Language", "de"), want)
	}
	has(t, v.page("/", "Accept-Language", "de"), "Kein Server hat das Modell wall.safetensors.", "Der Dienst will es bald entfernen.")
	has(t, v.page("/tool/down"), "Down is not available now. No engine has the model wall.safetensors.")
	has(t, v.page("/tool/down", "Accept-Language", "de"), "Down ist gerade nicht verfügbar. Kein Server hat das Modell wall.safetensors.")
	has(t, v.page("/tool/going", "Accept-Language", "de"), "Going wird es bald nicht mehr geben. Der Dienst will es bald entfernen.")
	res := v.do("GET", "/tool/nowhere", "", nil, "Accept-Language", "de", "Accept", "text/html")
	if page := readAll(t, res.Body); res.StatusCode != http.StatusNotFound || !strings.Contains(page, "Dieses Werkzeug gibt es nicht.") || !strings.Contains(page, "<h1>Nicht gefunden</h1>") {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
	res = v.do("GET", "/tool/nowhere", "", nil, "Accept", "text/html")
	if page := readAll(t, res.Body); !strings.Contains(page, "There is no such tool.") || strings.Contains(page, "/api/tools") {
		t.Errorf("people are told as programs are:\n%s", page)
	}
	res = v.do("GET", "/nowhere", "", nil, "Accept-Language", "de", "Accept", "text/html")
	if page := readAll(t, res.Body); res.StatusCode != http.StatusNotFound || !strings.Contains(page, "<h1>Nicht gefunden</h1>") {
		t.Errorf("%d\n%s", res.StatusCode, page)
	}
}

func TestWhatAnInputTakesIsToldInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	h := studioHouse(t)
	tool := sketch()
	tool.ToolID, tool.CommandName = "bounded", "/bounded"
	tool.InputSchema = registry.InputSchema{
		{Name: "whole", Type: registry.TypeNumber, Integer: true}, {Name: "below", Type: registry.TypeNumber, Max: "9", Step: "0.5"},
		{Name: "above", Type: registry.TypeNumber, Min: "3"},
	}
	h.fakes.Set(tool)
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	has(t, h.reader().page("/tool/bounded", "Accept-Language", "de"), "ganze Zahlen", "höchstens 9, in Schritten von 0.5", "mindestens 3")
}
