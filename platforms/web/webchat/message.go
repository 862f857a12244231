package webchat

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/registry"
)

// message is a line of a conversation as it is kept.
type message struct {
	ID      int64
	Change  int64
	Mine    bool
	Deleted bool
	At      time.Time
	ReplyTo int64 // 0: none
	Body    body
	Media   []media
	Quoted  *body // what ReplyTo says, where it is still there
}

// body is what a message says.
type body struct {
	Text    chat.Text       `json:"text,omitempty"`
	Buttons [][]chat.Button `json:"buttons,omitempty"`
	Menus   []chat.Menu     `json:"menus,omitempty"`
}

// media is a file of a message. Its content is in the house's store.
type media struct {
	Kind     chat.MediaKind `json:"kind"`
	Ref      registry.Media `json:"ref"`
	Name     string         `json:"name,omitempty"`
	MIMEType string         `json:"mimeType,omitempty"`
	Bytes    int64          `json:"bytes,omitempty"`
	Width    int            `json:"width,omitempty"`
	Height   int            `json:"height,omitempty"`
	Alt      string         `json:"alt,omitempty"`
	Spoiler  bool           `json:"spoiler,omitempty"`
	Gone     bool           `json:"gone,omitempty"` // deleted from an album
	Owner    string         `json:"-"`              // whose conversation it is in
}

// bodyOf is what a message says, without its files.
func bodyOf(m chat.Message) body { return body{Text: m.Text, Buttons: m.Buttons, Menus: m.Menus} }

// keep sees to it that the files of a message are in the store.
func (a *Adapter) keep(ctx context.Context, chatID string, items []chat.Media) ([]media, error) {
	var kept []media
	for _, item := range items {
		if item.Bytes > a.cfg.MaxFile {
			return nil, fmt.Errorf("webchat: %s: %w", item.FileName, chat.ErrTooLarge)
		}
		m := media{
			Kind: item.Kind, Ref: item.Ref, Name: item.FileName, MIMEType: item.MIMEType, Bytes: item.Bytes,
			Width: item.Width, Height: item.Height, Alt: item.Alt, Spoiler: item.Spoiler,
		}
		if item.Ref == "" || !a.has(ctx, item.Ref) {
			put := func(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error) {
				return a.cfg.Files.Keep(ctx, r, assets.Meta{Name: name, Owner: chatID, Kind: assets.Result})
			}
			if err := a.store(ctx, &m, item.Open, put); err != nil {
				return nil, err
			}
		}
		kept = append(kept, m)
	}
	return kept, nil
}

// has reports whether the store has a file already, as it has the results of runs.
func (a *Adapter) has(ctx context.Context, ref registry.Media) bool {
	r, _, err := a.cfg.Files.OpenMedia(ctx, ref)
	if err != nil {
		return false
	}
	r.Close()
	return true
}

// putter keeps content under a name.
type putter func(ctx context.Context, r io.Reader, name string) (registry.Media, registry.MediaInfo, error)

// store puts a file into the store and notes what is learned of it there.
func (a *Adapter) store(ctx context.Context, m *media, open func(context.Context) (io.ReadCloser, error), put putter) error {
	r, err := open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	bounded := &io.LimitedReader{R: r, N: a.cfg.MaxFile + 1}
	ref, info, err := put(ctx, bounded, m.Name)
	if err != nil {
		return err
	}
	if bounded.N == 0 {
		return fmt.Errorf("webchat: %s: %w", m.Name, chat.ErrTooLarge)
	}
	m.Ref, m.Bytes = ref, info.Bytes
	m.MIMEType = cmp.Or(m.MIMEType, info.MIMEType)
	if m.Width == 0 {
		m.Width, m.Height = info.Width, info.Height
	}
	return nil
}

// attachments are the files of a message as the Router takes them.
func (m message) attachments() []chat.Attachment {
	var list []chat.Attachment
	for _, f := range m.Media {
		if !f.Gone {
			list = append(list, chat.Attachment{
				Kind: f.Kind, Name: f.Name, MIMEType: f.MIMEType, Bytes: f.Bytes, Width: f.Width, Height: f.Height, Handle: f.Ref,
			})
		}
	}
	return list
}

// ref finds a message again. The items of an album are told apart by their number.
func (m message) ref(chatID string, item int) chat.MessageRef {
	id := strconv.FormatInt(m.ID, 10)
	if item > 0 {
		id += "/" + strconv.Itoa(item)
	}
	return chat.MessageRef{Place: chat.Place{Chat: chatID}, ID: id, Media: len(m.Media) > 0}
}

// parseID reads a reference's id.
func parseID(text string) (id int64, item int, err error) {
	text, rest, album := strings.Cut(text, "/")
	if id, err = strconv.ParseInt(text, 10, 64); err == nil && album {
		item, err = strconv.Atoi(rest)
	}
	if err != nil || id <= 0 || item < 0 {
		return 0, 0, fmt.Errorf("webchat: %q is no message: %w", text, chat.ErrGone)
	}
	return id, item, nil
}
