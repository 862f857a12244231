package site

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
)

var refForm = regexp.MustCompile(`asset:[0-9a-f]{64}|/(?:uploads|files)/[0-9a-f]+/[0-9a-f]{64}`)

// refs lists the images that a value of JSON names, in the order of its members.
func (s *Server) refs(value any) []string {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var ids []string
	for _, form := range refForm.FindAllString(string(raw), -1) {
		if id, ok := layout.ImageID(form); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// prepare looks up images, all at once.
func (v *view) prepare(ctx context.Context, ids []string) error {
	var wanted []string
	for _, id := range ids {
		if _, known := v.pictures[id]; !known {
			v.pictures[id] = nil
			wanted = append(wanted, id)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	images, err := v.content.Images(ctx, store.ImageQuery{IDs: wanted})
	if err != nil {
		return err
	}
	for _, i := range images {
		v.pictures[i.ID] = v.server.picture(i)
	}
	return nil
}

// picture tells how an image is shown: in sizes, with its own, so that nothing moves while it loads.
func (s *Server) picture(i store.Image) *layout.Picture {
	p := &layout.Picture{Width: i.Width, Height: i.Height, Alt: i.Description, Credit: credit(i.Attribution)}
	hash := strings.TrimPrefix(i.ID, "asset:")
	var set []string
	for _, side := range sides {
		width := side
		if i.Height > i.Width {
			width = side * i.Width / i.Height
		}
		if i.Width > 0 && width >= i.Width {
			width = i.Width
		}
		address := s.path("media", hash, strconv.Itoa(side))
		set = append(set, fmt.Sprintf("%s %dw", address, max(width, 1)))
		p.Src = address
		if i.Width > 0 && width == i.Width || side == 1280 && i.Width == 0 {
			break
		}
	}
	p.Srcset = strings.Join(set, ", ")
	return p
}

// credit is the line that must be shown with a picture of somebody else's.
func credit(attribution map[string]any) template.HTML {
	html, _ := attribution["html"].(string)
	return template.HTML(clean().Sanitize(html))
}

// Picture gives an image that was looked up.
func (v *view) Picture(id string) *layout.Picture { return v.pictures[id] }
