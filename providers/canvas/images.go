package canvas

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // the formats of pictures
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"strings"

	_ "golang.org/x/image/webp"

	"github.com/signalbox/signalbox/internal/metadata"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// Bounds of pictures that fills show.
const (
	maxImageBytes  = 32 << 20
	maxImagePixels = 50_000_000
)

// pictures bring pictures in.
func pictures() []operation {
	return []operation{
		{id: "image-generator", name: "imageGenerator", title: "Image generator", kind: function, reads: true, inputs: "prompt! width height", picture: "prompt", run: imageGenerator, failure: "Failed to generate image",
			description: "Makes a picture from words and gives its imageId, which every drawing tool takes as backgroundImage. Use it for photos and illustrations in a design."},
		{id: "generate-image", name: "generateImage", title: "Generate image", kind: drawing, inputs: "shapeId! imagePrompt! width height", picture: "imagePrompt", run: fillMade, failure: "Failed to generate image",
			description: "Makes a picture from words and fills a shape with it. Use it for a shape that is already there."},
		{id: "set-image-from-url", name: "setImageFromUrl", title: "Set image", kind: drawing, inputs: "shapeId! imageUrl!", picture: "imageUrl", run: fillMade, failure: "Failed to set image",
			description: "Fills a shape with a picture from an address. Use it for logos and photos that are on the web."},
	}
}

// imageInputs are those of tools that make pictures.
type imageInputs struct {
	ShapeID string  `json:"shapeId"`
	Prompt  string  `json:"prompt"`
	Image   string  `json:"imagePrompt"`
	URL     string  `json:"imageUrl"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
}

// imageGenerator gives the picture that was made before the call looked at its scene.
func imageGenerator(t *turn) (reply, error) { return *t.made, nil }

// prepare does what takes long, before a scene is locked: it makes or fetches the picture that the call is about.
func (t *turn) prepare(o operation) error {
	in, err := read[imageInputs](t)
	if err != nil {
		return err
	}
	prompt := in.Prompt + in.Image
	switch {
	case o.picture == "imageUrl":
		content, err := t.fetch(in.URL)
		if err != nil {
			return scene.Wrong("imageUrl", "the picture can't be taken: %v", err)
		}
		ref, _, err := t.keep(content)
		t.made = &reply{payload: map[string]any{"imageId": ref}}
		return err
	case strings.TrimSpace(prompt) == "":
		return scene.Wrong(o.picture, "is empty")
	}
	made, err := t.paint(prompt, in.Width, in.Height)
	t.made = &made
	return err
}

// paint makes a picture and gives its id.
func (t *turn) paint(prompt string, width, height float64) (reply, error) {
	made, err := t.Painter.Paint(t.ctx, t.call, prompt, int(width), int(height))
	if err != nil {
		return reply{}, err
	}
	ref, info, err := t.keep(made.Content)
	if err != nil {
		return reply{}, err
	}
	r := reply{message: "Image generated", usage: made.Usage, payload: map[string]any{"imageId": ref, "width": info.Width, "height": info.Height}}
	if made.Note != "" {
		r.message += ": " + made.Note
	}
	return r, nil
}

// keep stores a picture for the account.
func (t *turn) keep(content []byte) (string, image.Config, error) {
	info, format, err := checkImage(content)
	if err != nil {
		return "", info, err
	}
	ref, err := t.Keep(t.ctx, t.account, bytes.NewReader(content), "drawing."+format)
	return ref, info, err
}

func checkImage(content []byte) (image.Config, string, error) {
	info, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return info, "", fmt.Errorf("it is no PNG, JPEG, WebP or GIF")
	}
	if info.Width*info.Height > maxImagePixels || info.Width*info.Height == 0 {
		return info, "", fmt.Errorf("it has %d by %d pixels, at most %d million are taken", info.Width, info.Height, maxImagePixels/1_000_000)
	}
	if metadata.Orientation(content) >= 5 { // it lies on its side
		info.Width, info.Height = info.Height, info.Width
	}
	return info, format, nil
}

// fillMade fills a shape with the picture that was made or fetched for it.
func fillMade(t *turn) (reply, error) {
	in, err := read[imageInputs](t)
	if err != nil {
		return reply{}, err
	}
	ref, _ := t.made.payload["imageId"].(string)
	r, err := t.fillWith(in.ShapeID, ref)
	r.usage = t.made.usage
	return r, err
}

// fillWith fills a shape with a picture, and with nothing else.
func (t *turn) fillWith(shapeID, ref string) (reply, error) {
	sh, err := t.scene.Modify("", shapeID, scene.Props{Fills: &[]scene.Fill{{Opacity: 1, Image: &scene.Image{ID: ref, KeepAspectRatio: true}}}}, nil)
	if err != nil {
		return reply{}, err
	}
	r := t.about(sh, "%q is filled with the picture", sh.Name)
	r.payload["imageId"] = ref
	return r, nil
}

// fetch reads a picture behind a reference, which has to be the account's own, or an address.
func (t *turn) fetch(ref string) ([]byte, error) {
	if strings.HasPrefix(ref, assetScheme) {
		if err := t.owned(ref); err != nil {
			return nil, err
		}
	} else if !strings.HasPrefix(ref, "https://") && !strings.HasPrefix(ref, "http://") {
		return nil, fmt.Errorf("it is %q, expected an https:// address or an upload's reference", shorten(ref))
	}
	return t.bytesOf(t.ctx, ref)
}

// assetScheme begins references to stored files.
const assetScheme = "asset:"

func (p *Provider) bytesOf(ctx context.Context, ref string) ([]byte, error) {
	body, _, err := p.Media.OpenMedia(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, maxImageBytes+1))
	if err == nil && len(content) > maxImageBytes {
		err = fmt.Errorf("it has more than %d MB", maxImageBytes>>20)
	}
	return content, err
}

// image opens a stored picture for drawing.
func (p *Provider) image(ctx context.Context, ref string) (image.Image, error) {
	content, err := p.bytesOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	if _, _, err := checkImage(content); err != nil {
		return nil, err
	}
	img, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return metadata.Upright(img, content), nil
}

// file gives a stored picture as it is.
func (p *Provider) file(ctx context.Context, ref string) ([]byte, string, error) {
	content, err := p.bytesOf(ctx, ref)
	if err != nil {
		return nil, "", err
	}
	_, format, err := checkImage(content)
	return content, "image/" + format, err
}

// owned refuses a file that is not the account's. Anyone who knows the hash of a file knows nothing more of it by that.
func (t *turn) owned(ref string) error {
	ok, err := t.Owned(t.ctx, t.account, ref)
	if err == nil && !ok {
		err = registry.Say(registry.CodeInvalidInput, said.DrawNoPicture, "ref", shorten(ref))
	}
	return err
}

// checkImages looks at the pictures that were put into shapes, and fetches those behind addresses, so that a drawing keeps what it shows.
func (t *turn) checkImages(change scene.Change) error {
	for id, after := range change.After {
		if after == nil {
			continue
		}
		known := map[string]bool{}
		if before := change.Before[id]; before != nil {
			for _, ref := range before.Images() {
				known[ref] = true
			}
		}
		for i, f := range after.Fills {
			if f.Image == nil || known[f.Image.ID] {
				continue
			}
			if err := t.adopt(after, i, f, t.inScene(f.Image.ID, change)); err != nil {
				return scene.Wrong(fmt.Sprintf("fills[%d].fillImage (backgroundImage)", i), "%v", err)
			}
		}
	}
	return nil
}

// inScene tells whether a picture was in the scene before.
func (t *turn) inScene(ref string, change scene.Change) bool {
	for _, sh := range t.scene.All() {
		if _, changed := change.Before[sh.ID]; changed {
			continue
		}
		if slices.Contains(sh.Images(), ref) {
			return true
		}
	}
	return false
}

// adopt takes a picture into a shape's fill, with what is known of it. One that the scene shows already needs not be the account's any more.
func (t *turn) adopt(sh *scene.Shape, i int, f scene.Fill, shown bool) error {
	if !strings.HasPrefix(f.Image.ID, assetScheme) {
		return fmt.Errorf("%q is no picture's id: set-image-from-url takes addresses", shorten(f.Image.ID))
	}
	if !shown {
		if err := t.owned(f.Image.ID); err != nil {
			return err
		}
	}
	content, err := t.bytesOf(t.ctx, f.Image.ID)
	if err != nil {
		return err
	}
	info, format, err := checkImage(content)
	if err != nil {
		return err
	}
	picture := *f.Image
	picture.Width, picture.Height, picture.MIMEType = info.Width, info.Height, "image/"+format
	fills := slices.Clone(sh.Fills)
	fills[i].Image = &picture
	sh.Fills = fills
	return nil
}
