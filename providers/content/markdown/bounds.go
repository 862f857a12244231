package markdown

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds keep texts of strangers from taking a time that grows with the square of their length, or pages of many times their length. Far beyond
// what people write, marks are shown as the characters that they are.
var Bounds = goldmark.WithParserOptions(
	parser.WithInlineParsers(util.Prioritized(marks{}, 0)),
	parser.WithBlockParsers(util.Prioritized(deep{parser.NewParagraphParser()}, 0)),
	parser.WithParagraphTransformers(util.Prioritized(wide{}, 0)),
)

const (
	mostWork        = 1 << 27 // bytes that marks of a text may have looked at: a mark is compared with all of its paragraph
	mostDepth       = 50      // of quotes and lists in each other
	mostDefinitions = 1000    // lines of a paragraph of addresses that have names
	mostEscaped     = 1000    // pipes within the cells of tables
	noteWork        = 8       // of a mark of a note, which is compared with each note, as bytes
)

// spent is what the marks of one text have taken.
type spent struct {
	work, cells, escaped int
	notes                int // that it may have at its foot
}

var spentKey = parser.NewContextKey()

func spentOf(pc parser.Context, source []byte) *spent {
	return pc.ComputeIfAbsent(spentKey, func() any { return &spent{notes: bytes.Count(source, []byte("[^"))} }).(*spent)
}

// marks come before all that marks mean, and are text once there were too many.
type marks struct{}

// Trigger says which they are.
func (marks) Trigger() []byte { return []byte("![]<*_~`") }

// Parse leaves a mark to the parsers that know it, or takes the rest of its line as it is.
func (marks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	lines, s := parent.Lines(), spentOf(pc, block.Source())
	if lines.Len() > 0 {
		s.work += lines.At(lines.Len()-1).Stop - lines.At(0).Start
	}
	line, at := block.PeekLine()
	if bytes.HasPrefix(bytes.TrimPrefix(line, []byte("!")), []byte("[^")) {
		s.work += noteWork * s.notes
	}
	if s.work <= mostWork {
		return nil
	}
	rest := len(bytes.TrimRight(line, "\r\n"))
	block.Advance(rest)
	return ast.NewTextSegment(at.WithStop(at.Stop - len(line) + rest))
}

// deep are lines within too many quotes and lists: paragraphs, whatever they begin with.
type deep struct{ parser.BlockParser }

// Trigger is what quotes, lists and notes begin with.
func (deep) Trigger() []byte { return []byte(">-+*0123456789[") }

// Open begins a paragraph where it is deep enough.
func (d deep) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if parent.Kind() == ast.KindList {
		return nil, parser.NoChildren // which has items alone
	}
	depth := 0
	for n := parent; n != nil && depth < mostDepth; n = n.Parent() {
		depth++
	}
	if depth < mostDepth {
		return nil, parser.NoChildren
	}
	return d.BlockParser.Open(parent, reader, pc)
}

// CanInterruptParagraph holds for what it comes before.
func (deep) CanInterruptParagraph() bool { return true }

// wide leaves paragraphs as they are that would become tables of many more cells than they have letters, or many addresses that have names.
type wide struct{}

// Transform puts another paragraph in the place of such a one, which nothing transforms.
func (wide) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source := p.Lines(), reader.Source()
	if lines.Len() < 2 || fits(lines, source, spentOf(pc, source)) {
		return
	}
	same := ast.NewParagraph()
	same.SetLines(lines)
	same.SetPos(p.Pos())
	p.Parent().ReplaceChild(p.Parent(), p, same)
}

func fits(lines *text.Segments, source []byte, s *spent) bool {
	first := lines.At(0)
	if lines.Len() > mostDefinitions && bytes.HasPrefix(bytes.TrimLeft(first.Value(source), " "), []byte("[")) {
		return false
	}
	columns := 0
	for i := range lines.Len() {
		line := lines.At(i)
		s.escaped += bytes.Count(line.Value(source), []byte(`\|`))
		if len(bytes.Trim(line.Value(source), "|:- \t\r\n")) == 0 {
			columns = max(columns, bytes.Count(line.Value(source), []byte("|")))
		}
	}
	s.cells += columns * lines.Len()
	return columns == 0 || s.cells <= len(source) && s.escaped <= mostEscaped
}
