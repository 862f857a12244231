package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func TestGoingOnFromAResult(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	prompt := registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}
	seed := registry.InputField{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true}
	picture := registry.InputField{Name: "image", Type: registry.TypeImage, Required: true}
	gives := registry.OutputSchema{{Name: "picture", Type: "image"}}
	tool := func(id, category string, inputs ...registry.InputField) registry.Tool {
		return registry.Tool{ToolID: id, Service: "fake", DisplayName: id, Listing: registry.Listing{Category: category}, InputSchema: inputs, OutputSchema: gives}
	}
	h.fakes.Set(tool("sketch", "text-to-image", prompt, seed), tool("grow", "upscale", picture), tool("instruct", "image-editing", picture, prompt),
		tool("redraw", "image-to-image", picture, prompt, registry.InputField{Name: "denoise", Type: registry.TypeNumber, Min: "0", Max: "1", Step: "0.1"}))
	if _, err := h.reg.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.fake.Answer(func(registry.Call) (registry.Result, *registry.Error) {
		one := registrytest.File("picture", "image", registry.MediaInfo{Name: "one.png", MIMEType: "image/png"}, photo(t))
		return registry.Result{Outputs: []registry.Output{one, one}}, nil
	})
	v := h.reader()
	run := h.started(v, "sketch", url.Values{"prompt": {"a red bicycle"}})
	page := v.page("/run/" + run.ID)
	t.Run("each picture has what goes on from it, by what is done", func(t *testing.T) {
		for _, n := range []string{".0", ".1"} {
			has(t, page, `href="/tool/redraw?use=`+run.ID+n+`&amp;does=vary">Vary</a>`, `href="/tool/grow?use=`+run.ID+n+`&amp;does=upscale">Upscale</a>`, `href="/tool/instruct?use=`+run.ID+n+`&amp;does=edit">Edit…</a>`)
		}
		if strings.Contains(page, `<li><a href="/tool/grow?`) {
			t.Error("a tool with a button stands in the menu, too")
		}
	})
	t.Run("the set is varied where Again would keep its seed, as in chats", func(t *testing.T) {
		const vary = `name="vary"`
		if strings.Contains(page, vary) {
			t.Error("Vary, which would do what Again does, stands beside it")
		}
		has(t, v.page("/run/"+h.started(v, "sketch", url.Values{"prompt": {"a hat"}, "seed": {"7"}}).ID), vary)
	})
	t.Run("the form has the picture, the words and how far to depart, and starts nothing", func(t *testing.T) {
		form := v.page("/tool/redraw?use=" + run.ID + ".1&does=vary")
		has(t, form, run.Outputs[1].Media, "a red bicycle", `value="0.5"`)
		if strings.Contains(v.page("/tool/instruct?use="+run.ID+".0&does=edit"), ">a red bicycle</textarea>") {
			t.Error("anyone who edits is given words that were said before")
		}
		if n := len(h.fake.Calls()); n != 2 {
			t.Errorf("%d runs, want 2", n)
		}
	})
	t.Run("changing the inputs keeps a seed that was chosen, and draws one that was drawn", func(t *testing.T) {
		drawn := run.Inputs["seed"]
		if page := v.page("/tool/sketch?run=" + run.ID); drawn == nil || strings.Contains(page, fmt.Sprint(drawn)) {
			t.Errorf("the seed %v that was drawn stands in the form", drawn)
		}
		chosen := h.started(v, "sketch", url.Values{"prompt": {"a cat"}, "seed": {"4711"}})
		has(t, v.page("/tool/sketch?run="+chosen.ID), `value="4711"`)
	})
	t.Run("so does Again, as in chats", func(t *testing.T) {
		again := func(id string) string {
			path := v.form("/run/"+id+"/again", url.Values{}).Header.Get("Location")
			return string(v.finished(strings.TrimPrefix(path, "/run/")).Inputs["seed"])
		}
		if seed := again(run.ID); seed == fmt.Sprint(run.Inputs["seed"]) {
			t.Errorf("it ran with the seed %s once more", seed)
		}
		chosen := h.started(v, "sketch", url.Values{"prompt": {"a cow"}, "seed": {"4712"}})
		if seed := again(chosen.ID); seed != "4712" {
			t.Errorf("it ran with the seed %s", seed)
		}
	})
}
