package content

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/markdown"
	"github.com/signalbox/signalbox/providers/content/store"
)

// Bounds of the pictures from elsewhere that one text brings.
const (
	mostBrought = 20
	bringWait   = 20 * time.Second // for all of them
)

// bringer imports the pictures that texts show from elsewhere: nothing of a page comes from other hosts. What can't be had stays a link.
type bringer struct {
	p       *Provider
	v       visit
	brought map[string]string // ids by address; empty: it can't be had
	notes   []string
}

// bring imports the pictures in the members of content that are Markdown, by their names, and tells of those that stay links.
// A call that only looks brings none.
func (p *Provider) bring(ctx context.Context, v visit, content map[string]any, fields []layout.Field) (notes []string) {
	if v.call.Media == nil || v.look != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, bringWait)
	defer cancel()
	b := &bringer{p: p, v: v, brought: map[string]string{}}
	b.content(ctx, content, fields)
	return b.notes
}

// bodyField is the Markdown of posts and entries.
var bodyField = []layout.Field{{Name: "body", Type: layout.Markdown}}

func (b *bringer) content(ctx context.Context, content map[string]any, fields []layout.Field) {
	for _, f := range fields {
		switch value := content[f.Name].(type) {
		case string:
			if f.Type == layout.Markdown {
				content[f.Name] = markdown.Replace(value, func(a markdown.Address) string { return b.address(ctx, a) })
			}
		case []any:
			for _, item := range value {
				if object, ok := item.(map[string]any); ok {
					b.content(ctx, object, f.Fields)
				}
			}
		}
	}
}

// address gives the id of a picture from elsewhere, and leaves all other addresses.
func (b *bringer) address(ctx context.Context, a markdown.Address) string {
	u, err := url.Parse(a.To)
	if err != nil || !a.Image || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return a.To
	}
	id, known := b.brought[a.To]
	if !known {
		if id, err = b.one(ctx, u, a); err != nil {
			b.notes = append(b.notes, fmt.Sprintf("the picture %s stays a link: %v", short(a.To), err))
		}
		b.brought[a.To] = id
	}
	if id == "" {
		return a.To
	}
	return id
}

// one brings one picture.
func (b *bringer) one(ctx context.Context, u *url.URL, a markdown.Address) (string, error) {
	if len(b.brought) >= mostBrought {
		return "", fmt.Errorf("at most %d pictures of a text are brought at once", mostBrought)
	}
	file, _, err := b.v.call.Media.OpenMedia(ctx, u.String())
	if err != nil {
		return "", err
	}
	defer file.Close()
	name := path.Base("/" + strings.Trim(u.Path, "/"))
	id, err := b.p.KeepPicture(ctx, b.v.account, name, file)
	if err == nil {
		err = b.p.AddImage(ctx, b.v.Content, b.v.account, store.Image{ID: id, Filename: name, Description: a.Alt})
	}
	if err != nil {
		return "", err
	}
	return id, nil
}
