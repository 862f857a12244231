// Package markdown finds the addresses in a text of Markdown and puts others in their place; every other byte stays as it is.
package markdown

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Address is where a link leads or a picture comes from.
type Address struct {
	To    string // as it is written
	Image bool
	Alt   string // the text of the link, or the words for the picture
	At    int    // the byte where it begins
}

// Line is the line of a text, from 1, where a byte stands.
func Line(source string, at int) int { return 1 + strings.Count(source[:at], "\n") }

var parse = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), Bounds).Parser()

// Addresses lists the addresses of a text in their order. What stands in code is none, and neither is an address that is its own text.
func Addresses(source string) []Address {
	f := finder{source: source, named: map[string]named{}}
	f.walk(parse.Parse(text.NewReader([]byte(source))))
	found := append(f.found, f.definitions()...)
	slices.SortFunc(found, func(a, b Address) int { return cmp.Compare(a.At, b.At) })
	return found
}

// Replace puts what change gives in the place of each address.
func Replace(source string, change func(Address) string) string {
	var b strings.Builder
	done := 0
	for _, a := range Addresses(source) {
		to := change(a)
		if to == a.To {
			continue
		}
		if strings.ContainsAny(to, " ()<>") {
			to = "<" + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(to) + ">"
		}
		start, end := a.At, a.At+len(a.To)
		if start > 0 && source[start-1] == '<' {
			start, end = start-1, end+1
		}
		b.WriteString(source[done:start] + to)
		done = end
	}
	return b.String() + source[done:]
}

type finder struct {
	source string
	found  []Address
	named  map[string]named // what is defined elsewhere, by its address
}

type named struct {
	image bool
	alt   string
}

// walk finds the addresses below a node and gives the end of its text, or -1.
func (f *finder) walk(n ast.Node) (end int) {
	end = -1
	if t, is := n.(*ast.Text); is {
		return t.Segment.Stop
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		end = max(end, f.walk(child))
	}
	switch n := n.(type) {
	case *ast.Link:
		return f.address(n.Pos(), end, Address{To: string(n.Destination)}, n.Reference != nil)
	case *ast.Image:
		return f.address(n.Pos(), end, Address{To: string(n.Destination), Image: true}, n.Reference != nil)
	}
	return end
}

// address notes an address whose label begins at start and whose last text ends at end, and gives its own end.
func (f *finder) address(start, end int, a Address, reference bool) int {
	open := strings.IndexByte(f.source[start:], '[') + start + 1
	end = max(end, open)
	if reference {
		f.named[a.To] = named{a.Image, f.source[open:end]}
		return end
	}
	closing := strings.Index(f.source[end:], "](")
	if closing < 0 {
		return end
	}
	begin := end + closing + len("](")
	at := strings.Index(f.source[begin:], a.To)
	if a.To == "" || at < 0 || strings.Trim(f.source[begin:begin+at], " \t\r\n<>") != "" {
		return end
	}
	a.Alt, a.At = f.source[open:end+closing], begin+at
	f.found = append(f.found, a)
	return a.At + len(a.To)
}

// definitionForm is a line that says where the links and pictures of a name come from.
var definitionForm = regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n]+\]:[ \t]*<?([^\s<>]+)`)

func (f *finder) definitions() (list []Address) {
	for _, at := range definitionForm.FindAllStringSubmatchIndex(f.source, -1) {
		to := f.source[at[2]:at[3]]
		if used, is := f.named[to]; is {
			list = append(list, Address{To: to, Image: used.image, Alt: used.alt, At: at[2]})
		}
	}
	return list
}
