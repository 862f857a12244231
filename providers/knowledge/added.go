package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"

	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/registry"
)

// Wanted is a source to add. One of URL and Upload is given.
type Wanted struct {
	Name        string
	Title       string
	Description string
	URL         string // of a site, or its sitemap
	Upload      string // the reference of an uploaded file: a document, or a zip of documents
	Filename    string // of the upload; empty: its content tells what it is
	Owner       string // account; empty: it is the house's
	Access      Access // of the house's
	Uploader    string // account whose upload it is
}

// address is the upload with its name.
func (w Wanted) address() string {
	if w.Filename == "" {
		return w.Upload
	}
	return w.Upload + "/" + path.Base(w.Filename)
}

// mostOwn is how many sources a person can have.
const mostOwn = 20

// Add takes a source; its documents are read by the next Sync. What is wrong with it is a *registry.Error.
func (p *Provider) Add(ctx context.Context, w Wanted) (index.Source, error) {
	s := index.Source{
		ToolID: toolID(w.Name), Name: w.Name, Title: cmp.Or(w.Title, w.Name), Description: w.Description, Owner: w.Owner,
		Origin: index.OriginSite, Address: w.URL, Access: w.Access.Level, Readers: w.Access.Readers,
	}
	if w.Upload != "" {
		s.Origin, s.Address = index.OriginUpload, w.address()
	}
	if w.Owner != "" {
		// The end of an account's id is by chance; its begin is the time, which others have, too.
		s.ToolID, s.Access, s.Readers = toolID(w.Name+w.Owner[max(0, strings.LastIndexByte(w.Owner, '-')):]), index.AccessListed, nil
	}
	if err := p.checkWanted(ctx, w); err != nil {
		return s, err
	}
	before, there, err := p.known(ctx, s)
	if err != nil {
		return s, err
	}
	if there {
		s.ToolID = before.ToolID
	}
	id, err := p.cfg.Index.Save(ctx, s)
	if errors.Is(err, index.ErrTaken) {
		return s, registry.Say(registry.CodeInvalidInput, said.DocsSourceTaken).At("name")
	}
	if err != nil {
		return s, err
	}
	if s, _, err = p.known(ctx, s); err != nil { // one that was there keeps its id and how its name is written
		return s, err
	}
	return s, p.cfg.Index.Unread(ctx, id)
}

func (p *Provider) checkWanted(ctx context.Context, w Wanted) error {
	wrong := func(field, format string, args ...any) error {
		return &registry.Error{Code: registry.CodeInvalidInput, Field: field, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case !sourceName.MatchString(w.Name):
		return wrong("name", "expected a letter, then letters, digits, - and _, 64 at most")
	case (w.URL == "") == (w.Upload == ""):
		return wrong("url", "expected either url, the address of a site, or upload, the reference of a file from POST /api/uploads")
	case w.URL != "" && p.cfg.Guard == nil, w.Upload != "" && p.cfg.Upload == nil:
		return wrong("url", "such sources can't be added here")
	}
	if w.URL != "" {
		if _, err := newSite(p.cfg.Guard, p.cfg.Reader, w.URL); err != nil {
			return wrong("url", "%v", err)
		}
		if err := outbound.Check(ctx, p.cfg.Guard, w.URL); err != nil {
			return wrong("url", "%v", err)
		}
	} else if _, _, err := p.upload(ctx, w.Uploader, w.address()); err != nil {
		return wrong("upload", "%v", err)
	}
	if w.Owner == "" {
		return nil
	}
	mine, err := p.Owned(ctx, w.Owner)
	if err == nil && len(mine) >= mostOwn {
		return wrong("name", "you have %d sources, which is the limit; remove one first", len(mine))
	}
	return err
}

// Owned gives the sources of an account.
func (p *Provider) Owned(ctx context.Context, account string) ([]index.Source, error) {
	all, err := p.cfg.Index.All(ctx)
	var mine []index.Source
	for _, s := range all {
		if s.Owner == account {
			mine = append(mine, s)
		}
	}
	return mine, err
}

// Readable gives the sources that an account may read.
func (p *Provider) Readable(ctx context.Context, account string) ([]index.Source, error) {
	return p.cfg.Index.Sources(ctx, account)
}

// Remove deletes a source that was added: of an owner, or, with none, of the house. CodeLost: there is none.
func (p *Provider) Remove(ctx context.Context, name, owner string) error {
	s, there, err := p.known(ctx, index.Source{Name: name, Owner: owner})
	if err != nil {
		return err
	}
	if !there {
		return registry.Say(registry.CodeLost, said.DocsSourceMissing)
	}
	if s.Origin == index.OriginFolder || s.Origin == index.OriginFile {
		return registry.Say(registry.CodeInvalidInput, said.DocsSourceFolder)
	}
	if err := p.cfg.Index.Remove(ctx, s.ID); err != nil {
		return err
	}
	p.cfg.Changed(ctx)
	return nil
}

// readAdded reads sites again, and uploads that were not read yet.
func (p *Provider) readAdded(ctx context.Context) (changed bool, err error) {
	due, err := p.cfg.Index.Due(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range due {
		items, err := p.addedItems(ctx, s)
		if err == nil {
			var new bool
			_, new, err = p.refresh(ctx, s, items)
			changed = changed || new
		}
		if ctx.Err() != nil {
			return changed, ctx.Err()
		}
		if err != nil {
			p.cfg.Logger.Warn("a source of knowledge can't be read", "source", s.Name, "error", err)
			changed = true
			if err := p.cfg.Index.Failed(ctx, s.ID, err.Error()); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

func (p *Provider) addedItems(ctx context.Context, s index.Source) (iter.Seq2[index.Item, error], error) {
	if s.Origin == index.OriginSite {
		at, err := newSite(p.cfg.Guard, p.cfg.Reader, s.Address)
		return at.items(ctx), err
	}
	name, data, err := p.upload(ctx, s.Owner, s.Address)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(path.Ext(name), ".zip") {
		archive, err := unzip(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return Definition{}.items(archive, p.cfg.Reader), nil
	}
	return func(yield func(index.Item, error) bool) {
		yield(index.Item{Path: name, Hash: hashOf("", data), Read: func(ctx context.Context) (index.Document, error) {
			return read(ctx, p.cfg.Reader, name, data, func(anchor string) string { return Definition{}.address(name, anchor) })
		}}, nil)
	}, nil
}

// upload reads an uploaded file; account is empty for the house's.
func (p *Provider) upload(ctx context.Context, account, ref string) (name string, data []byte, err error) {
	content, info, err := p.cfg.Upload(ctx, account, ref)
	if err != nil {
		return "", nil, err
	}
	defer content.Close()
	if ending := endings[strings.Split(info.MIMEType, ";")[0]]; path.Ext(info.Name) == "" && ending != "" {
		info.Name += ending
	}
	if !document.Supported(info.Name) && !strings.EqualFold(path.Ext(info.Name), ".zip") {
		return "", nil, fmt.Errorf("%q: %w; expected .md, .html, .njk, .txt, .pdf, .docx, or a .zip of them", info.Name, document.ErrUnsupported)
	}
	data, err = io.ReadAll(io.LimitReader(content, maxUpload+1))
	if err == nil && len(data) > maxUpload {
		err = fmt.Errorf("has more than %d bytes", maxUpload)
	}
	return info.Name, data, err
}

const maxUpload = 128 << 20

// endings are those of the kinds of files, by what their content shows.
var endings = map[string]string{
	"application/pdf": ".pdf", "text/html": ".html", "text/plain": ".md", "text/markdown": ".md", "application/zip": ".zip",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
}
