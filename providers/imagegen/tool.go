package imagegen

import (
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// The tool and its service.
const (
	Service = "imagegen"
	ToolID  = "image.generate"
)

// The values of inputs that decide more than what is sent on.
const (
	square     = "square"
	landscape  = "landscape"
	portrait   = "portrait"
	draft      = "draft"
	final      = "final"
	maxPrompt  = 32_000 // characters
	maxPicture = 16     // of an edit
	maxAlt     = 500    // characters of the prompt that stand for the picture
)

// tool describes image.generate with the engines that have a key.
func tool(engines []engine) registry.Tool {
	var choices []registry.Choice
	var names []string
	for _, e := range engines {
		choices = append(choices, registry.Choice{Value: e.name(), Label: e.label()})
		names = append(names, e.label())
	}
	return registry.Tool{
		ToolID: ToolID, Service: Service, DisplayName: "Image generator", CommandName: "/imagine",
		Listing: registry.Listing{Category: "image", Kind: "image"},
		Description: "Makes a picture from a description, or changes pictures as the description says. Use it for illustrations, photos and drawings of any kind; " +
			"send one or more pictures along to have them edited or combined. Made by " + strings.Join(names, " or ") + ".",
		InputSchema: registry.InputSchema{
			{Name: "prompt", Type: registry.TypeString, Required: true, Multiline: true, DisplayName: "Description", Description: "What the picture shows, or what to change in the pictures sent along."},
			{Name: "images", Type: registry.TypeImage, Multiple: true, DisplayName: "Pictures", Description: "Pictures to edit or to combine."},
			field("aspectRatio", "Shape", "The picture's shape.", square, square, landscape, portrait),
			field("quality", "Quality", "A draft is quicker and costs less.", final, draft, final),
			{Name: "style", Type: registry.TypeString, Advanced: true, DisplayName: "Style", Description: "Such as watercolour, pixel art or studio photo."},
			advanced(field("background", "Background", "Transparent needs PNG or WebP and is made by OpenAI only.", "auto", "auto", "transparent", "opaque")),
			advanced(field("outputFormat", "File format", "The format of the file.", "png", "png", "webp", "jpeg")),
			meant("blockType", "Kind of block"), meant("blockId", "Block"), meant("pageSlug", "Page"),
			{Name: "engine", Type: registry.TypeString, Advanced: true, DisplayName: "Engine", Description: "Who makes the picture.", Default: engines[0].name(), Choices: choices},
		},
		OutputSchema: registry.OutputSchema{{Name: "image", Type: "image", Description: "The picture."}},
		CostingModel: &registry.CostingModel{Rate: json.Number("0.25"), Unit: registry.UnitRequest, RateSource: registry.RateAPI},
		PlatformHints: &registry.PlatformHints{
			PrimaryInput: "text", SupportsFileCaption: true, SupportsReplyWithCommand: true,
		},
		// It changes nothing but makes something new each time: a second call is a second picture (B54).
		Execution: registry.Execution{Capability: registry.CapabilityRead, TimeoutMs: 90_000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 1}},
		Advice:    registry.Advice{IntentTags: []string{"image", "design"}},
	}
}

// field is an input with a fixed list of values.
func field(name, label, description, fallback string, values ...string) registry.InputField {
	f := registry.InputField{Name: name, Type: registry.TypeString, DisplayName: label, Description: description, Default: fallback}
	for _, v := range values {
		f.Choices = append(f.Choices, registry.Choice{Value: v})
	}
	return f
}

// meant is an input of programs that lay out pages: where the picture will stand. It changes nothing here and is kept with
// the run, so that they find the picture's place again.
func meant(name, label string) registry.InputField {
	return registry.InputField{Name: name, Type: registry.TypeString, Advanced: true, DisplayName: label, Description: "Where on a page the picture is meant to stand, for programs that make pages."}
}

func advanced(f registry.InputField) registry.InputField {
	f.Advanced = true
	return f
}
