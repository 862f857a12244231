// Package binding writes the values of a tool's inputs into the prompt of its workflow. What goes where is data that is stored with
// the tool, so that a run is carried out as the tool was when the run was accepted; package comfy/workflow makes it. It knows no network.
package binding

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// Binding says how the values of a tool's inputs are written into its prompt, and which node gives which
// result. It is JSON, so that a run can keep the one it was accepted with.
type Binding struct {
	// Prompt is the pristine prompt. Apply never changes it.
	Prompt  json.RawMessage `json:"prompt"`
	Inputs  []Input         `json:"inputs"`
	Outputs []Output        `json:"outputs"`
}

// Input is one input of the tool and the places its value goes to.
type Input struct {
	Field   registry.InputField `json:"field"`
	Targets []Target            `json:"targets"`
}

// Target is one place in the prompt.
type Target struct {
	Node  string `json:"node"`
	Input string `json:"input"`
	Mode  Mode   `json:"mode,omitempty"`
	// With is an input without which nothing is written here.
	With string `json:"with,omitempty"`
	// VAE is the node, and VAESlot its output, that turns a picture into a latent, for ModeEncode.
	VAE     string `json:"vae,omitempty"`
	VAESlot int    `json:"vaeSlot,omitempty"`
}

// Mode says how a value is written. The empty mode writes it as it is; media are written as the name the
// upload gave them.
type Mode string

// The modes.
const (
	ModeValue Mode = ""
	// ModePath writes "input/" before the name of an uploaded file, for loaders that take a path.
	ModePath Mode = "path"
	// ModeJSON writes a list as JSON text.
	ModeJSON Mode = "json"
	// ModeReplaceLoader makes the node a LoadImage: for loaders that take their bytes inside the prompt.
	ModeReplaceLoader Mode = "loader"
	// ModeLoadImage and ModeLoadImageAlpha add loaders of the uploaded files and link them to the input.
	// ComfyUI-Deploy's image nodes fall back to this socket when they are given no URL, so that no server
	// ever fetches an address that came from a user.
	ModeLoadImage      Mode = "load-image"
	ModeLoadImageAlpha Mode = "load-image-alpha"
	// ModeURL takes an https address in place of an upload's name. The server fetches it, so the caller must
	// give addresses of its own storage only.
	ModeURL Mode = "url"
	// ModeEncode has a sampler begin with the uploaded picture in place of an empty latent, as many times as that had pictures.
	ModeEncode Mode = "encode"
)

// Output is one result of the tool and the node it comes from.
type Output struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Node string `json:"node"`
}

// maxSeed bounds the seeds that are drawn: below it every program shows the number unharmed.
const maxSeed = 1 << 50

// Applied is what Apply made.
type Applied struct {
	Prompt graph.Prompt
	// Seeds holds the seeds that were drawn, by input, for the run to remember.
	Seeds map[string]json.Number
}

// Apply writes values into a copy of the prompt. values holds what the registry's CheckValue let through, by
// input name; an input without a value keeps what the prompt has, unless it is required. media holds the
// names that uploads of media inputs were given, in order. draw gives a random number below its argument;
// nil uses math/rand. A seed that is absent, -1 or "random" is drawn; all its places get the same number.
//
// Texts are written as they stand: {a|b} and // comments, which the editor would choose from and strip, are
// ordinary characters here. A value that does not fit is a *registry.Error with the input's name.
func (b *Binding) Apply(values map[string]any, media map[string][]string, draw func(n int64) int64) (*Applied, error) {
	if draw == nil {
		draw = rand.Int64N
	}
	a := applier{out: &Applied{Seeds: map[string]json.Number{}}}
	if err := a.out.Prompt.UnmarshalJSON(b.Prompt); err != nil {
		return nil, fmt.Errorf("the stored prompt is broken: %w", err)
	}
	a.at = make(map[string]int, len(a.out.Prompt))
	for i := range a.out.Prompt {
		a.at[a.out.Prompt[i].ID] = i
	}
	for _, in := range b.Inputs {
		v, err := a.value(in, values[in.Field.Name], media[in.Field.Name], draw)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		for _, t := range in.Targets {
			if t.With != "" && len(media[t.With]) == 0 {
				continue
			}
			if err := a.write(in.Field, t, v); err != nil {
				return nil, err
			}
		}
	}
	return a.out, nil
}

type applier struct {
	out   *Applied
	at    map[string]int // place of a node in the prompt
	added int
}

// node gives a pointer that holds until a node is added.
func (a *applier) node(id string) *graph.PromptNode {
	i, ok := a.at[id]
	if !ok {
		return nil
	}
	return &a.out.Prompt[i]
}

// value gives what is to be written, nil for nothing.
func (a *applier) value(in Input, v any, files []string, draw func(int64) int64) (any, error) {
	f := in.Field
	if f.Type.IsMedia() {
		return mediaValue(in, files)
	}
	if f.Seed {
		return a.seed(f, v, draw)
	}
	if v == nil {
		if f.Default == nil && f.Required {
			return nil, missing(f)
		}
		return nil, nil
	}
	checked, problem := registry.CheckValue(f, v)
	if problem != nil {
		return nil, problem
	}
	return checked, nil
}

func missing(f registry.InputField) error {
	e := registry.Errorf(registry.CodeInvalidInput, "%s: a value is needed", f.Label())
	e.Field = f.Name
	return e
}

func mediaValue(in Input, files []string) (any, error) {
	f := in.Field
	if len(files) == 0 {
		if f.Required {
			return nil, missing(f)
		}
		return nil, nil
	}
	if len(files) > 1 && !f.Multiple {
		files = files[:1]
	}
	list := make([]any, len(files))
	for i, name := range files {
		if in.takesURL() != strings.HasPrefix(name, "https://") || !in.takesURL() && !safeUpload(name) {
			e := registry.Say(registry.CodeInvalidInput, said.FileImpossible, "input", f.Label())
			e.Field = f.Name
			return nil, e
		}
		list[i] = name
	}
	return list, nil
}

// takesURL says whether the input wants addresses rather than names of uploads.
func (in Input) takesURL() bool {
	return len(in.Targets) > 0 && in.Targets[0].Mode == ModeURL
}

// safeUpload checks a name that an upload returned: relative, inside the input folder, without the marks
// that would make a server look elsewhere.
func safeUpload(name string) bool {
	return name != "" && name != "." && len(name) <= 512 && name[0] != '/' && !strings.Contains(name, "..") &&
		!strings.ContainsAny(name, "\\\x00\n\r:") && !strings.HasSuffix(name, "[output]") && !strings.HasSuffix(name, "[temp]")
}

func (a *applier) seed(f registry.InputField, v any, draw func(int64) int64) (any, error) {
	if v == nil {
		v = f.Default
	}
	if v == nil {
		v = registry.RandomSeed
	}
	checked, problem := registry.CheckValue(f, v)
	if problem != nil {
		return nil, problem
	}
	if checked != registry.RandomSeed {
		return checked, nil
	}
	low, high := seedRange(f)
	drawn := json.Number(fmt.Sprint(low + draw(high-low+1)))
	a.out.Seeds[f.Name] = drawn
	return drawn, nil
}

func seedRange(f registry.InputField) (low, high int64) {
	low, high = 0, maxSeed-1
	if n, err := f.Min.Int64(); err == nil && n > 0 && n < maxSeed {
		low = n
	}
	if n, err := f.Max.Int64(); err == nil && n >= low && n < high {
		high = n
	}
	return low, high
}

// write puts v into one place.
func (a *applier) write(f registry.InputField, t Target, v any) error {
	n := a.node(t.Node)
	if n == nil {
		return fmt.Errorf("input %s: node %s is not in the prompt", f.Name, t.Node)
	}
	files, _ := v.([]any)
	switch t.Mode {
	case ModeJSON:
		v = string(ordered.Append(nil, v))
	case ModePath:
		v = fmt.Sprint("input/", files[0])
	case ModeReplaceLoader:
		n.Class, n.Inputs = "LoadImage", graph.Inputs{{Name: "image", Value: files[0]}}
		return nil
	case ModeLoadImage, ModeLoadImageAlpha:
		link := a.load(t.Mode, files)
		a.node(t.Node).Inputs.Set(t.Input, link)
		return nil
	case ModeEncode:
		link := a.encode(t, files[0])
		a.node(t.Node).Inputs.Set(t.Input, link)
		return nil
	default:
		if f.Type.IsMedia() {
			v = files[0]
		}
	}
	n.Set(t.Input, v)
	return nil
}

// load adds loaders for the files and gives a link to the last node of the chain.
func (a *applier) load(mode Mode, files []any) graph.Ref {
	var last graph.Ref
	for i, file := range files {
		loaded := a.loader(mode, file)
		if i > 0 {
			loaded = a.add("ImageBatch", graph.Inputs{{Name: "image1", Value: last}, {Name: "image2", Value: loaded}})
		}
		last = loaded
	}
	return last
}

func (a *applier) loader(mode Mode, file any) graph.Ref {
	image := a.add("LoadImage", graph.Inputs{{Name: "image", Value: file}})
	if mode == ModeLoadImageAlpha {
		return a.add("JoinImageWithAlpha", graph.Inputs{{Name: "image", Value: image}, {Name: "alpha", Value: graph.Ref{Node: image.Node, Slot: 1}}})
	}
	return image
}

// encode adds what makes a latent of a file, for each picture of the empty one whose place it takes.
func (a *applier) encode(t Target, file any) graph.Ref {
	latent := a.add("VAEEncode", graph.Inputs{{Name: "pixels", Value: a.loader(ModeLoadImage, file)}, {Name: "vae", Value: graph.Ref{Node: t.VAE, Slot: t.VAESlot}}})
	was, _ := a.node(t.Node).Inputs.Get(t.Input)
	empty, ok := was.(graph.Ref)
	if !ok || a.node(empty.Node) == nil {
		return latent
	}
	amount, ok := a.node(empty.Node).Inputs.Get("batch_size")
	if !ok || amount == any(json.Number("1")) {
		return latent
	}
	return a.add("RepeatLatentBatch", graph.Inputs{{Name: "samples", Value: latent}, {Name: "amount", Value: amount}})
}

func (a *applier) add(class string, in graph.Inputs) graph.Ref {
	for {
		a.added++
		id := fmt.Sprintf("upload-%d", a.added)
		if a.node(id) == nil {
			a.at[id] = len(a.out.Prompt)
			a.out.Prompt = append(a.out.Prompt, graph.PromptNode{ID: id, Class: class, Inputs: in})
			return graph.Ref{Node: id}
		}
	}
}
