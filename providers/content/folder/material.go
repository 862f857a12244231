package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/markdown"
	"github.com/signalbox/signalbox/providers/content/store"
)

// maxPicture bounds a picture, in bytes.
const maxPicture = 32 << 20

// material is what a document brings, with its pictures stored and its links led to where they belong.
type material struct {
	body   string
	cover  string        // id of an image; empty: it has none
	images []store.Image // that the site needs
}

// make stores the pictures of a document and gives its text with their ids. Where a picture of the folder is not there the document is
// broken; one from elsewhere stays a link when it can't be had.
func (r *run) make(ctx context.Context, d *document) (material, error) {
	var m material
	var failed error
	m.body = markdown.Replace(d.body, func(a markdown.Address) string {
		line := d.bodyLine - 1 + markdown.Line(d.body, a.At)
		if !a.Image {
			return r.link(d, a.To, line)
		}
		id, err := r.picture(ctx, d, a.To, a.Alt, line, &m)
		failed = errors.Join(failed, err)
		return id
	})
	if failed == nil && d.cover.address != "" {
		var id string
		if id, failed = r.picture(ctx, d, d.cover.address, d.cover.alt, d.cover.line, &m); id != d.cover.address || isImage(id) {
			m.cover = id
		}
	}
	return m, failed
}

func isImage(address string) bool {
	_, ok := layout.ImageID(address)
	return ok
}

// picture stores a picture and gives its id, or the address where it stays what it is.
func (r *run) picture(ctx context.Context, d *document, address, alt string, line int, m *material) (string, error) {
	if isImage(address) {
		return address, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return address, faultAt(line, "the address %q of a picture can't be read", address)
	}
	name, foreign := "", u.Scheme != "" || u.Host != ""
	if !foreign {
		if name = r.find(d.file, u.Path); name == "" {
			return address, faultAt(line, "the picture %s is not there", address)
		}
	}
	id, err := r.stored(ctx, name, address)
	switch {
	case ctx.Err() != nil:
		return address, ctx.Err()
	case err != nil && foreign:
		d.notes = append(d.notes, fmt.Sprintf("line %d: the picture %s stays a link: %v", line, address, err))
		return address, nil
	case err != nil:
		return address, faultAt(line, "the picture %s: %v", address, err)
	}
	m.images = append(m.images, store.Image{ID: id, Filename: path.Base(u.Path), Description: alt})
	return id, nil
}

// kept is what became of a picture when it was asked for first.
type kept struct {
	id  string
	err error
}

// stored gives the id of a picture: of a file of the folder or, without a name, of an address elsewhere.
func (r *run) stored(ctx context.Context, name, address string) (string, error) {
	key := cmp.Or(name, address)
	if one, known := r.pictures[key]; known {
		return one.id, one.err
	}
	var one kept
	var content io.ReadCloser
	if name == "" {
		content, one.err = r.Fetch(ctx, address)
	} else {
		content, one.err = r.open(name, maxPicture)
	}
	if one.err == nil {
		one.id, one.err = r.Keep(ctx, content, path.Base(key))
		content.Close()
	}
	r.pictures[key] = one
	return one.id, one.err
}

// open opens a file of the folder that has at most so many bytes.
func (r *run) open(name string, most int64) (fs.File, error) {
	file, err := r.files.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > most {
		err = faultAt(0, "it has %d bytes: at most %d are taken", info.Size(), most)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// roots are the folders that other programs serve as the top of a site.
var roots = []string{"", "static", "public", "assets"}

// find gives the file that an address in another file means, or "".
func (r *run) find(from, address string) string {
	names := []string{path.Join(path.Dir(from), address)}
	if strings.HasPrefix(address, "/") {
		names = nil
		for _, root := range roots {
			names = append(names, path.Join(root, strings.TrimLeft(address, "/")))
		}
	}
	for _, name := range names {
		if info, err := fs.Stat(r.files, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// link gives the path of what a link to another file leads to.
func (r *run) link(d *document, address string, line int) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return address
	}
	name := path.Join(path.Dir(d.file), u.Path)
	if strings.HasPrefix(u.Path, "/") {
		name = path.Clean(strings.TrimLeft(u.Path, "/"))
	}
	for _, end := range []string{"", ".md", ".markdown", "/index.md", "/_index.md"} {
		if to, known := r.addresses[path.Join(name+end)]; known {
			if u.Fragment != "" {
				to += "#" + u.Fragment
			}
			return to
		}
	}
	if !strings.HasPrefix(u.Path, "/") || isMarkdown(u.Path) {
		d.notes = append(d.notes, fmt.Sprintf("line %d: the link to %s leads to nothing that was imported", line, address))
	}
	return address
}
