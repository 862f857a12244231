package sitemenu

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/start"
	"github.com/signalbox/signalbox/platforms/chat/store"
	"github.com/signalbox/signalbox/platforms/chat/turn"
	"github.com/signalbox/signalbox/registry"
)

// Bounds of what /post makes of words, in characters.
const (
	titleLength = 100
	slugLength  = 60
)

// blog is the collection that posts of chats go to.
const blog = "blog"

// PostCommand makes a draft: its title is the first line, its cover the first photo; further ones stand below the text.
func PostCommand(ctx context.Context, t *turn.Turn) error {
	here, err := t.Site(ctx)
	if err != nil {
		return err
	}
	if here.Role == turn.NoRole {
		return t.Tell(ctx, "sitework.noRole")
	}
	title, text := titled(t.In.Text)
	if title == "" {
		return t.Tell(ctx, "sitework.howToPost")
	}
	slug, err := draftPost(ctx, t, title, text)
	var mendable *registry.Error
	if errors.As(err, &mendable) {
		return t.Refused(ctx, err)
	}
	if err != nil {
		return start.HintOr(ctx, t, nil, err)
	}
	m, err := item(ctx, t, t.Keyboard(store.KeyboardState{Site: store.SiteView{Site: here.Slug, Kind: "post", Item: slug}}))
	if err != nil {
		return t.Refused(ctx, err)
	}
	m.Text = chat.Join("\n\n", t.Say.Text("sitework.drafted"), m.Text)
	return t.Respond(ctx, m)
}

// titled takes the title off a text: its first line or, where that is long, its first sentence, which the text then keeps.
func titled(words string) (title, text string) {
	words = strings.TrimSpace(words)
	title, text, _ = strings.Cut(words, "\n")
	if title = strings.TrimSpace(title); chat.Plain(title).Len() > titleLength {
		return chat.InWords(chat.FirstSentence(title), titleLength), words
	}
	return title, strings.TrimSpace(text)
}

// draftPost creates the post and gives its slug. A message that is handled again, after a crash or where the platform let us not
// answer, finds the post that it became.
func draftPost(ctx context.Context, t *turn.Turn, title, text string) (string, error) {
	slug, err := slugFor(ctx, t, title)
	if err != nil {
		return "", err
	}
	if _, there, err := kindOf("post").find(ctx, t, slug); there || err != nil {
		return slug, err
	}
	content := map[string]any{}
	for _, file := range photosOf(t) {
		image, err := bring(ctx, t, file)
		if err != nil {
			return "", err
		}
		if content["cover"] == nil {
			content["cover"] = map[string]any{"url": image.ImageID, "alt": title}
			continue
		}
		text = strings.TrimSpace(text + "\n\n![](" + image.URL + ")")
	}
	content[body] = text
	_, err = use(ctx, t, "createPost", map[string]any{"collectionSlug": blog, "slug": slug, "title": title, "content": content})
	return slug, err
}

// photosOf are the pictures that came with the command, or those of the message it replies to.
func photosOf(t *turn.Turn) []chat.Attachment {
	files := t.In.Attachments
	if len(files) == 0 && t.In.ReplyTo != nil {
		files = t.In.ReplyTo.Attachments
	}
	var photos []chat.Attachment
	for _, f := range files {
		if f.Kind == chat.KindPhoto || strings.HasPrefix(f.MIMEType, "image/") {
			photos = append(photos, f)
		}
	}
	return photos
}

// bring puts a photo of a message into the site's media.
func bring(ctx context.Context, t *turn.Turn, file chat.Attachment) (answer, error) {
	ref, err := start.KeepFile(ctx, t, file)
	if err != nil {
		return answer{}, err
	}
	return use(ctx, t, "createImage", map[string]any{"buffer": ref, "filename": chat.FirstNonEmpty(file.Name, "photo.jpg")})
}

// slugFor gives a slug for a title that no post has yet, and notes that it is for this message: the same message gets the same.
func slugFor(ctx context.Context, t *turn.Turn, title string) (string, error) {
	marks := t.Services.Store.Marks
	whose, noted, err := marks.Of(ctx, store.MarkPosted, t.In.Platform, t.In.Chat.Chat, t.In.Message.ID)
	if err != nil || whose == t.Account.ID {
		return string(noted), err
	}
	base := slugOf(title)
	if base == "" {
		base = "post-" + strings.ToLower(store.NewID()[:8])
	}
	for n := 1; n <= 50; n++ {
		slug := base
		if n > 1 {
			slug = fmt.Sprint(base, "-", n)
		}
		if _, taken, err := kindOf("post").find(ctx, t, slug); err != nil {
			return "", err
		} else if !taken {
			return slug, marks.Set(ctx, store.MarkPosted, t.In.Platform, t.In.Chat.Chat, t.In.Message.ID, t.Account.ID, []byte(slug))
		}
	}
	return "", registry.Errorf(registry.CodeInvalidInput, "there are too many posts with the title %q: choose another", title)
}

// slugOf makes lower-case letters, digits and hyphens of a title. What has none in its script gives "".
func slugOf(title string) string {
	return strings.TrimRight(plain.Cut(plain.Address(title), slugLength), "-")
}
