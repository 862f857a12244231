// Package notes reads what authors write beside their graphs.
//
// Read is its door: of the notes of a file it makes a description in plain text, what the lines say about inputs by name,
// and the directives. Directives are lines of their own that never show; they say what can't be guessed:
//
//	@tool id=poster command=poster name="Big poster" category=text-to-image visibility=public cost=0.02/request
//	@input 6.text name=prompt label="What to draw" required
//	@input "My sampler".steps advanced default=20 min=4 max=40 choices=4|20|40
//	@output 9 name=poster type=image
//	@bot telegram send-as=document filename=poster.png
//	@i18n de name="Großes Plakat" description="Malt ein Plakat."
//	@i18n de input=steps label="Schritte" description="Mehr ist feiner."
//	@i18n de input=style choices="ink=Tinte|oil=Öl"
//	@i18n de output=poster label="Das Plakat"
//
// A node is named by its id, by its path inside subgraphs (12:5), or by its title. cost is a price per run; with /second
// it is another rate for the time. Whether the node is there only package workflow knows.
package notes

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/internal/plain"
)

// Bounds of what notes become.
const (
	maxNotes       = 1 << 20  // bytes of all notes that are read
	maxNoteText    = 64 << 10 // of one note
	maxDescription = 2_000    // runes
	maxParagraph   = 700      // runes
)

// Notice is what the notes of a file say: the description, and the directives of the author.
type Notice struct {
	Description string
	About       map[string]string // what lines of the form "name: text" say, by the name as a slug
	Directives  []Directive
	Findings    []graph.Finding
}

// Read turns notes into a description: plain text, what the tool is for first, downloads and
// installation last or gone. Directives are taken out.
func Read(notes []graph.Note) Notice {
	n := Notice{About: map[string]string{}}
	var paragraphs []paragraph
	left := maxNotes
	for _, note := range notes {
		if left -= len(note.Text); left < 0 {
			break
		}
		text := plain.Cut(note.Text, maxNoteText)
		text, found, problems := cutDirectives(plain.Text(text), note.ID)
		n.Directives = append(n.Directives, found...)
		n.Findings = append(n.Findings, problems...)
		paragraphs = append(paragraphs, paragraphsOf(note, text)...)
		n.explain(plainLines(text, note.Type == "MarkdownNote"))
	}
	slices.SortStableFunc(paragraphs, func(a, b paragraph) int { return int(a.rank) - int(b.rank) })
	n.Description = plain.HideKeys(joinParagraphs(paragraphs))
	return n
}

// explanation is a line that says what something is: a name of a few words, a colon or its like, and a text.
var explanation = regexp.MustCompile(`^[-*•\s]*([\pL\pN][\pL\pN _-]{0,40}?)\s*(?::|=|[–—]| -)\s+(\S.*)$`)

func (n *Notice) explain(lines []line) {
	for _, l := range lines {
		m := explanation.FindStringSubmatch(plain.Cut(l.text, 1000))
		if m == nil || l.download || isSetup(l.text) || graph.NamesModel(m[2]) || !strings.Contains(m[2], " ") {
			continue
		}
		if name := plain.Slug(m[1], "_"); name != "" && n.About[name] == "" {
			n.About[name] = plain.HideKeys(m[2])
		}
	}
}

// rank orders paragraphs: what for, then everything else in the author's order, then how to install.
type rank int8

const (
	rankPurpose rank = iota
	rankNormal
	rankSetup
)

// paragraph is a heading with the lines below it.
type paragraph struct {
	heading string
	lines   []string
	rank    rank
}

func joinParagraphs(list []paragraph) string {
	var b strings.Builder
	left := maxDescription
	seen := map[string]bool{}
	for _, p := range list {
		text := plain.Clip(p.text(), min(maxParagraph, left))
		if text == "" || left < 40 || seen[text] {
			continue
		}
		seen[text] = true
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(text)
		left -= len([]rune(text))
	}
	return b.String()
}

func (p paragraph) text() string {
	body := strings.Join(p.lines, "\n")
	switch {
	case p.heading == "":
		return body
	case body == "":
		return p.heading
	}
	return p.heading + "\n" + body
}

// paragraphsOf splits one note at its headings and blank lines and ranks the parts.
func paragraphsOf(note graph.Note, text string) []paragraph {
	lines := plainLines(text, note.Type == "MarkdownNote")
	var out []paragraph
	current := paragraph{heading: noteTitle(note)}
	downloads := false
	flush := func() {
		if downloads && current.onlySetup() {
			current.lines = nil
		}
		if current.rank = rankOf(current); !isReport(current) && (len(current.lines) > 0 || current.heading != "" && !downloads && current.rank != rankSetup) {
			out = append(out, current)
		}
		current, downloads = paragraph{}, false
	}
	for _, l := range lines {
		switch {
		case l.download:
			downloads = true
			current.dropIntroduction()
		case l.text == "":
			if len(current.lines) > 0 {
				flush()
			}
		case l.heading:
			if current.heading != "" && len(current.lines) == 0 && !downloads && current.heading != noteTitle(note) {
				current.heading += ": " + l.text
				continue
			}
			if len(current.lines) > 0 || downloads || current.heading != "" {
				flush()
			}
			current.heading = l.text
		default:
			current.lines = append(current.lines, l.text)
		}
	}
	flush()
	return dropLonelyTitle(out, noteTitle(note))
}

// onlySetup tells lines that only stood around a list of downloads.
func (p *paragraph) onlySetup() bool {
	for _, l := range p.lines {
		if !isSetup(l) {
			return false
		}
	}
	return true
}

// dropLonelyTitle leaves out a note that has only its title left.
func dropLonelyTitle(list []paragraph, title string) []paragraph {
	if len(list) == 1 && list[0].heading == title && title != "" && len(list[0].lines) == 0 {
		return nil
	}
	return list
}

// dropIntroduction takes out a last line that only announces the download that follows it.
func (p *paragraph) dropIntroduction() {
	n := len(p.lines)
	if n == 0 {
		return
	}
	last := p.lines[n-1]
	if strings.HasSuffix(last, ":") || len(last) < 120 && isSetup(last) || len(strings.Fields(last)) < 4 && !strings.HasSuffix(last, ".") {
		p.lines = p.lines[:n-1]
	}
}

var (
	purposeWord = regexp.MustCompile(`(?i)^\W*(purpose|what (it|this) (does|is|makes)|what is this|about|summary|overview|description|goal|in short)\b`)
)

func rankOf(p paragraph) rank {
	first := p.heading
	if first == "" && len(p.lines) > 0 {
		first = p.lines[0]
	}
	if purposeWord.MatchString(plain.Cut(first, 80)) {
		return rankPurpose
	}
	if isSetup(p.heading) || len(p.lines) < 4 && isSetup(strings.Join(p.lines, " ")) {
		return rankSetup
	}
	return rankNormal
}

// isReport tells the invitation to report faults that templates carry.
func isReport(p paragraph) bool {
	text := strings.ToLower(p.text())
	return len(text) < 250 && (strings.Contains(text, "report workflow issue") || strings.Contains(text, "report template issue"))
}

// isSetup tells text that is for anyone who installs the workflow.
func isSetup(s string) bool {
	s = strings.ToLower(s)
	for _, words := range []string{
		"model link", "model storage", "download", "install", "place it in", "place them in", "place the file", "goes in:", "go in:", "goes into", "correct directories", "report workflow issue",
		"report issue", "required files", "required models", "required nodes", "custom nodes needed", "custom nodes required", "missing nodes", "examples page for the links",
	} {
		if strings.Contains(s, words) {
			return true
		}
	}
	return false
}

// noteTitle is the author's title, unless it says no more than that this is a note.
func noteTitle(n graph.Note) string {
	title := strings.TrimSpace(plain.Clip(plain.Line(StripTags(n.Title)), 80))
	switch strings.ToLower(strings.Trim(title, " :-0123456789)(#.")) {
	case "", "note", "notes", "markdownnote", "markdown note", "readme", "info", "text", "comment", "comments":
		return ""
	}
	return title
}

// line is one line of a note in plain text.
type line struct {
	text              string
	heading, download bool
}

var (
	mdImage   = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	mdLink    = regexp.MustCompile(`\[([^\]\n]*)\]\(([^)\s]*)[^)]*\)`)
	mdRule    = regexp.MustCompile(`^\s*([-*_=]\s*){3,}$`)
	mdDivider = regexp.MustCompile(`^\s*\|?[\s:|-]*-{2,}[\s:|-]*\|?\s*$`)
	mdHeading = regexp.MustCompile(`^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
	mdBanner  = regexp.MustCompile(`^\s*[=~#*-]{2,}\s*([^=~#*\s-].*?)\s*[=~#*-]{2,}\s*$`)
	mdStrong  = regexp.MustCompile(`(\*\*|__)(\S|\S.*?\S)(\*\*|__)`)
	mdEmph    = regexp.MustCompile(`(^|[\s(])[*_](\S|\S[^*_]*?\S)[*_]($|[\s).,;:!?])`)
	mdStrike  = regexp.MustCompile(`~~(.+?)~~`)
	mdBullet  = regexp.MustCompile(`^(\s*)[*+•]\s+`)
	webURL    = regexp.MustCompile(`(?i)<?\b(https?|ftp)://[^\s<>"']+>?`)
	htmlTag   = regexp.MustCompile(`(?s)<!--.*?-->|</?[a-zA-Z][a-zA-Z0-9-]*(\s[^<>]*)?/?>`)
	htmlBlock = regexp.MustCompile(`(?is)<(script|style|iframe|svg|object|template)\b.*?(</(script|style|iframe|svg|object|template)\s*>|$)`)
	htmlBreak = regexp.MustCompile(`(?i)<(br|/p|/div|/li|/h[1-6]|/tr)\s*/?>`)
	modelPath = regexp.MustCompile(`(?i)(comfyui[/\\]+)?models[/\\]+[a-z_0-9-]+`)
)

// plainLines reduces Markdown and HTML to lines of text.
func plainLines(text string, markdown bool) []line {
	text = StripTags(text)
	var out []line
	for raw := range strings.SplitSeq(text, "\n") {
		if l, keep := plainLine(raw, markdown); keep {
			out = append(out, l)
		}
	}
	return out
}

// StripTags removes HTML. It repeats, since taking one tag out can make another.
func StripTags(s string) string {
	for range 5 {
		if !strings.ContainsAny(s, "<&") {
			return s
		}
		t := plain.Text(html.UnescapeString(s))
		t = htmlBlock.ReplaceAllString(t, "")
		t = htmlBreak.ReplaceAllString(t, "\n")
		t = htmlTag.ReplaceAllString(t, "")
		if t == s {
			break
		}
		s = t
	}
	return s
}

func plainLine(raw string, markdown bool) (line, bool) {
	s := strings.TrimRightFunc(raw, unicode.IsSpace)
	if strings.HasPrefix(strings.TrimSpace(s), "```") || mdDivider.MatchString(s) && strings.Contains(s, "|") {
		return line{}, false
	}
	if mdRule.MatchString(s) {
		return line{}, true
	}
	l := line{download: isDownload(s)}
	if l.download {
		return l, true
	}
	if m := mdHeading.FindStringSubmatch(s); m != nil {
		l.heading, s = true, m[1]
	}
	if m := mdBanner.FindStringSubmatch(s); m != nil && !l.heading {
		l.heading, s = true, m[1]
	}
	if markdown && strings.HasPrefix(strings.TrimSpace(s), "**") && strings.HasSuffix(strings.TrimSpace(s), "**") {
		l.heading = true
	}
	bare := strings.TrimSpace(s)
	s = plainInline(s, markdown)
	if bare != "" && strings.Trim(s, " -:*.()[]>") == "" {
		return line{}, false
	}
	if strings.Contains(bare, "://") && strings.HasSuffix(s, ":") {
		return line{}, false
	}
	if l.heading {
		s = strings.TrimSpace(strings.TrimSuffix(s, ":"))
	}
	l.text = s
	return l, true
}

func plainInline(s string, markdown bool) string {
	if strings.Contains(s, "](") {
		s = mdImage.ReplaceAllString(s, "$1")
		s = mdLink.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, "://") {
		s = webURL.ReplaceAllString(s, "")
	}
	if markdown {
		s = strings.TrimPrefix(strings.TrimLeft(s, " "), "> ")
		if strings.ContainsAny(s, "*_") {
			s = mdStrong.ReplaceAllString(s, "$2")
			s = mdEmph.ReplaceAllString(s, "$1$2$3")
		}
		s = mdStrike.ReplaceAllString(s, "$1")
		s = strings.ReplaceAll(s, "`", "")
		s = strings.ReplaceAll(s, `\_`, "_")
	}
	s = mdBullet.ReplaceAllString(s, "$1- ")
	if strings.HasPrefix(strings.TrimSpace(s), "|") && strings.HasSuffix(strings.TrimSpace(s), "|") {
		s = tableRow(s)
	}
	return strings.Join(strings.Fields(s), " ")
}

// tableRow writes a row of a Markdown table as "first: second, third".
func tableRow(s string) string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(s), "|"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" && cell != "-" {
			cells = append(cells, cell)
		}
	}
	if len(cells) < 2 {
		return strings.Join(cells, "")
	}
	return cells[0] + ": " + strings.Join(cells[1:], ", ")
}

// isDownload tells lines that only say where model files come from or go to.
func isDownload(s string) bool {
	if strings.ContainsAny(s, "📂📁├└│─") {
		return true
	}
	file := strings.Contains(s, ".") && graph.NamesModel(s)
	path := strings.ContainsAny(s, `/\`) && modelPath.MatchString(s)
	url := strings.Contains(s, "://") && webURL.MatchString(s)
	if !file && !path && !url {
		return false
	}
	words := len(strings.Fields(webURL.ReplaceAllString(mdLink.ReplaceAllString(s, "$1"), "")))
	lower := strings.ToLower(s)
	switch {
	case file && path, file && url, path && url:
		return true
	case url && words < 4:
		return true
	case file && words < 4:
		return true
	case path && (strings.Contains(lower, "put") || strings.Contains(lower, "place") || strings.Contains(lower, "goes in") || strings.Contains(lower, "download")):
		return true
	}
	return url && (strings.Contains(lower, "download") || strings.Contains(lower, "huggingface.co") || strings.Contains(lower, "civitai.com"))
}
