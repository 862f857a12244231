package input

import (
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
)

// isPicture tells an input that takes one picture.
func isPicture(f registry.InputField) bool { return f.Type == registry.TypeImage && !f.Multiple }

// Swappable are the inputs of one picture each that have one, in order.
func Swappable(schema registry.InputSchema, inputs map[string]any) []registry.InputField {
	var found []registry.InputField
	for _, f := range schema.Ordered() {
		if ref, _ := inputs[f.Name].(string); isPicture(f) && ref != "" {
			found = append(found, f)
		}
	}
	return found
}

// Swap gives each picture of an earlier run to the next input that had one.
func Swap(d *Draft, schema registry.InputSchema, inputs map[string]any) {
	fields := Swappable(schema, inputs)
	for i, f := range fields {
		d.Replace(runs.FromArgument, f.Name, inputs[fields[(i+1)%len(fields)].Name])
	}
}

// openPictures are the inputs for one picture that have none yet, in order; several tells that another input takes any number.
func openPictures(schema registry.InputSchema, has func(string) bool, skipped []string) (open []registry.InputField, several bool) {
	passed := map[string]bool{}
	for _, name := range skipped {
		passed[name] = true
	}
	for _, f := range schema.Ordered() {
		if f.Type != registry.TypeImage || has(f.Name) || passed[f.Name] {
			continue
		}
		if several = several || f.Multiple; !f.Multiple {
			open = append(open, f)
		}
	}
	return open, several
}

// Unclear gives the input to ask about where order does not tell which of n pictures belongs to which input: there are more
// inputs than pictures, and not just those that are needed. With as many inputs as pictures, order tells.
func Unclear(schema registry.InputSchema, n int, has func(string) bool, skipped []string) (registry.InputField, bool) {
	open, several := openPictures(schema, has, skipped)
	needed := 0
	for _, f := range open {
		if f.Required {
			needed++
		}
	}
	if several || n == 0 || len(open) <= n || needed == n {
		return registry.InputField{}, false
	}
	return open[0], true
}

// InOrder gives pictures to the inputs that have none yet, in order; rest is how many are left.
func (d *Draft) InOrder(schema registry.InputSchema) (rest int) {
	open, _ := openPictures(schema, d.Has, d.Skipped)
	sortNeeded(open, len(d.Pictures))
	for i, f := range open {
		if i < len(d.Pictures) {
			d.Set(d.PicturesFrom, f.Name, d.Pictures[i].Ref)
		}
	}
	rest = max(0, len(d.Pictures)-len(open))
	d.Pictures, d.Skipped = nil, nil
	return rest
}

// sortNeeded puts the inputs that are needed first where there is a picture for each of them and for no other.
func sortNeeded(open []registry.InputField, n int) {
	if len(open) <= n {
		return
	}
	at := 0
	for i, f := range open {
		if f.Required {
			copy(open[at+1:i+1], open[at:i])
			open[at] = f
			at++
		}
	}
}

// Choose gives picture number n to an input, or none with 0.
func (d *Draft) Choose(name string, n int) bool {
	if n == 0 {
		d.Skipped = append(d.Skipped, name)
		return true
	}
	for i, p := range d.Pictures {
		if p.Number == n {
			d.Set(d.PicturesFrom, name, p.Ref)
			d.Pictures = append(d.Pictures[:i:i], d.Pictures[i+1:]...)
			return true
		}
	}
	return false
}

// Numbered sorts files by the inputs that were given their numbers, as in "style=2"; rest are the others.
func Numbered(d *Draft, schema registry.InputSchema, files []chat.Attachment) (named map[string][]chat.Attachment, rest []chat.Attachment) {
	named = map[string][]chat.Attachment{}
	taken := map[int]bool{}
	for _, f := range schema {
		n := number(d.Values[runs.FromArgument][f.Name])
		if !f.Type.IsMedia() || n < 1 || n > len(files) || !accepts(f, files[n-1]) {
			continue
		}
		named[f.Name], taken[n-1] = files[n-1:n], true
		d.Drop(f.Name)
	}
	for i, a := range files {
		if !taken[i] {
			rest = append(rest, a)
		}
	}
	return named, rest
}

// number reads a small whole number that was typed.
func number(value any) int {
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		return 0
	}
	return n
}
