package document_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/providers/knowledge/document"
)

const word = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Fruit</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Pears </w:t></w:r><w:r><w:t>ripen.</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Figs</w:t></w:r></w:p><w:p><w:r><w:t>In</w:t><w:tab/><w:t>summer.</w:t></w:r></w:p></w:body></w:document>`

// docx makes a Word file.
func docx(t testing.TB, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"word/document.xml": body,
		"docProps/core.xml": `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>All about fruit</dc:title><dc:description>Ripe and not.</dc:description></cp:coreProperties>`,
	} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pdf makes a PDF file with a line of text on each page.
func pdf(lines ...string) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.4\n")
	var kids []string
	for i := range lines {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(lines))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	for i, line := range lines {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i)
		stream := "BT /F1 12 Tf 20 200 Td (" + line + ") Tj ET"
		object("<< /Length %d >>\nstream\n%s\nendstream", len(stream), stream)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return b.Bytes()
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		want document.Document
	}{
		"a.md": {[]byte("---\ntitle: Fruit\ndescription: Ripe.\nlang: en\n---\nBefore.\n\n## Pears *and* figs\n\nA [link](x) and `code`.\n\n```go\nfunc main() {\n\n}\n```\n\n<h3 id=\"own\">Own</h3>\nText <b>here</b>.<!-- Not yet. -->"),
			document.Document{Title: "Fruit", Summary: "Ripe.", Language: "en", Sections: []document.Section{
				{Text: "Before."}, {Heading: "Pears and figs", Anchor: "pears-and-figs", Level: 2, Text: "A link and code.\n\nfunc main() {\n\n}", Code: true, Languages: []string{"go"}},
				{Heading: "Own", Anchor: "own", Level: 3, Text: "Text here."}}}},
		"a.njk": {[]byte("---\ntitle: Fruit\ndesc: Ripe.\n---\n{% include 'x' %}<h1 id=\"fruit\">Fruit</h1><p>Pears {{ name }}and\nfigs.</p><!-- <h2>Later</h2><p>Plums.</p> --><h2>Odd</h3><ul><li>One</li><li>Two</li></ul>{# note #}"),
			document.Document{Title: "Fruit", Summary: "Ripe.", Sections: []document.Section{
				{Heading: "Fruit", Anchor: "fruit", Level: 1, Text: "Pears and figs."}, {Heading: "Odd", Level: 2, Text: "- One\n- Two"}}}},
		"a.html": {[]byte(`<!doctype html><html lang="de"><head><title>Obst</title><meta name="description" content="Reif."><style>p{}</style></head><body><nav>Menü</nav><main><h1><a name="o"></a>Obst</h1>
			<p>Birnen<br>reifen.</p><table><tr><td>a</td><td>b</td></tr></table><script>x</script></main><footer>Fuß</footer></body></html>`),
			document.Document{Title: "Obst", Summary: "Reif.", Language: "de", Sections: []document.Section{{Heading: "Obst", Anchor: "o", Level: 1, Text: "Birnen\nreifen.\n\na b"}}}},
		"notes/a.txt": {[]byte("\xEF\xBB\xBFPears.\r\n\r\n\r\nFigs."), document.Document{Title: "a", Sections: []document.Section{{Text: "Pears.\n\nFigs."}}}},
		"a.docx": {docx(t, word), document.Document{Title: "All about fruit", Summary: "Ripe and not.", Sections: []document.Section{
			{Heading: "Fruit", Level: 1, Text: "Pears ripen."}, {Heading: "Figs", Level: 2, Text: "In summer."}}}},
		"a.PDF": {pdf("Pears ripen.", "", "Figs, too."), document.Document{Title: "a", Sections: []document.Section{
			{Heading: "Page 1", Anchor: "page=1", Level: 2, Text: "Pears ripen."}, {Heading: "Page 3", Anchor: "page=3", Level: 2, Text: "Figs, too."}}}},
	} {
		got, err := document.Read(name, c.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range got.Sections {
			if len(got.Sections[i].Languages) == 0 {
				got.Sections[i].Languages = nil
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// TestHeadsThatAreMadeToHurt reads heads that make gigabytes of a few lines, or take minutes: they are text, or what can be read of them is.
func TestHeadsThatAreMadeToHurt(t *testing.T) {
	t.Parallel()
	bomb := "desc: &a0 [x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("description: &a%d [%s*a%d]\n", i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8), i)
	}
	for name, head := range map[string]string{"bomb": bomb + "title: *a30", "lists": "title: " + strings.Repeat("[", 60_000), "dashes": "title:\n " + strings.Repeat("- ", 30_000), "prose": "Pears and figs"} {
		d, err := document.Read(name+".md", []byte("---\n"+head+"\n---\nBody."))
		if text := fmt.Sprint(d); err != nil || d.Title != name || !strings.Contains(text, "Body.") {
			t.Errorf("%s: %v, %.200s", name, err, text)
		}
	}
	d, err := document.Read("a.md", []byte("---\r\ntags: [a, b]\r\nurl: https://pears.example/?a=*b\r\n\"title\": >\r\n  Pears and\r\n  figs\r\nmore:\r\n- c: d\r\n# note\r\n---\r\nBody."))
	if err != nil || d.Title != "Pears and figs" || len(d.Sections) != 1 || d.Sections[0].Text != "Body." {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWhatCantBeRead(t *testing.T) {
	t.Parallel()
	bomb := docx(t, "<w:document>"+strings.Repeat("<w:p><w:t>"+strings.Repeat("a", 1000)+"</w:t></w:p>", 9000)+"</w:document>")
	for name, data := range map[string][]byte{
		"a.exe": nil, "large.txt": make([]byte, document.MaxBytes+1), "binary.txt": []byte("a\x00\xff"), "no.docx": []byte("no zip"), "no.pdf": []byte("no PDF"), "scan.pdf": pdf("", " "), "cut.docx": docx(t, word[:400]), "bomb.docx": bomb,
		"nested.docx": docx(t, strings.Repeat("<a>", 1000)+strings.Repeat("</a>", 1000)),
		"deep.html":   []byte(strings.Repeat("<div>", 100_000)), "long.html": []byte("<p>" + strings.Repeat("word ", 1_700_000)), "headings.html": []byte(strings.Repeat("<h1>a</h1>", 30_000)),
	} {
		d, err := document.Read(name, data)
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") || len(d.Sections) > 0 {
			t.Errorf("%s: %d sections, %v", name, len(d.Sections), err)
		}
	}
	if _, err := document.Read("a.exe", nil); !errors.Is(err, document.ErrUnsupported) {
		t.Error(err)
	}
}

func TestTheSummaryIsFoundToo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Sorted by hand.":                          {"What to do with pears.\n\nSorted by hand."},
		"# Pears\nSorted by hand.":                 {"What to do with pears.\n\nSorted by hand."},
		"## Sorting\nBy hand.":                     {"What to do with pears.", "By hand."},
		"## Use\nHere is: What to do\nwith pears.": {"Here is: What to do with pears."},
		"": {"What to do with pears."},
	} {
		d, err := document.Read("a.md", []byte("---\ntitle: Pears\ndescription: What to do with pears.\n---\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range d.Chunks() {
			got = append(got, c.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, expected %q", text, got, want)
		}
	}
}

func TestChunks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A sentence about pears that is not short. ", 60)
	d, err := document.Read("a.md", []byte("# Fruit\n## Trees\n### Pears\n"+long+"\n### Figs {#fig}\nIn summer.\n#### Green\nNot ripe.\n## Berries\nRed."))
	if err != nil {
		t.Fatal(err)
	}
	chunks := d.Chunks()
	var crumbs []string
	for _, c := range chunks {
		crumbs = append(crumbs, strings.Join(c.Breadcrumbs, " > "))
		if len(c.Text) > 1600 || len(c.Summary) > 260 || c.Text == "" || c.Summary == "" {
			t.Errorf("%d bytes of text, %d of summary: %+v", len(c.Text), len(c.Summary), c)
		}
	}
	want := []string{"Fruit", "Fruit > Trees", "Fruit > Trees > Pears", "Fruit > Trees > Pears", "Fruit > Trees > Figs", "Fruit > Trees > Figs > Green", "Fruit > Berries"}
	if !slices.Equal(crumbs, want) {
		t.Errorf("E36 breadcrumbs %q, expected %q", crumbs, want)
	}
	if chunks[0].Text != "Trees, Pears, Figs, Green, Berries" || chunks[4].Anchor != "fig" {
		t.Errorf("%q, %q", chunks[0].Text, chunks[4].Anchor)
	}
	if parts := chunks[2].Text + " " + chunks[3].Text; parts != strings.TrimSpace(long) {
		t.Errorf("a long section is cut into %q", parts)
	}
	t.Run("a text without any place to cut is cut between characters", func(t *testing.T) {
		d, err := document.Read("a.txt", []byte(strings.Repeat("ы", 5000)))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, c := range d.Chunks() {
			all.WriteString(c.Text)
		}
		if all.String() != strings.Repeat("ы", 5000) {
			t.Error("characters are lost")
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("a.md", []byte("# A {#b}\n```go\nx\n```"))
	f.Add("a.html", []byte("<h1 id=a>A</h3><p>b<pre class=language-js>c"))
	f.Add("a.njk", []byte("---\ntitle: [\n---\n{% raw %}<p>"))
	f.Add("a.txt", []byte("a\x00"))
	f.Add("a.docx", docx(f, word))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if strings.EqualFold(path.Ext(name), ".pdf") {
			return // its reader is another's, which never ends on some: that is what Reader is for
		}
		d, err := document.Read(name, data)
		if err != nil {
			return
		}
		for _, c := range d.Chunks() {
			if strings.ContainsRune(c.Text, 0) || strings.ToValidUTF8(c.Text, "") != c.Text || len(c.Breadcrumbs) == 0 {
				t.Errorf("%+v", c)
			}
		}
	})
}

// asReader is the variable by which this program is the one that reads files.
const asReader = "SIGNALBOX_TEST_READS_PDF"

func TestMain(m *testing.M) {
	switch os.Getenv(asReader) {
	case "read":
		if err := document.Serve(os.Args[1], os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case "talk":
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<20)); err != nil {
				os.Exit(1)
			}
		}
	case "hang":
		select {}
	}
	os.Exit(m.Run())
}

func TestFilesInAProcessOfTheirOwn(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reader := func(does string) document.Reader {
		return document.Reader{Command: []string{"env", asReader + "=" + does, program}}
	}
	t.Run("it gives the same", func(t *testing.T) {
		long := []byte("# Fruit\n" + strings.Repeat("Pears ripen.\n", 4000))
		for _, file := range []struct {
			name string
			data []byte
		}{
			{"a.pdf", pdf("Pears ripen.", "Figs, too.")}, {"a.pdf", []byte("no PDF")}, {"a.pdf", pdf()}, {"a.docx", docx(t, word)}, {"a.docx", []byte("no zip")}, {"a.md", long}, {"A.TXT", long},
		} {
			want, wrong := document.Read("fruit/"+file.name, file.data)
			got, err := reader("read").Read(t.Context(), "fruit/"+file.name, file.data)
			if diff := cmp.Diff(want, got); diff != "" || fmt.Sprint(err) != fmt.Sprint(wrong) {
				t.Errorf("%s: %s\n%v, expected %v", file.name, diff, err, wrong)
			}
		}
	})
	t.Run("a text that takes for ever is ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		if d, err := reader("read").Read(ctx, "a.md", bytes.Repeat([]byte("![]("), 1<<18)); !errors.Is(err, context.Canceled) {
			t.Errorf("a page of links that never end: %+v, %v", d, err)
		}
	})
	t.Run("one that never ends, or says too much, is ended", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		endless := bytes.Replace(pdf("Text."), []byte("/Kids [4 0 R]"), []byte("/Kids [2 0 R]"), 1)
		if d, err := reader("read").Read(ctx, "a.pdf", endless); !errors.Is(err, context.Canceled) {
			t.Errorf("a page that holds itself: %+v, %v", d, err)
		}
		if d, err := reader("talk").Read(t.Context(), "a.pdf", pdf("Text.")); err == nil || !strings.HasPrefix(err.Error(), "a.pdf: ") {
			t.Errorf("%+v, %v", d, err)
		}
	})
	t.Run("short texts are read here", func(t *testing.T) {
		if d, err := reader("hang").Read(t.Context(), "a.txt", []byte("Text.")); err != nil || len(d.Sections) != 1 {
			t.Errorf("%+v, %v", d, err)
		}
	})
}
