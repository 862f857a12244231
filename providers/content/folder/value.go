package folder

import (
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"golang.org/x/text/language"
)

// value is what a field of a head says.
type value struct {
	name string
	line int
	node ast.Node
}

// scalar gives a text, number or date as it is written.
func scalar(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return strings.TrimSpace(n.Value), true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	case *ast.NullNode:
		return "", true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func (v value) text(to *string) error {
	text, ok := scalar(v.node)
	if !ok {
		return faultAt(v.line, "%s: expected a text", v.name)
	}
	*to = text
	return nil
}

// texts reads a list, or a text with commas.
func (v value) texts(to *[]string) error {
	var all []string
	if text, ok := scalar(v.node); ok {
		all = strings.Split(text, ",")
	} else if list, ok := v.node.(*ast.SequenceNode); ok {
		for _, node := range list.Values {
			text, ok := scalar(node)
			if !ok {
				return faultAt(node.GetToken().Position.Line, "%s: expected a list of texts", v.name)
			}
			all = append(all, text)
		}
	} else {
		return faultAt(v.line, "%s: expected a list of texts", v.name)
	}
	for _, text := range all {
		if text = strings.TrimSpace(text); text != "" {
			*to = append(*to, text)
		}
	}
	return nil
}

func (v value) flag(to *bool) error {
	if err := yaml.NodeToValue(v.node, to); err != nil {
		return faultAt(v.line, "%s: expected true or false", v.name)
	}
	return nil
}

// forms are how heads write dates; without a zone they are meant in UTC.
var forms = []string{time.RFC3339, time.DateOnly, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05Z07:00"}

func moment(text string) (time.Time, error) {
	var at time.Time
	var err error
	for _, form := range forms {
		if at, err = time.Parse(form, text); err == nil {
			break
		}
	}
	return at, err
}

func (v value) date(to **time.Time) error {
	text, ok := scalar(v.node)
	if text == "" && ok {
		return nil
	}
	at, err := moment(text)
	if err != nil {
		return faultAt(v.line, "%s: %q is no date: expected one such as 2026-12-24 or 2026-12-24T18:00:00Z", v.name, text)
	}
	*to = &at
	return nil
}

// picture reads a file's name, or an object with one and the words for it.
func (v value) picture(to *picture) error {
	to.line = v.line
	if text, ok := scalar(v.node); ok {
		to.address = text
		return nil
	}
	members := map[string]string{}
	if err := yaml.NodeToValue(v.node, &members); err != nil {
		return faultAt(v.line, "%s: expected the name of a picture, or {image, alt}", v.name)
	}
	for name, text := range members {
		switch name {
		case "image", "url", "src", "path":
			to.address = text
		case "alt":
			to.alt = text
		}
	}
	return nil
}

// language reads a language, such as de or pt-BR.
func (v value) language(to *string) error {
	var text string
	if err := v.text(&text); err != nil {
		return err
	}
	tag, err := language.Parse(text)
	if err != nil || tag == language.Und {
		return faultAt(v.line, "%s: %q is no language: expected one such as de or pt-BR", v.name, text)
	}
	*to = strings.ToLower(tag.String())
	return nil
}

func faultAt(line int, format string, args ...any) error {
	return &fault{line, fmt.Sprintf(format, args...)}
}
