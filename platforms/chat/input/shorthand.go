package input

import (
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Options as people know them from other bots. They count where a tool has no input of that name.
const (
	aspectOption   = "ar" // a ratio or a size: --ar 16:9
	longAspect     = "aspect"
	negativeOption = "no"   // what is not to be seen, up to the next option: --no hands, text
	seedOption     = "seed" // whatever the tool calls its seed
)

// shorthand gives the input that such an option is for.
func shorthand(schema registry.InputSchema, name string) (registry.InputField, bool) {
	for _, f := range schema {
		switch strings.ToLower(name) {
		case negativeOption:
			if f.Type == registry.TypeString && len(f.Choices) == 0 && strings.Contains(OptionName(f.Name), "negative") {
				return f, true
			}
		case seedOption:
			if f.Seed {
				return f, true
			}
		}
	}
	return registry.InputField{}, false
}

// isOption reports whether an option of that name means something to a tool, by its inputs' names or as in other bots.
func isOption(schema registry.InputSchema, name string) bool {
	_, named := FieldNamed(schema, name)
	_, short := shorthand(schema, name)
	return named || short || isAspect(schema, name)
}

// isAspect reports whether an option asks for a format in a tool that takes one.
func isAspect(schema registry.InputSchema, name string) bool {
	if name = strings.ToLower(name); name != aspectOption && name != longAspect {
		return false
	}
	_, wide := numberNamed(schema, "width")
	_, high := numberNamed(schema, "height")
	_, chosen := shapeInput(schema)
	return wide && high || chosen
}
