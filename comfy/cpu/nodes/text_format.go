package nodes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/node"
	"github.com/signalbox/signalbox/comfy/cpu/pyval"
)

// letters are the names of the members of some autogrow inputs.
func letters() []string { return strings.Split("abcdefghijklmnopqrstuvwxyz", "") }

func formatNode() node.Node {
	spec := stringSpec("StringFormat", "Format Text", textOut, []string{"string", "format"},
		node.AutogrowNamed("values", node.Socket("value", "*"), letters(), 0), node.Text("f_string").Default("{a}"))
	spec.Description = "Fills values into a text, by the rules of Python's str.format."
	return textFunc(spec, func(c *node.Call) (any, error) {
		values := map[string]any{}
		for _, name := range c.GroupNames("values") {
			values[name] = c.Value("values." + name)
		}
		f := formatter{values: values}
		return f.format(c.Text("f_string"), 2)
	})
}

// formatter is str.format(**values).
type formatter struct{ values map[string]any }

// format replaces the fields; depth bounds fields inside of format specs.
func (f *formatter) format(text string, depth int) (string, error) {
	if depth < 0 {
		return "", node.ValueError("Max string recursion exceeded")
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		double := i+1 < len(text) && text[i+1] == c
		switch {
		case c != '{' && c != '}':
			b.WriteByte(c)
		case double:
			b.WriteByte(c)
			i++
		case c == '}':
			return "", node.ValueError("Single '}' encountered in format string")
		default:
			end := closing(text, i)
			if end < 0 {
				return "", node.ValueError("%s", unclosed(text[i+1:]))
			}
			field, err := f.field(text[i+1:end], depth)
			if err != nil {
				return "", err
			}
			b.WriteString(field)
			if err := tooLong(b.Len()); err != nil {
				return "", err
			}
			i = end
		}
	}
	return b.String(), nil
}

func unclosed(rest string) string {
	if rest == "" {
		return "Single '{' encountered in format string"
	}
	return "expected '}' before end of string"
}

// closing finds the brace that closes the one at i.
func closing(text string, i int) int {
	open := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

// field is "name!conversion:spec" with the value in it.
func (f *formatter) field(text string, depth int) (string, error) {
	name, spec, _ := strings.Cut(text, ":")
	name, conversion, converted := strings.Cut(name, "!")
	value, err := f.lookup(name)
	if err != nil {
		return "", err
	}
	if converted {
		switch conversion {
		case "r":
			value = pyval.Repr(value)
		case "a":
			value = ascii(pyval.Repr(value))
		case "s":
			value = pyval.Str(value)
		default:
			return "", node.ValueError("Unknown conversion specifier '%s'", conversion)
		}
	}
	if spec, err = f.format(spec, depth-1); err != nil {
		return "", err
	}
	return formatValue(value, spec)
}

// ascii escapes what is not ASCII, as Python's function of that name.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// lookup follows "a", "a[0]", "a[key]".
func (f *formatter) lookup(path string) (any, error) {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	name := path[:end]
	if name == "" {
		return nil, node.Raise("IndexError", "Replacement index 0 out of range for positional args tuple")
	}
	if n, err := strconv.Atoi(name); err == nil {
		return nil, node.Raise("IndexError", "Replacement index %d out of range for positional args tuple", n)
	}
	v, ok := f.values[name]
	if !ok {
		return nil, node.Raise("KeyError", "%s", pyval.Repr(name))
	}
	for rest := path[end:]; rest != ""; {
		close := strings.IndexByte(rest, ']')
		if rest[0] != '[' || close < 0 {
			return nil, node.Raise("AttributeError", "'%s' object has no attribute '%s'", pyval.TypeName(v), strings.TrimPrefix(rest, "."))
		}
		var err error
		if v, err = item(v, rest[1:close]); err != nil {
			return nil, err
		}
		rest = rest[close+1:]
	}
	return v, nil
}

// item is v[key] as format fields mean it: a number is an index, all else a text.
func item(v any, key string) (any, error) {
	n, err := strconv.Atoi(key)
	isIndex := err == nil
	switch v := v.(type) {
	case []any:
		if isIndex && n < len(v) {
			return v[n], nil
		}
	case string:
		if runes := []rune(v); isIndex && n < len(runes) {
			return string(runes[n]), nil
		}
	case *pyval.Dict:
		if value, ok := v.Get(key); ok {
			return value, nil
		}
		return nil, node.Raise("KeyError", "%s", pyval.Repr(key))
	default:
		return nil, node.Raise("TypeError", "'%s' object is not subscriptable", pyval.TypeName(v))
	}
	if !isIndex {
		return nil, node.Raise("TypeError", "indices must be integers, not 'str'")
	}
	return nil, node.Raise("IndexError", "index out of range")
}

// formatValue is format(value, spec).
func formatValue(v any, spec string) (string, error) {
	if spec == "" {
		return shownInText(v), nil
	}
	if !plainJSON(v) || v == nil {
		return "", node.Raise("TypeError", "unsupported format string passed to %s.__format__", pyval.TypeName(v))
	}
	text, err := pyval.Format(v, spec)
	if err != nil {
		return "", err
	}
	return text, nil
}

// shownInText is str(v), also of pictures and sounds.
func shownInText(v any) string {
	if plainJSON(v) {
		return pyval.Str(v)
	}
	return printed(v)
}
