package content

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/content/layout"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// usualImages is how many images a search or list gives where nobody says, mostImages the most.
const (
	usualImages = 20
	mostImages  = 200
	maxImage    = 32 << 20 // bytes
)

func imageTools() []tool {
	tags, categories := several(textInput("tags", "Words that it is found by.")), several(textInput("categories", "Groups that it belongs to."))
	return []tool{
		{
			id: "getImage", title: "Get images", noun: "image", names: "id", capability: registry.CapabilityRead, role: store.Author, answers: gives, do: getImage,
			about: "Get images of this site by id, by query (what they show, in words) or all; never those of services. limit and status narrow. Returns success, count and items with id, relative url, description and tags with describedBy (name, model or given), and the mode of the search: words, or words and vectors.",
			inputs: registry.InputSchema{
				textInput("id", "The image's id, or its /uploads/ address."), textInput("query", "What the image shows, in a few words."), flagInput("all", "true gives all, newest first."),
				wholeInput("limit", "At most so many, "+strconv.Itoa(usualImages)+" where none is given.", 1), choiceInput("status", "Only images in this state.", "processing", "completed", "failed"),
			},
		},
		{
			id: "createImage", title: "Create an image", noun: "image", names: "buffer", capability: registry.CapabilityWrite, role: store.Author, answers: changes, do: createImage,
			about: "Create an image of this site from a file: PNG, JPEG, WebP or GIF of at most 32 MB. Its description and tags come from its name and what is known of it, soon after from a model that looks at it where one is connected; updateImage betters them. Returns imageId and a relative url.",
			inputs: registry.InputSchema{
				need(registry.InputField{Name: "buffer", Type: registry.TypeImage, Description: "The picture."}), textInput("filename", "Its name, such as mugs-on-a-shelf.jpg; words in it are found."), textInput("sessionId", "The conversation that it belongs to."),
			},
		},
		{
			id: "updateImage", title: "Update an image", noun: "image", names: "id", capability: registry.CapabilityWrite, role: store.Author, answers: changes, do: updateImage, preview: looking(updateImage),
			about:  "Update what is known of an image by id: description, tags or categories. Merges: what is not sent stays. Searches find it by the new words at once. Returns the image.",
			inputs: registry.InputSchema{need(textInput("id", "The image's id, or its /uploads/ address.")), textInput("description", "What it shows, in a sentence; it is its alternative text as well."), tags, categories},
		},
		imageDeletion.tool("deleteImage", "Delete images", "Delete images by ids. The first call shows what would go and where each is used; confirmed then deletes exactly that, all or none, and takes them out of what shows them. Returns requiresConfirmation with items, then deleted."),
	}
}

// imageItem is an image as tools tell it.
type imageItem struct {
	store.Image
	URL string `json:"url"` // relative
}

func (p *Provider) imageItems(images []store.Image) []imageItem {
	items := make([]imageItem, len(images))
	for i, image := range images {
		items[i] = imageItem{image, p.cfg.Link(image.ID, cmp.Or(image.Filename, "image"))}
	}
	return items
}

func getImage(p *Provider, ctx context.Context, v visit) (any, error) {
	if err := v.args.oneScope("getImage", "id", "query", "all"); err != nil {
		return nil, err
	}
	q := store.ImageQuery{Status: v.args.text("status"), Limit: usualImages}
	if limit := v.args.whole("limit"); limit != nil {
		q.Limit = min(max(*limit, 1), mostImages)
	}
	if query := v.args.text("query"); query != "" {
		images, mode, err := p.searchImages(ctx, v, query, q)
		answer := found(p.imageItems(images))
		answer.Mode = mode
		return answer, err
	}
	if v.args.has("id") {
		id, err := v.imageID("id")
		if err != nil {
			return nil, err
		}
		q.ID = id
	}
	images, err := v.Images(ctx, q)
	return found(p.imageItems(images)), err
}

// imageID reads an input that names an image by its id or address.
func (v visit) imageID(name string) (string, error) {
	id, ok := layout.ImageID(v.args.text(name))
	if !ok {
		return "", &registry.Error{Code: registry.CodeInvalidInput, Field: name, Message: fmt.Sprintf("%s: %q is no id of an image: find it with getImage", name, short(v.args.text(name)))}
	}
	return id, nil
}

// haveImages refuses ids of images that the site does not have.
func (p *Provider) haveImages(ctx context.Context, v visit, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	there, err := v.Images(ctx, store.ImageQuery{IDs: ids})
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(there, func(i store.Image) bool { return i.ID == id }) {
			return registry.Say(registry.CodeInvalidInput, said.SiteNoImage, "id", id).At("imageId")
		}
	}
	return nil
}

// changedImage is what creating and updating an image answers.
type changedImage struct {
	Success bool      `json:"success"`
	ImageID string    `json:"imageId"`
	URL     string    `json:"url"`
	Image   imageItem `json:"image"`
}

func (p *Provider) tellImage(ctx context.Context, v visit, id string) (any, error) {
	images, err := v.Images(ctx, store.ImageQuery{ID: id})
	if err == nil && len(images) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	item := p.imageItems(images)[0]
	return changedImage{true, id, item.URL, item}, nil
}

// pictures are the types that browsers show and nothing can run in.
var pictures = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// KeepPicture stores a picture of an account, empty: nobody's, and gives its id. What is no picture is refused.
func (p *Provider) KeepPicture(ctx context.Context, account, name string, content io.Reader) (string, error) {
	id, info, err := p.cfg.Files.Keep(ctx, content, assets.Meta{Name: name, Owner: account, Kind: assets.Upload})
	if err != nil {
		return "", err
	}
	kind, _, _ := strings.Cut(info.MIMEType, ";")
	if !slices.Contains(pictures, kind) || info.Bytes > maxImage {
		return "", registry.Say(registry.CodeInvalidInput, said.SiteFileKind, "kind", kind, "n", info.Bytes, "most", maxImage).At("buffer")
	}
	return id, nil
}

func createImage(p *Provider, ctx context.Context, v visit) (any, error) {
	if v.call.Media == nil {
		return nil, registry.Say(registry.CodeUnavailable, said.SiteNoFiles)
	}
	file := v.args.text("buffer")
	if _, err := assets.ParseRef(file); err == nil {
		if owned, err := p.cfg.Owned(ctx, v.account, file); err != nil || !owned {
			return nil, cmp.Or[error](err, registry.Say(registry.CodeInvalidInput, said.FileForeign).At("buffer"))
		}
	}
	content, info, err := v.call.Media.OpenMedia(ctx, file)
	if err != nil {
		return nil, registry.Say(registry.CodeInvalidInput, said.SiteFileUnread).At("buffer").Because(err)
	}
	defer content.Close()
	name := cmp.Or(path.Base("/"+v.args.text("filename")), info.Name)
	if name == "/" {
		name = info.Name
	}
	id, err := p.KeepPicture(ctx, v.account, name, content)
	if err != nil {
		return nil, err
	}
	if err := p.AddImage(ctx, v.Content, v.account, store.Image{ID: id, Filename: name, SessionID: v.args.text("sessionId")}); err != nil {
		return nil, err
	}
	return p.tellImage(ctx, v, id)
}

// AddImage adds a stored picture to a site. Where it has no description, its name and what is known of its making give one.
func (p *Provider) AddImage(ctx context.Context, c store.Content, account string, image store.Image) error {
	prompt := ""
	if image.Attribution == nil && account != "" { // else somebody else made it
		var tool string
		var err error
		if prompt, tool, err = p.cfg.Made(ctx, account, image.ID); err != nil {
			return err
		}
		image.Origin = strings.TrimSpace(prompt + " " + tool)
	}
	image.DescribedBy = store.Given
	if image.Description == "" {
		image.DescribedBy, image.Unseen = store.ByName, p.cfg.Looks
		image.Description = cmp.Or(prompt, nameWords(image.Filename))
	}
	if len(image.Tags) == 0 {
		image.Tags = tagsOf(nameWords(image.Filename) + " " + prompt)
	}
	image.Words = imageWords(image)
	return c.PutImage(ctx, image)
}

// imageWords is all that an image is found by.
func imageWords(i store.Image) string {
	return expanded(strings.Join([]string{nameWords(i.Filename), i.Description, strings.Join(i.Tags, " "), strings.Join(i.Categories, " "), i.Origin}, " "))
}

func updateImage(p *Provider, ctx context.Context, v visit) (any, error) {
	id, err := v.imageID("id")
	if err != nil {
		return nil, err
	}
	err = v.changeImage(ctx, id, func(i *store.Image) error {
		v.args.setText(&i.Description, "description")
		if v.args.has("tags") {
			i.Tags = v.args.texts("tags")
		}
		if v.args.has("description") || v.args.has("tags") {
			i.DescribedBy = store.Given
		}
		if v.args.has("categories") {
			i.Categories = v.args.texts("categories")
		}
		i.Words = imageWords(*i)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.tellImage(ctx, v, id)
}

func touchImage(i store.Image) registry.Touch {
	return registry.Touch{Kind: "image", ID: i.ID, Title: cmp.Or(i.Filename, i.Description), Version: strconv.FormatInt(i.Version, 10)}
}

var imageDeletion = deletion{
	noun: "image", question: said.SiteDeleteImages, key: "ids", note: "What shows an image goes on without it.",
	find: func(ctx context.Context, v visit, keys []string) ([]thing, error) {
		ids := map[string]string{}
		for _, key := range keys {
			if id, ok := layout.ImageID(key); ok {
				ids[id] = key
			}
		}
		wanted := slices.Collect(maps.Keys(ids))
		images, err := v.Images(ctx, store.ImageQuery{IDs: append([]string{}, wanted...)})
		if err != nil {
			return nil, err
		}
		uses, err := v.ImageUses(ctx, wanted)
		if err != nil {
			return nil, err
		}
		things := map[string]thing{}
		for _, i := range images {
			used := []store.ImageUse{}
			for _, use := range uses {
				if use.Image == i.ID {
					used = append(used, use)
				}
			}
			things[ids[i.ID]] = thing{
				Touch: registry.Touch{Kind: "image", ID: i.ID, Title: cmp.Or(i.Filename, i.Description), Version: strconv.FormatInt(i.Version, 10) + "/" + strconv.Itoa(len(used))},
				shown: map[string]any{"id": i.ID, "title": cmp.Or(i.Filename, i.Description), "usedIn": used},
			}
		}
		return inOrder(keys, things, "image", "id"), nil
	},
	delete: func(ctx context.Context, v visit, shown []registry.Touch) error {
		rows := slices.Clone(shown)
		for i, t := range rows {
			rows[i].Version, _, _ = strings.Cut(t.Version, "/")
		}
		return v.DeleteImages(ctx, rows)
	},
}
