package knowledge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
)

// A built file is gzip of lines of JSON: a head, a line for each document in the order of their paths, and the SHA-256 of all lines before it. It holds
// no times, so that the same documents give the same file.
const (
	builtFormat = "signalbox-knowledge-1"
	maxLine     = 64 << 20 // of a document with its embeddings
)

type builtHead struct {
	Format      string       `json:"format"`
	Name        string       `json:"name"`
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	Language    string       `json:"language,omitempty"`
	Access      index.Access `json:"access"`
	Readers     []string     `json:"readers,omitempty"`
	Embeddings  string       `json:"embeddings,omitempty"` // the model that made them
}

type builtDocument struct {
	Path   string        `json:"path"`
	Hash   string        `json:"hash"`
	Title  string        `json:"title"`
	Chunks []index.Chunk `json:"chunks"`
}

type builtEnd struct {
	SHA256 string `json:"sha256"`
}

// Built says what Build wrote.
type Built struct {
	Name              string
	Documents, Chunks int
	Problems          []string // of files that could not be read, and are left out
}

// Build writes the documents of a folder or zip as one file that KNOWLEDGE_FILES takes (E39). With an embedder the passages have their vectors, too;
// nil: they have none.
func Build(ctx context.Context, w io.Writer, path string, reader document.Reader, embedder index.Embedder) (Built, error) {
	files, done, err := open(path)
	if err != nil {
		return Built{}, err
	}
	defer done()
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Built{}, err
	}
	base := filepath.Base(absolute)
	d, err := readDefinition(files, strings.TrimSuffix(base, filepath.Ext(base)))
	if err != nil {
		return Built{}, err
	}
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return Built{}, err
	}
	b := builder{done: Built{Name: d.Name}, sum: sha256.New(), embedder: embedder}
	b.lines = json.NewEncoder(io.MultiWriter(packed, b.sum))
	b.lines.SetEscapeHTML(false)
	if err := b.write(ctx, d, d.items(files, reader)); err != nil {
		return b.done, err
	}
	if err := json.NewEncoder(packed).Encode(builtEnd{hex.EncodeToString(b.sum.Sum(nil))}); err != nil {
		return b.done, err
	}
	return b.done, packed.Close()
}

type builder struct {
	done     Built
	sum      hash.Hash
	lines    *json.Encoder
	embedder index.Embedder
}

func (b *builder) write(ctx context.Context, d Definition, items iter.Seq2[index.Item, error]) error {
	head := builtHead{Format: builtFormat, Name: d.Name, Title: d.Title, Description: d.Description, Language: index.Configuration(d.Language), Access: d.Access.Level, Readers: d.Access.Readers}
	if b.embedder != nil {
		head.Embeddings = b.embedder.Model()
	}
	if err := b.lines.Encode(head); err != nil {
		return err
	}
	for item, err := range items {
		if err != nil {
			return err
		}
		read, err := item.Read(ctx)
		if err != nil {
			b.done.Problems = append(b.done.Problems, err.Error())
			continue
		}
		if err := index.Embed(ctx, b.embedder, read.Chunks); err != nil {
			return err
		}
		b.done.Documents, b.done.Chunks = b.done.Documents+1, b.done.Chunks+len(read.Chunks)
		if err := b.lines.Encode(builtDocument{item.Path, hex.EncodeToString(item.Hash), read.Title, read.Chunks}); err != nil {
			return err
		}
	}
	return nil
}

// errDamaged is a built file that is not as it was built.
var errDamaged = errors.New("this file of knowledge is damaged, or none; build it anew with: signalbox knowledge build")

// syncFile reads a built file. One that is damaged disables its own tool only (E40).
func (p *Provider) syncFile(ctx context.Context, path string) (id int64, changed bool, err error) {
	base := filepath.Base(path)
	named := index.Source{Name: nameOf(strings.TrimSuffix(base, filepath.Ext(base))), Origin: index.OriginFile, Address: base}
	head, err := checkBuilt(path)
	if err != nil {
		return p.broken(ctx, named, err)
	}
	s := index.Source{
		ToolID: toolID(head.Name), Name: head.Name, Title: head.Title, Description: head.Description, Origin: index.OriginFile, Address: base,
		Access: head.Access, Readers: head.Readers, Language: head.Language,
	}
	if err := (Definition{Name: head.Name, Language: head.Language}).check(); err != nil {
		return p.broken(ctx, named, errors.Join(errDamaged, err))
	}
	return p.refresh(ctx, s, builtItems(path, head.Embeddings))
}

// checkBuilt reads a built file through, and gives its head where the file is whole.
func checkBuilt(path string) (head builtHead, err error) {
	sum := sha256.New()
	var last []byte
	n := 0
	for line, err := range builtLines(path) {
		if err != nil {
			return head, err
		}
		if n == 0 && (json.Unmarshal(line, &head) != nil || head.Format != builtFormat) {
			return head, errDamaged
		}
		if n > 0 {
			sum.Write(last)
		}
		last = append(last[:0], line...)
		n++
	}
	var end builtEnd
	if n < 2 || json.Unmarshal(last, &end) != nil || end.SHA256 != hex.EncodeToString(sum.Sum(nil)) {
		return head, errDamaged
	}
	return head, nil
}

// builtItems are the documents of a file that was checked.
func builtItems(path, embeddings string) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		n := 0
		for line, err := range builtLines(path) {
			if n++; n == 1 && err == nil {
				continue // the head
			}
			var d builtDocument
			if err == nil && json.Unmarshal(line, &d) != nil {
				err = errDamaged
			}
			if err == nil && d.Path == "" {
				return // the end
			}
			item := index.Item{Path: d.Path, Hash: []byte(d.Hash), Embeddings: embeddings, Read: func(context.Context) (index.Document, error) {
				return index.Document{Title: d.Title, Chunks: d.Chunks}, nil
			}}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// builtLines gives the lines of a built file, each with its end. A line is only good until the next.
func builtLines(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer file.Close()
		unpacked, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			yield(nil, errDamaged)
			return
		}
		lines := bufio.NewScanner(unpacked)
		lines.Buffer(make([]byte, 64<<10), maxLine)
		lines.Split(wholeLines)
		for lines.Scan() {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		if lines.Err() != nil {
			yield(nil, errDamaged)
		}
	}
}

// wholeLines is bufio.ScanLines with the lines' ends.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if at := bytes.IndexByte(data, '\n'); at >= 0 {
		return at + 1, data[:at+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
