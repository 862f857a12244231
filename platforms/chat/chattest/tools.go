package chattest

import (
	"encoding/json"

	"github.com/signalbox/signalbox/registry"
)

// Tools are the tools the suite works with: one for each way of feeding and answering.
func Tools() []registry.Tool {
	return []registry.Tool{
		PainterTool(),
		fileTool("enlarge", "Enlarge", true, true, media("image", registry.TypeImage, true)),
		fileTool("nocaption", "No Caption", false, true, media("image", registry.TypeImage, true)),
		fileTool("noreply", "No Reply", true, false, media("image", registry.TypeImage, true)),
		fileTool("collage", "Collage", true, true, many(media("images", registry.TypeImage, true))),
		fileTool("retouch", "Retouch", true, true, media("image", registry.TypeImage, true),
			registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}),
		fileTool("blend", "Blend", true, true, media("first", registry.TypeImage, true), media("second", registry.TypeImage, true)),
		tool("poem", "Poem", registry.InputField{Name: "topic", Type: registry.TypeString, Required: true}),
		tool("series", "Series", registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true}),
		frame(), tapestry(),
		deprecated(), unavailable(), confirmed(),
	}
}

// PainterTool takes a text and has an input of every other kind that can be typed.
func PainterTool() registry.Tool {
	t := tool("painter", "Painter",
		registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true, Description: "What to paint"},
		registry.InputField{
			Name: "steps", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "50", Default: json.Number("20"),
			Description: "More is finer",
		},
		registry.InputField{Name: "style", Type: registry.TypeString, Default: "oil", Choices: []registry.Choice{
			{Value: "oil", Label: "Oil paint"}, {Value: "ink", Label: "Ink"}, {Value: "chalk"},
		}},
		registry.InputField{Name: "tiled", Type: registry.TypeBoolean, Default: false, DisplayName: "Tiled"},
		registry.InputField{Name: "negative", Type: registry.TypeString, Advanced: true},
		registry.InputField{Name: "seed", Type: registry.TypeNumber, Integer: true, Seed: true, Advanced: true, Max: "18446744073709551615"},
	)
	t.Description = "Paints a picture of what you describe. Write one sentence."
	t.Category = "Pictures"
	t.CostingModel = &registry.CostingModel{Rate: "0.0042", Unit: registry.UnitRequest, RateSource: registry.RateStatic}
	t.OutputSchema = registry.OutputSchema{{Name: "picture", Type: "image"}}
	return t
}

func tool(id, name string, inputs ...registry.InputField) registry.Tool {
	return registry.Tool{
		ToolID: id, Service: "test", DisplayName: name, CommandName: "/" + id,
		Description: name + " does what its name says.", InputSchema: append(registry.InputSchema{}, inputs...),
	}
}

func fileTool(id, name string, caption, reply bool, inputs ...registry.InputField) registry.Tool {
	t := tool(id, name, inputs...)
	t.PlatformHints = &registry.PlatformHints{PrimaryInput: "image", SupportsFileCaption: caption, SupportsReplyWithCommand: reply}
	t.OutputSchema = registry.OutputSchema{{Name: "picture", Type: "image"}}
	return t
}

func media(name string, kind registry.InputType, required bool) registry.InputField {
	return registry.InputField{Name: name, Type: kind, Required: required}
}

func many(f registry.InputField) registry.InputField {
	f.Multiple = true
	return f
}

// frame needs a choice and a switch, and takes several choices and a picture as settings.
func frame() registry.Tool {
	wood := []registry.Choice{{Value: "oak", Label: "Oak"}, {Value: "pine", Label: "Pine"}}
	return tool("frame", "Frame",
		registry.InputField{Name: "wood", Type: registry.TypeString, Required: true, Choices: wood},
		registry.InputField{Name: "glass", Type: registry.TypeBoolean, Required: true},
		registry.InputField{Name: "extras", Type: registry.TypeString, Multiple: true, Choices: []registry.Choice{
			{Value: "hook", Label: "Hook"}, {Value: "label", Label: "Label"},
		}},
		registry.InputField{Name: "back", Type: registry.TypeImage, DisplayName: "Reverse"},
	)
}

// tapestry is made of numbers alone.
func tapestry() registry.Tool {
	return tool("tapestry", "Tapestry",
		registry.InputField{Name: "width", Type: registry.TypeNumber, Integer: true, Min: "1", Max: "4096", Default: json.Number("640")},
		registry.InputField{Name: "colors", Type: registry.TypeNumber, Integer: true, Min: "2", Max: "9", Default: json.Number("4")},
	)
}

func deprecated() registry.Tool {
	t := tool("etching", "Etching", registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true})
	t.Status = &registry.Status{State: registry.StateDeprecated, Reason: "Painter is better.", Replacement: "painter"}
	return t
}

func unavailable() registry.Tool {
	t := tool("fresco", "Fresco", registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true})
	t.Status = &registry.Status{State: registry.StateUnavailable, Reason: "The model wall.safetensors is missing.", Replacement: "painter"}
	return t
}

func confirmed() registry.Tool {
	t := tool("mural", "Mural", registry.InputField{Name: "prompt", Type: registry.TypeString, Required: true})
	t.Confirmation = "required"
	return t
}
