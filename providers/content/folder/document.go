package folder

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/signalbox/signalbox/internal/plain"
)

// Bounds of a file, in bytes.
const (
	maxFile = 4 << 20
	maxHead = 64 << 10
)

// document is one file as it is read.
type document struct {
	file       string
	collection string // slug; empty: it is a page
	slug       string
	title      string
	body       string
	bodyLine   int // where the body begins, from 1
	date       *time.Time
	draft      bool
	author     string
	excerpt    string
	locale     string // as BCP 47 in small letters; empty: the site's own language
	categories []string
	tags       []string
	cover      picture
	notes      []string // what of it has no place in the site
}

// picture is one that the head of a file names.
type picture struct {
	address, alt string
	line         int
}

// fault is what is wrong with a file, and where.
type fault struct {
	line int // 0: with all of it
	text string
}

// Error tells the fault without its place.
func (f *fault) Error() string { return f.text }

// parse makes a document of what a file says.
func parse(file string, content []byte, collections []string) (document, error) {
	d := document{file: file}
	content = bytes.ReplaceAll(bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF")), []byte("\r\n"), []byte("\n"))
	if !utf8.Valid(content) {
		return d, faultAt(1+bytes.Count(content[:firstInvalid(content)], []byte("\n")), "it is no text in UTF-8")
	}
	if before, _, ok := bytes.Cut(content, []byte{0}); ok {
		return d, faultAt(1+bytes.Count(before, []byte("\n")), "it has a zero byte: it is no text")
	}
	head, err := d.cut(string(content))
	if err != nil {
		return d, err
	}
	d.place(collections)
	for _, field := range head {
		if err := d.take(field, collections); err != nil {
			return d, err
		}
	}
	d.titled()
	if d.title == "" {
		return d, faultAt(1, "it has no title: write title: in its head, or begin its text with # Title")
	}
	if d.slug == "" {
		return d, faultAt(1, "its name gives no slug: write slug: in its head, of lower-case letters, digits and hyphens")
	}
	if d.collection == "" && slices.Contains(collections, d.slug) {
		return d, faultAt(0, "as a page it would hide the list of the collection %s: write another slug: into its head, or leave it out", d.slug)
	}
	return d, nil
}

func firstInvalid(content []byte) int {
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(content)
}

// cut parts a file into the fields of its head and the text.
func (d *document) cut(content string) ([]*ast.MappingValueNode, error) {
	first, rest, _ := strings.Cut(content, "\n")
	if strings.TrimSpace(first) == "+++" {
		return nil, faultAt(1, "its head is TOML (+++): expected YAML between two lines of three hyphens")
	}
	if strings.TrimRight(first, " \t") != "---" {
		d.body, d.bodyLine = content, 1
		return nil, nil
	}
	head, body, closed := strings.Cut("\n"+rest, "\n---\n")
	if !closed {
		head, closed = strings.CutSuffix("\n"+rest, "\n---")
	}
	if !closed || len(head) > maxHead {
		return nil, faultAt(1, "its head does not end: expected a second line of three hyphens within %d bytes", maxHead)
	}
	d.body, d.bodyLine = body, 3+strings.Count(head, "\n")
	file, err := parser.ParseBytes([]byte(head), 0) // the line break before it stands for that of the hyphens: lines are those of the file
	if err != nil {
		return nil, headFault(err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	switch node := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return node.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}, nil
	case *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	}
	return nil, faultAt(2, "its head is no list of names with values, such as title: About us")
}

// headFault is an error of the YAML library in one line.
func headFault(err error) error {
	var syntax yaml.Error
	if errors.As(err, &syntax) && syntax.GetToken() != nil {
		return faultAt(syntax.GetToken().Position.Line, "its head is no YAML: %s", syntax.GetMessage())
	}
	return faultAt(1, "its head is no YAML: %v", err)
}

// datedForm is how Jekyll names posts.
var datedForm = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})-(.+)$`)

// place tells from where a file stands what becomes of it: in a folder named as a collection an entry of it, elsewhere a page. What
// is named index is what its folder is.
func (d *document) place(collections []string) {
	name := strings.TrimSuffix(path.Base(d.file), path.Ext(d.file))
	folders := strings.Split(path.Dir(d.file), "/")
	if isIndex(d.file) {
		name = folders[len(folders)-1]
		folders = folders[:len(folders)-1]
	}
	if name == "." {
		name = startSlug
	}
	for _, folder := range folders {
		if slug := collectionOf(folder); slices.Contains(collections, slug) {
			d.collection = slug
		}
	}
	if isIndex(d.file) {
		name = collectionOf(name)
	}
	if found := datedForm.FindStringSubmatch(name); found != nil {
		if at, err := moment(found[1]); err == nil {
			d.date, name = &at, found[2]
		}
	}
	d.slug = plain.Address(name)
}

// collectionOf is the slug of the collection that a folder may stand for.
func collectionOf(folder string) string {
	if folder = strings.TrimLeft(folder, "_"); folder == "posts" {
		return blog
	}
	return folder
}

// isIndex reports whether a file stands for its folder.
func isIndex(file string) bool {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return name == "index" || name == "_index"
}

// The page that is the start of a site, and the collection of posts that dates stand for.
const (
	startSlug = "home"
	blog      = "blog"
)

// take reads one field of the head.
func (d *document) take(field *ast.MappingValueNode, collections []string) error {
	name, line := field.Key.GetToken().Value, field.Key.GetToken().Position.Line
	v := value{name, line, field.Value}
	switch strings.ToLower(name) {
	case "title":
		return v.text(&d.title)
	case "slug":
		if err := v.text(&d.slug); err != nil {
			return err
		}
		if d.slug = strings.Trim(d.slug, "/"); d.slug != plain.Address(d.slug) || d.slug == "" {
			return faultAt(line, "slug: %q is none: expected lower-case letters, digits and hyphens, such as about-us", d.slug)
		}
	case "date", "publishdate":
		return v.date(&d.date)
	case "draft":
		return v.flag(&d.draft)
	case "published":
		shown := true
		err := v.flag(&shown)
		d.draft = !shown
		return err
	case "author", "authors":
		var names []string
		err := v.texts(&names)
		d.author = strings.Join(names, ", ")
		return err
	case "excerpt", "description", "summary":
		return v.text(&d.excerpt)
	case "category", "categories":
		return v.texts(&d.categories)
	case "tags":
		return v.texts(&d.tags)
	case "language", "lang":
		return v.language(&d.locale)
	case "cover", "image", "featuredimage", "featured_image":
		return v.picture(&d.cover)
	case "type", "collection":
		return d.settle(v, collections)
	default:
		d.notes = append(d.notes, fmt.Sprintf("line %d: %s has no place here", line, name))
	}
	return nil
}

// settle reads what the file says it is: page, post, or the slug of a collection.
func (d *document) settle(v value, collections []string) error {
	var kind string
	if err := v.text(&kind); err != nil {
		return err
	}
	switch kind {
	case "page":
		d.collection = ""
		return nil
	case "post", "posts":
		kind = blog
	}
	if slices.Contains(collections, kind) {
		d.collection = kind
		return nil
	}
	return faultAt(v.line, "%s: there is no collection %q: expected page, post or one of %s", v.name, kind, strings.Join(collections, ", "))
}

// titleForm is a heading that a text begins with.
var titleForm = regexp.MustCompile(`^\s*# +(.+?)(?: +#+)? *(?:\n|$)`)

// titled takes a heading at the beginning of the text as the title, which pages show above it.
func (d *document) titled() {
	found := titleForm.FindStringSubmatch(d.body)
	if found == nil || d.title != "" && d.title != found[1] {
		return
	}
	d.title = found[1]
	d.bodyLine += strings.Count(found[0], "\n")
	d.body = d.body[len(found[0]):]
}
