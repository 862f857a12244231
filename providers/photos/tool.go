package photos

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

// The service and its tools.
const (
	Service        = "photos"
	SearchToolID   = "unsplash.search"
	BrowseToolID   = "browseImages"
	ImportToolID   = "importImage"
	searchLimit    = 3 // photos where nobody says, and the most
	searchMost     = 5
	browseLimit    = 10
	browseMost     = 30
	rulesOfSources = "A photo must be shown with the credit that comes with it, from the address it came with or as an imported copy; copying in bulk and selling photos as they are is not allowed."
)

// tools describes the tools: browseImages and importImage are there without a key as well, as unavailable.
func tools(sources []source) []registry.Tool {
	var list []registry.Tool
	if len(sources) > 0 && sources[0].name() == "unsplash" {
		list = append(list, tool(SearchToolID, "Unsplash search", registry.CapabilityRead,
			"Finds photos at Unsplash. "+rulesOfSources,
			registry.InputSchema{queryInput(), limitInput(searchLimit, searchMost)},
			registry.OutputSchema{{Name: "items", Type: "text", Description: "The photos: a JSON array, perhaps empty."}}))
	}
	list = append(list,
		tool(BrowseToolID, "Browse photos", registry.CapabilityRead,
			"Finds photos outside, at "+labels(sources)+", to be looked at or imported. It never finds pictures that are here already. "+rulesOfSources,
			registry.InputSchema{queryInput(), providerInput(sources, false),
				choice("orientation", "Shape", "The photos' shape.", "landscape", "portrait", "square"),
				choice("color", "Colour", "What colour they mostly have.", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "black", "white", "gray"),
				limitInput(browseLimit, browseMost)},
			registry.OutputSchema{
				{Name: "items", Type: "text", Description: "The photos: a JSON array, perhaps empty."},
				{Name: "notes", Type: "text", Description: "What went wrong with a source while others answered; mostly empty."},
			}),
		tool(ImportToolID, "Import a photo", registry.CapabilityWrite,
			"Stores a photo that was found, with its credit. "+rulesOfSources,
			registry.InputSchema{providerInput(sources, true), photoInput()},
			registry.OutputSchema{
				{Name: "image", Type: "image", Description: "The photo."},
				{Name: "imageId", Type: "text", Description: "The stored picture's id; the same whenever the photo is imported again."},
				{Name: "url", Type: "text", Description: "The stored picture's address here, without a host."},
				{Name: "alt", Type: "text", Description: "What it shows."},
				{Name: "attribution", Type: "text", Description: "A JSON object: the photographer, the source and the credit to show."},
			}))
	if len(sources) == 0 {
		return withoutKey(list)
	}
	return list
}

func tool(id, name string, capability registry.Capability, description string, inputs registry.InputSchema, outputs registry.OutputSchema) registry.Tool {
	category, metadata := "external", map[string]any{"menu": false, "after": "getImage"} // the tools of a site, which may have a fitting picture already
	if id == SearchToolID {
		category, metadata = "image", nil
	}
	return registry.Tool{
		ToolID: id, Service: Service, DisplayName: name, Description: description,
		Listing:     registry.Listing{Category: category, Kind: "photo"},
		InputSchema: inputs, OutputSchema: outputs,
		Execution: registry.Execution{Capability: capability, Idempotent: true, TimeoutMs: 30_000, RetryPolicy: &registry.RetryPolicy{MaxAttempts: 2, BackoffMs: 500}},
		Advice:    registry.Advice{IntentTags: []string{"image", "photo"}},
		Metadata:  metadata,
	}
}

// withoutKey marks the tools that need a source where there is none.
func withoutKey(list []registry.Tool) []registry.Tool {
	for i := range list {
		list[i].Status = registry.SayStatus(registry.StateUnavailable, said.PhotosNone.With())
	}
	return list
}

func labels(sources []source) string {
	if len(sources) == 0 {
		return "Unsplash or Pexels"
	}
	var names []string
	for _, s := range sources {
		names = append(names, s.label())
	}
	return strings.Join(names, " and ")
}

func queryInput() registry.InputField {
	return registry.InputField{Name: "query", Type: registry.TypeString, Required: true, DisplayName: "Query", Description: "What the photos show."}
}

// limitInput has no bounds: a limit beyond them is taken as the nearest one (B38).
func limitInput(usual, most int) registry.InputField {
	return registry.InputField{
		Name: "limit", Type: registry.TypeNumber, Integer: true, Default: number(usual), DisplayName: "How many", Description: "How many photos, at most " + number(most).String() + ".",
	}
}

func providerInput(sources []source, required bool) registry.InputField {
	f := registry.InputField{Name: "provider", Type: registry.TypeString, Required: required, DisplayName: "Source", Description: "Where the photos come from; all where none is named."}
	if required {
		f.Description = "Where the photo comes from."
	}
	for _, s := range sources {
		f.Choices = append(f.Choices, registry.Choice{Value: s.name(), Label: s.label()})
	}
	return f
}

// photoInput takes a number as well as a text: the sources differ in this.
func photoInput() registry.InputField {
	return registry.InputField{
		Name: "photoId", Type: registry.TypeString, Required: true, DisplayName: "Photo", Description: "The photo's id, as it was found.",
		Schema: json.RawMessage(`{"type": ["string", "integer"]}`),
	}
}

// choice is an optional input with a fixed list of values.
func choice(name, label, description string, values ...string) registry.InputField {
	f := registry.InputField{Name: name, Type: registry.TypeString, DisplayName: label, Description: description}
	for _, v := range values {
		f.Choices = append(f.Choices, registry.Choice{Value: v})
	}
	return f
}

// encoded is a value as a text output of JSON.
func encoded(name string, v any) (registry.Output, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return registry.Output{Name: name, Type: "text", Text: strings.TrimSpace(text.String())}, err
}

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }
