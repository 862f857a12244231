package node

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/tensor"
)

// Call is one run of a node: its inputs, the folders and the way to report progress. The engine has checked that all
// required inputs are there and that each value has its declared type, so the accessors return no errors; asking for
// an input with the wrong accessor is a mistake in the node and panics. An absent optional input gives the zero value.
//
// Members of dynamic combos and autogrow groups are named with their parent: "resize_type.width", "images.image0".
// In a node with InputList every input is a list; the single-value accessors give its first element.
type Call struct {
	NodeID   string
	PromptID string
	Spec     *Spec
	Files    *Files
	// Meta is what goes into saved files: the prompt, and the members of extra_pnginfo, as JSON texts.
	Meta []MetaText
	// MaxPixels bounds B*H*W of any image or mask a node may make. 0: no bound.
	MaxPixels int
	// OnProgress, OnPreview and OnNote take reports; nil ignores them.
	OnProgress func(value, limit int)
	OnPreview  func(value, limit int, format PreviewFormat, picture []byte)
	OnNote     func(text string)

	values map[string]any
}

// MetaText is one text chunk of a saved file.
type MetaText struct{ Key, Text string }

// PreviewFormat is the picture type of a preview frame, as numbered in the protocol.
type PreviewFormat uint32

// The picture types of preview frames.
const (
	PreviewJPEG PreviewFormat = 1
	PreviewPNG  PreviewFormat = 2
)

// NewCall makes a call with the given input values. For a spec with InputList each value is a []any.
func NewCall(spec *Spec, files *Files, values map[string]any) *Call {
	return &Call{Spec: spec, Files: files, values: values}
}

// Has reports whether the input is there.
func (c *Call) Has(name string) bool {
	_, ok := c.values[name]
	return ok
}

// Value gives the input as it came, or nil. In a node with InputList: the first element.
func (c *Call) Value(name string) any {
	v := c.values[name]
	if c.Spec == nil || !c.Spec.InputList {
		return v
	}
	if list, ok := v.([]any); ok {
		if len(list) == 0 {
			return nil
		}
		return list[0]
	}
	return v
}

// List gives all elements of an input of a node with InputList.
func (c *Call) List(name string) []any {
	v, ok := c.values[name]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return []any{v}
	}
	return list
}

// Image gives an IMAGE; nil when absent.
func (c *Call) Image(name string) *tensor.Image { return as[*tensor.Image](c, name) }

// Mask gives a MASK; nil when absent.
func (c *Call) Mask(name string) *tensor.Mask { return as[*tensor.Mask](c, name) }

// Audio gives an AUDIO; nil when absent.
func (c *Call) Audio(name string) *Audio { return as[*Audio](c, name) }

// Text gives a STRING or COMBO.
func (c *Call) Text(name string) string { return as[string](c, name) }

// Bool gives a BOOLEAN.
func (c *Call) Bool(name string) bool { return as[bool](c, name) }

// Int gives an INT, saturated to the range of int.
func (c *Call) Int(name string) int { return int(c.Int64(name)) }

// Int64 gives an INT, saturated.
func (c *Call) Int64(name string) int64 {
	switch v := c.Value(name).(type) {
	case nil:
		return 0
	case int64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case *big.Int:
		if v.Sign() < 0 {
			return math.MinInt64
		}
		return math.MaxInt64
	default:
		panic(c.mismatch(name, "an INT", v))
	}
}

// Uint64 gives an INT in the range of seeds; negative ones wrap around.
func (c *Call) Uint64(name string) uint64 {
	if v, ok := c.Value(name).(*big.Int); ok {
		return v.Uint64()
	}
	return uint64(c.Int64(name))
}

// Float gives a FLOAT or INT.
func (c *Call) Float(name string) float64 {
	switch v := c.Value(name).(type) {
	case nil:
		return 0
	case float64:
		return v
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f
	default:
		return float64(c.Int64(name))
	}
}

// Images gives all elements of an IMAGE input of a node with InputList.
func (c *Call) Images(name string) []*tensor.Image { return all[*tensor.Image](c, name) }

// Texts gives all elements of a STRING input of a node with InputList.
func (c *Call) Texts(name string) []string { return all[string](c, name) }

// Group gives the values of an autogrow input, in the declared order of its members; absent members are left out.
func (c *Call) Group(name string) []any {
	names := c.GroupNames(name)
	out := make([]any, len(names))
	for i, member := range names {
		out[i] = c.Value(name + "." + member)
	}
	return out
}

// GroupNames gives the names of the members that an autogrow input has, without the input's own name.
func (c *Call) GroupNames(name string) []string {
	var names []string
	if in, _, ok := c.Spec.Find(name); ok && in.Template != nil {
		for _, member := range in.Template.Members() {
			if c.Has(name + "." + member) {
				names = append(names, member)
			}
		}
		return names
	}
	// A group inside of a dynamic combo is not declared at the top: its members come in the order of their names.
	for key := range c.values {
		if member, ok := strings.CutPrefix(key, name+"."); ok {
			names = append(names, member)
		}
	}
	sort.Slice(names, func(i, j int) bool {
		return len(names[i]) < len(names[j]) || (len(names[i]) == len(names[j]) && names[i] < names[j])
	})
	return names
}

// Progress reports that value of limit steps are done.
func (c *Call) Progress(value, limit int) {
	if c.OnProgress != nil {
		c.OnProgress(value, limit)
	}
}

// Preview reports that value of limit steps are done, with an encoded picture for the client that watches the run.
func (c *Call) Preview(value, limit int, format PreviewFormat, picture []byte) {
	if c.OnPreview != nil {
		c.OnPreview(value, limit, format, picture)
	}
}

// Note sends a short text about the run to the clients, shown at the node.
func (c *Call) Note(text string) {
	if c.OnNote != nil {
		c.OnNote(text)
	}
}

// CheckSize refuses a picture batch of more pixels than the engine allows, before memory is taken for it.
func (c *Call) CheckSize(batch, height, width int) error {
	if batch < 0 || height < 0 || width < 0 {
		return ValueError("a picture batch of %d x %d x %d pixels cannot be made: sizes must not be negative", batch, width, height)
	}
	if c.MaxPixels <= 0 || batch == 0 || height == 0 || width == 0 {
		return nil
	}
	if batch > c.MaxPixels || height > c.MaxPixels/batch || width > c.MaxPixels/batch/height {
		return Raise("MemoryError", "a picture batch of %d x %d x %d pixels is larger than this engine allows (%d pixels): make it smaller", batch, width, height, c.MaxPixels)
	}
	return nil
}

func (c *Call) mismatch(name, want string, got any) string {
	class := ""
	if c.Spec != nil {
		class = c.Spec.Class
	}
	return fmt.Sprintf("node %s: input %q is %T, read as %s", class, name, got, want)
}

func as[T any](c *Call, name string) T {
	v := c.Value(name)
	if v == nil {
		var zero T
		return zero
	}
	t, ok := v.(T)
	if !ok {
		panic(c.mismatch(name, fmt.Sprintf("%T", t), v))
	}
	return t
}

func all[T any](c *Call, name string) []T {
	list := c.List(name)
	out := make([]T, len(list))
	for i, v := range list {
		t, ok := v.(T)
		if !ok {
			panic(c.mismatch(name, fmt.Sprintf("a list of %T", t), v))
		}
		out[i] = t
	}
	return out
}
