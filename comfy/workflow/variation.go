package workflow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/binding"
	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/registry"
)

// The inputs by which another picture like one that was made is asked for.
const (
	ownPicture     = "own_picture"
	variationInput = "variation"
)

// encoding are the classes that a sampler needs to begin with a picture.
var encoding = []string{"LoadImage", "VAEEncode", "RepeatLatentBatch"}

// variation lets a workflow that paints from words alone begin with a picture that it has made: in place of the empty latent, with as
// much noise as the new picture may depart from the old one. Nothing changes in the prompt where no picture is given.
func (d *definer) variation() {
	for _, class := range encoding {
		if _, ok := d.o.ObjectInfo.Class(class); !ok {
			return
		}
	}
	film := slices.ContainsFunc(d.f.Nodes, func(n *graph.FlatNode) bool { return n.IsResult() && n.ResultKind() == graph.KindVideo })
	if film || d.animates() || slices.ContainsFunc(d.fields, func(f *field) bool { return f.Type.IsMedia() }) {
		return
	}
	start, noise, vae, ok := d.beginning()
	if !ok || len(d.fields)+2 > maxFields || d.byName[ownPicture] != nil || d.byName[variationInput] != nil {
		return
	}
	d.add(&field{
		InputField: registry.InputField{Name: ownPicture, Type: registry.TypeImage, Role: registry.RoleOwn, Advanced: true,
			DisplayName: "Picture to vary", Description: "A picture that this tool has made: the next one is like it, in its size."},
		source:  sourceGuess,
		targets: []binding.Target{{Node: start.ID, Input: "latent_image", Mode: binding.ModeEncode, VAE: vae.Node, VAESlot: vae.Slot}},
	})
	noise.With = ownPicture
	d.add(&field{
		InputField: registry.InputField{Name: variationInput, Type: registry.TypeNumber, Role: registry.RoleStrength, Advanced: true,
			Default: json.Number("0.5"), Min: "0", Max: "1", DisplayName: "How different", Description: "How far the next one may depart from the picture to vary."},
		source:  sourceGuess,
		targets: []binding.Target{noise},
	})
}

// beginning finds the only sampler that begins with an empty latent, what says how much noise it works out, and what makes pictures of
// its latents.
func (d *definer) beginning() (sampler *graph.FlatNode, noise binding.Target, vae graph.Ref, ok bool) {
	for _, n := range d.f.Nodes {
		if !d.reached[n.ID] {
			continue
		}
		if latent, is := linkOf(n, "latent_image"); is && d.emptyPicture(latent) {
			if sampler != nil {
				return nil, noise, vae, false
			}
			sampler = n
		}
		if decoder, is := linkOf(n, "vae"); is && strings.HasPrefix(n.Class, "VAEDecode") {
			vae = decoder
		}
	}
	if sampler == nil || vae.Node == "" {
		return nil, noise, vae, false
	}
	noise, ok = d.noise(sampler)
	return sampler, noise, vae, ok
}

// emptyPicture tells the latent of a picture yet to be painted, which is not that of a video or a sound.
func (d *definer) emptyPicture(r graph.Ref) bool {
	n := d.f.ByID[r.Node]
	if n == nil || !strings.HasPrefix(n.Class, "Empty") || !strings.Contains(n.Class, "Latent") {
		return false
	}
	_, wide := n.Inputs.Get("width")
	_, long := n.Inputs.Get("length")
	return wide && !long
}

// noise finds the widget that says how much noise a sampler works out: its own, or that of what gives its steps.
func (d *definer) noise(sampler *graph.FlatNode) (binding.Target, bool) {
	nodes := []*graph.FlatNode{sampler}
	if sigmas, ok := linkOf(sampler, "sigmas"); ok && d.f.ByID[sigmas.Node] != nil {
		nodes = append(nodes, d.f.ByID[sigmas.Node])
	}
	for _, n := range nodes {
		if v, _ := n.Inputs.Get("denoise"); v != nil {
			return binding.Target{Node: n.ID, Input: "denoise"}, true
		}
	}
	return binding.Target{}, false
}

// variationWords are what people read of these inputs in other languages, where the author says nothing.
var variationWords = map[string][2]registry.InputWords{
	"de": {{DisplayName: "Bild zum Abwandeln", Description: "Ein Bild, das dieses Werkzeug gemacht hat: Das nächste ist ihm ähnlich und gleich groß."},
		{DisplayName: "Wie anders", Description: "Wie weit sich das nächste vom Bild zum Abwandeln entfernen darf."}},
	"es": {{DisplayName: "Imagen para variar", Description: "Una imagen que hizo esta herramienta: la siguiente se le parece y tiene su tamaño."},
		{DisplayName: "Cuánto cambia", Description: "Cuánto puede alejarse la siguiente de la imagen para variar."}},
	"ru": {{DisplayName: "Картинка для вариации", Description: "Картинка, которую сделал этот инструмент: следующая похожа на неё и того же размера."},
		{DisplayName: "Насколько иначе", Description: "Насколько следующая может отличаться от картинки для вариации."}},
	"zh": {{DisplayName: "要变化的图片", Description: "此工具生成过的图片：下一张与它相似，尺寸相同。"},
		{DisplayName: "变化程度", Description: "下一张可以与要变化的图片相差多少。"}},
}

// withVariationWords adds them to a tool's texts in other languages.
func withVariationWords(all map[string]registry.Words, schema registry.InputSchema) map[string]registry.Words {
	if f, ok := schema.Get(ownPicture); !ok || f.Role != registry.RoleOwn {
		return all
	}
	if all == nil {
		all = map[string]registry.Words{}
	}
	for language, both := range variationWords {
		words := all[language]
		if words.Inputs == nil {
			words.Inputs = map[string]registry.InputWords{}
		}
		for i, name := range []string{ownPicture, variationInput} {
			if _, said := words.Inputs[name]; !said {
				words.Inputs[name] = both[i]
			}
		}
		all[language] = words
	}
	return all
}
