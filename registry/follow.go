package registry

import (
	"slices"
	"strings"
)

// Follow says what a tool does with a result of another: what people are offered under a result.
type Follow string

// What tools do with results. A tool of FollowNone is offered with all others only.
const (
	FollowVary    Follow = "vary"    // makes another like it, more or less near to it
	FollowUpscale Follow = "upscale" // makes it larger
	FollowAnimate Follow = "animate" // makes it move
	FollowEdit    Follow = "edit"    // changes what one says
	FollowNone    Follow = "none"
)

// Follows lists what can be done with a result, in the order in which it is offered.
func Follows() []Follow { return []Follow{FollowVary, FollowUpscale, FollowAnimate, FollowEdit} }

// InputRole says what an input means, where a name does not tell.
type InputRole string

// What inputs mean.
const (
	// RoleStrength is a number that says how far a result may depart from the picture that was given: more is farther.
	RoleStrength InputRole = "strength"
	// RoleOwn is a picture that the tool itself has made: the next one begins with it. Results of other tools don't go there by
	// themselves.
	RoleOwn InputRole = "own"
	// RoleVariation is a seed of small changes: drawn anew while the other seeds stay, it gives another like the same picture.
	RoleVariation InputRole = "variation"
	// RolePicture is a whole number that picks one picture of a set, counted from 1, as the only one to be made.
	RolePicture InputRole = "picture"
)

// InputRoles lists what inputs can mean, with the type that each needs.
func InputRoles() map[InputRole]InputType {
	return map[InputRole]InputType{RoleStrength: TypeNumber, RoleOwn: TypeImage, RoleVariation: TypeNumber, RolePicture: TypeNumber}
}

// WithRole finds the first input that means something.
func (s InputSchema) WithRole(role InputRole) (InputField, bool) {
	i := slices.IndexFunc(s, func(f InputField) bool { return f.Role == role })
	if i < 0 {
		return InputField{}, false
	}
	return s[i], true
}

// strengthNames are names under which tools have such a number.
var strengthNames = []string{"denoise", "denoising_strength", "denoise_strength", "strength", "prompt_strength", "variation_strength"}

// Strength finds the input that says how far a result may depart from the picture.
func (s InputSchema) Strength() (InputField, bool) {
	if f, ok := s.WithRole(RoleStrength); ok {
		return f, true
	}
	for _, f := range s {
		if f.Type == TypeNumber && !f.Integer && slices.Contains(strengthNames, strings.ToLower(strings.ReplaceAll(f.Name, "-", "_"))) {
			return f, true
		}
	}
	return InputField{}, false
}

// ResultInput finds the input that takes a result of a type: one that is needed before others.
func (t *Tool) ResultInput(output string) (InputField, bool) {
	var found InputField
	for _, f := range t.InputSchema.Ordered() {
		if !f.Type.IsMedia() || string(f.Type) != output {
			continue
		}
		if f.Required {
			return f, true
		}
		if found.Name == "" {
			found = f
		}
	}
	return found, found.Name != ""
}

// FollowsWith says what the tool does with a result of a type (image, video, audio, file), and by which input: as the
// tool itself says, else by its category and by what it takes and gives. It is FollowNone where it takes no such result,
// needs another file beside it, or does something else.
func (t *Tool) FollowsWith(output string) (Follow, InputField) {
	f, ok := t.ResultInput(output)
	switch {
	case !ok || t.Follows == FollowNone:
		return FollowNone, f
	case t.Follows != "":
		return t.Follows, f
	case slices.ContainsFunc(t.InputSchema, func(o InputField) bool {
		return o.Type.IsMedia() && o.Required && o.Default == nil && o.Name != f.Name
	}):
		return FollowNone, f
	}
	return t.guessFollow(output), f
}

func (t *Tool) guessFollow(output string) Follow {
	category := strings.ToLower(t.Category)
	gives := func(kind string) bool {
		return slices.ContainsFunc(t.OutputSchema, func(o OutputField) bool { return o.Type == kind })
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(category, word) })
	}
	words := slices.ContainsFunc(t.InputSchema, func(f InputField) bool {
		return f.Type == TypeString && len(f.Choices) == 0 && !f.Advanced
	})
	_, strength := t.InputSchema.Strength()
	switch {
	case says("upscal", "super-resolution"):
		return FollowUpscale
	case output == string(TypeImage) && (gives("video") || says("image-to-video")):
		return FollowAnimate
	case !gives(output):
		return FollowNone
	case says("edit"):
		return FollowEdit
	case strength && words:
		return FollowVary
	case words:
		return FollowEdit
	}
	return FollowNone
}
