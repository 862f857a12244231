package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds how deep a definition may nest.
const maxDepth = 64

type nodeKind string

const (
	kindNull   nodeKind = "null"
	kindBool   nodeKind = "boolean"
	kindNumber nodeKind = "number"
	kindString nodeKind = "string"
	kindArray  nodeKind = "array"
	kindObject nodeKind = "object"
)

// node is a JSON value that still knows the order and the repetition of its keys, both of which
// encoding/json's maps forget.
type node struct {
	kind    nodeKind
	text    string // of a string or number
	truth   bool
	items   []node
	members []member
}

type member struct {
	key   string
	value node
}

// parseNode reads exactly one JSON value.
func parseNode(data []byte) (node, error) { return parseWithin(data, maxDepth) }

// parseWithin is parseNode for values that nest so deep at most.
func parseWithin(data []byte, levels int) (node, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors write a byte order mark
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	n, err := readNode(d, levels)
	if err != nil {
		return node{}, describeSyntax(data, d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return node{}, fmt.Errorf("%s: more text after the end of the JSON value", lineColumn(data, d.InputOffset()))
	}
	return n, nil
}

func readNode(d *json.Decoder, levels int) (node, error) {
	if levels < 0 {
		return node{}, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return node{}, err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			return readArray(d, levels)
		}
		return readObject(d, levels)
	case string:
		return node{kind: kindString, text: v}, nil
	case json.Number:
		return node{kind: kindNumber, text: v.String()}, nil
	case bool:
		return node{kind: kindBool, truth: v}, nil
	default:
		return node{kind: kindNull}, nil
	}
}

func readArray(d *json.Decoder, levels int) (node, error) {
	n := node{kind: kindArray}
	for d.More() {
		item, err := readNode(d, levels-1)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	_, err := d.Token()
	return n, err
}

func readObject(d *json.Decoder, levels int) (node, error) {
	n := node{kind: kindObject}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return node{}, err
		}
		key, ok := token.(string)
		if !ok {
			return node{}, fmt.Errorf("an object's key must be a string, found %v", token)
		}
		value, err := readNode(d, levels-1)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, member{key, value})
	}
	_, err := d.Token()
	return n, err
}

func describeSyntax(data []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the text ends in the middle of a JSON value")
	}
	return fmt.Errorf("%s: %w", lineColumn(data, offset), err)
}

// lineColumn tells people where an offset is, counting both from one.
func lineColumn(data []byte, offset int64) string {
	before := data[:min(max(offset, 0), int64(len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}

// get finds the value of a key.
func (n node) get(key string) (node, bool) {
	for _, m := range n.members {
		if m.key == key {
			return m.value, true
		}
	}
	return node{}, false
}

// value converts to the Go values that definitions hold; numbers stay json.Number.
func (n node) value() any {
	switch n.kind {
	case kindBool:
		return n.truth
	case kindNumber:
		return json.Number(n.text)
	case kindString:
		return n.text
	case kindArray:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.value()
		}
		return list
	case kindObject:
		object := make(map[string]any, len(n.members))
		for _, m := range n.members {
			object[m.key] = m.value.value()
		}
		return object
	}
	return nil
}

// appendTo writes n as compact JSON with its keys in their own order.
func (n node) appendTo(b *bytes.Buffer) {
	switch n.kind {
	case kindArray:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.appendTo(b)
		}
		b.WriteByte(']')
	case kindObject:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, m.key)
			b.WriteByte(':')
			m.value.appendTo(b)
		}
		b.WriteByte('}')
	case kindString:
		writeString(b, n.text)
	case kindNumber:
		b.WriteString(n.text)
	case kindBool:
		fmt.Fprint(b, n.truth)
	default:
		b.WriteString("null")
	}
}

func (n node) compact() string {
	var b bytes.Buffer
	n.appendTo(&b)
	return b.String()
}

func writeString(b *bytes.Buffer, s string) {
	// A string always encodes; bad UTF-8 was replaced when it was read.
	text, _ := marshalPlain(s)
	b.Write(text)
}

// marshalPlain is json.Marshal without the escaping of <, > and &, which nobody reading a definition
// file wants to see.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// joinPath appends a key to a field path.
func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	if strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}
