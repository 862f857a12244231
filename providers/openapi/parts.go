package openapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/ordered"
	"github.com/signalbox/signalbox/internal/outbound"
)

// maxParts bounds the files of one document.
const maxParts = 4000

// parts are the other files of a document: what its references lead to within the folder of its file, or the origin of its
// address. They are read when they are needed. Nothing beyond is fetched because a document says so.
type parts struct {
	read func(name string) ([]byte, error)
	self string   // the document's own name among them
	at   *url.URL // of the document; nil: a file

	left  int64 // bytes that may be read
	found map[string]part
}

// part is one file: its tree, or why there is none.
type part struct {
	root any
	sum  [sha256.Size]byte
	err  error
}

func (t *Tools) partsOf(ctx context.Context, s source) *parts {
	p := &parts{at: s.at, left: maxDocument, found: map[string]part{}}
	if s.at != nil {
		p.self = bareAddress(*s.at)
		p.read = func(name string) ([]byte, error) {
			limited, cancel := context.WithTimeout(ctx, fetchTimeout)
			defer cancel()
			body, _, err := outbound.Get(limited, t.cfg.Guard, name, maxDocument)
			return p.take(body, err)
		}
		return p
	}
	p.self = filepath.Base(s.file)
	p.read = func(name string) ([]byte, error) {
		folder, err := os.OpenRoot(filepath.Dir(s.file))
		if err != nil {
			return nil, bare(err)
		}
		defer folder.Close()
		body, err := folder.Open(filepath.FromSlash(name))
		if err != nil {
			return nil, bare(err)
		}
		return p.take(body, nil)
	}
	return p
}

func bareAddress(u url.URL) string {
	u.RawQuery, u.Fragment, u.RawFragment = "", "", ""
	return u.String()
}

func (p *parts) take(body io.ReadCloser, err error) ([]byte, error) {
	if err != nil {
		return nil, bare(err)
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, p.left+1))
	if p.left -= int64(len(data)); err == nil && p.left < 0 {
		err = fmt.Errorf("the document's files have more than %d MiB together", maxDocument>>20)
	}
	return data, err
}

// same reports whether files are what they were.
func (p *parts) same(before map[string][sha256.Size]byte) bool {
	for name, sum := range before {
		data, err := p.read(name)
		if err != nil || sha256.Sum256(data) != sum {
			return false
		}
	}
	return true
}

// sums are those of the files that were read.
func (p *parts) sums() map[string][sha256.Size]byte {
	sums := make(map[string][sha256.Size]byte, len(p.found))
	for name, one := range p.found {
		sums[name] = one.sum
	}
	return sums
}

// get gives a file's tree.
func (p *parts) get(name string) (any, error) {
	if known, read := p.found[name]; read {
		return known.root, known.err
	}
	if len(p.found) >= maxParts {
		return nil, fmt.Errorf("the document has more than %d files", maxParts)
	}
	var one part
	data, err := p.read(name)
	if err == nil {
		one.sum = sha256.Sum256(data)
		one.root, err = parseValue(data)
	}
	if one.err = err; err == nil {
		p.settle(one.root, name)
	}
	p.found[name] = one
	return one.root, one.err
}

// settle makes the references of a file say which file they lead to, so that they can be followed from anywhere; those of the
// document itself to itself begin with #. One that leads out of the folder or origin becomes a schema that takes any value.
func (p *parts) settle(v any, file string) {
	switch v := v.(type) {
	case *ordered.Object:
		for _, m := range v.Members() {
			p.settle(m.Value, file)
		}
		ref := v.Text("$ref")
		if ref == "" {
			return
		}
		to, ok := p.resolve(ref, file)
		if !ok {
			*v = ordered.Object{}
		} else if to != ref {
			v.Set("$ref", to)
		}
	case []any:
		for _, item := range v {
			p.settle(item, file)
		}
	}
}

// resolve gives a reference as all files understand it; false: it leads to where nothing is read.
func (p *parts) resolve(ref, file string) (string, bool) {
	target, fragment, _ := strings.Cut(ref, "#")
	if target == "" {
		target = file
	} else if p.at != nil {
		base, err := url.Parse(file)
		if err != nil {
			return "", false
		}
		u, err := base.Parse(target)
		if err != nil || u.Scheme != p.at.Scheme || u.Host != p.at.Host || u.User != nil {
			return "", false
		}
		target = bareAddress(*u)
	} else {
		u, err := url.Parse(target)
		if err != nil || u.Scheme != "" || u.Host != "" || path.IsAbs(u.Path) || u.Path == "" {
			return "", false
		}
		target = path.Join(path.Dir(file), u.Path)
		if !filepath.IsLocal(filepath.FromSlash(target)) {
			return "", false
		}
	}
	if target == p.self {
		target = ""
	}
	return target + "#" + fragment, true
}

var errNothing = errors.New("there is nothing")

// pointed finds what a reference leads to. Where there is nothing, that is noted in lost, and it gives nil.
func (d *document) pointed(ref string) any {
	found, known := d.refs[ref]
	if !known {
		found = d.lookUp(ref)
		d.refs[ref] = found
	}
	if err, failed := found.(error); failed {
		d.lost = append(d.lost, fmt.Sprintf("the reference %s can't be followed: %v", ref, err))
		return nil
	}
	return found
}

// lookUp gives what a reference leads to, or an error.
func (d *document) lookUp(ref string) any {
	file, pointer, _ := strings.Cut(ref, "#")
	var at any = d.root
	if file != "" {
		root, err := d.parts.get(file)
		if err != nil {
			return err
		}
		at = root
	}
	if pointer == "" {
		return at
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if unescaped, err := url.PathUnescape(step); err == nil {
			step = unescaped
		}
		if at = child(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(step)); at == nil {
			return errNothing
		}
	}
	return at
}

// child is one step of a JSON pointer.
func child(v any, step string) any {
	switch v := v.(type) {
	case *ordered.Object:
		return v.Get(step)
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}
