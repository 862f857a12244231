package sitemenu

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/runs"
)

// recent is how many posts and how many pages are offered for a result.
const recent = 6

// pictureSlot is where a picture can stand: a post's cover, or a field of a page's section. Keyboards keep it as one text.
type pictureSlot struct{ kind, key, field string }

func (p pictureSlot) String() string { return p.kind + " " + p.key + " " + p.field }

func placeOf(text string) pictureSlot {
	parts := append(strings.SplitN(text, " ", 3), "", "", "")
	return pictureSlot{parts[0], parts[1], parts[2]}
}

// PressPlace offers the places that a result's picture can be put into.
func PressPlace(ctx context.Context, t *turn.Turn, k store.Keyboard) error {
	if t.Services.Site == nil {
		return t.Alert(ctx, "press.tooOld")
	}
	return t.WithResult(ctx, k, func(run runs.Run) error {
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		here, err := t.Site(ctx)
		if err != nil {
			return err
		}
		offer := t.Keyboard(store.KeyboardState{Run: run.ID, Of: k.State.Of, Site: store.SiteView{Site: here.Slug}})
		options, err := places(ctx, t, &offer.State)
		if err != nil {
			return t.Refused(ctx, err)
		}
		if len(options) == 0 {
			return t.Tell(ctx, "sitework.noPlace")
		}
		if err := t.Services.Store.Keyboards.Save(ctx, offer); err != nil {
			return err
		}
		m := t.Answering(t.Say.Text("sitework.where"))
		t.Offer(&m, offer, "into", "sitework.choose", options)
		_, err = t.Post(ctx, m)
		return err
	})
}

// places lists the latest posts, and those of the latest pages whose sections show a picture; state keeps what they are.
func places(ctx context.Context, t *turn.Turn, state *store.KeyboardState) (options []chat.MenuOption, err error) {
	posts, err := latest(ctx, t, kindOf("post"))
	if err != nil {
		return nil, err
	}
	for _, post := range posts {
		state.Site.Items = append(state.Site.Items, pictureSlot{"post", post.Slug, ""}.String())
		options = append(options, chat.MenuOption{Label: t.Say.Line("sitework.cover", "title", chat.Brief(post.title(), 40))})
	}
	fields, err := pictureFields(ctx, t)
	if err != nil {
		return nil, err
	}
	pages, err := latest(ctx, t, kindOf("page"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		sections, err := use(ctx, t, "getSection", map[string]any{"pageId": page.ID})
		if err != nil {
			return nil, err
		}
		for i, s := range sections.Items {
			if field := fields[s.TemplateKey]; field != "" && len(options) < 2*recent {
				state.Site.Items = append(state.Site.Items, pictureSlot{"section", s.PageSectionID, field}.String())
				options = append(options, chat.MenuOption{Label: t.Say.Line("sitework.section", "title", chat.Brief(page.title(), 30), "n", i+1, "template", s.TemplateKey)})
			}
		}
	}
	return options, nil
}

// latest are the things of a kind that were changed last.
func latest(ctx context.Context, t *turn.Turn, k kind) ([]thing, error) {
	all, err := k.list(ctx, t)
	slices.SortStableFunc(all, func(a, b thing) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all[:min(len(all), recent)], err
}

// pictureFields gives the field for a picture of each template that has one.
func pictureFields(ctx context.Context, t *turn.Turn) (map[string]string, error) {
	templates, err := use(ctx, t, "getSectionTemplate", map[string]any{"all": true})
	fields := map[string]string{}
	for _, template := range templates.Items {
		for _, f := range template.Fields {
			if f.Type == "image" && fields[template.Key] == "" {
				fields[template.Key] = f.Name
			}
		}
	}
	return fields, err
}

// PressInto puts the picture of a result into the place that was chosen, and shows where it stands now.
func PressInto(ctx context.Context, t *turn.Turn, k store.Keyboard, n int) error {
	if n < 0 || n >= len(k.State.Site.Items) {
		return t.Alert(ctx, "press.tooOld")
	}
	return t.WithResult(ctx, k, func(run runs.Run) error {
		files := show.ResultFiles(run)
		if len(files) == 0 {
			return t.Alert(ctx, "press.tooOld")
		}
		if err := t.Acknowledge(ctx); err != nil {
			return err
		}
		view, err := put(ctx, t, files[0], show.PromptOf(run), placeOf(k.State.Site.Items[n]))
		if err != nil {
			return t.Refused(ctx, err)
		}
		view.Site = k.State.Site.Site
		k.State = store.KeyboardState{Site: view}
		m, err := item(ctx, t, k)
		if err != nil {
			return t.Refused(ctx, err)
		}
		m.Text = chat.Join("\n\n", t.Say.Text("sitework.placed"), m.Text)
		_, err = t.Change(ctx, t.In.Message, m)
		return err
	})
}

// put brings a picture into the site and to its place, and gives the view of what it stands in.
func put(ctx context.Context, t *turn.Turn, file chat.Attachment, words string, at pictureSlot) (store.SiteView, error) {
	image, err := bring(ctx, t, file)
	if err != nil {
		return store.SiteView{}, err
	}
	if at.kind == "post" {
		cover := map[string]any{"url": image.ImageID, "alt": chat.Brief(words, 200)}
		_, err = use(ctx, t, "updatePost", map[string]any{"slug": at.key, "content": map[string]any{"cover": cover}, "featuredImage": image.ImageID})
		return store.SiteView{Kind: "post", Item: at.key}, err
	}
	changed, err := use(ctx, t, "updateSection", map[string]any{"pageSectionId": at.key, "imageId": image.ImageID, "imageField": at.field})
	return store.SiteView{Kind: "page", Item: changed.Section.PageID}, err
}
