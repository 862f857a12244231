package show

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/platforms/chat"
)

// Platform is an adapter together with what it can do, and keeps messages within that.
type Platform struct {
	chat.Adapter
	Caps chat.Capabilities
}

func newPlatform(a chat.Adapter) *Platform { return &Platform{Adapter: a, Caps: a.Capabilities()} }

// In is the platform as one of its chats is: some take larger files than others. Where there is one message, nothing can be
// done from under a result: the new one would take its place.
func (s *Platform) In(c chat.Chat) *Platform {
	here := *s
	if c.Inline != nil {
		here.Caps.Buttons.Rows, here.Caps.AlbumMax = 0, 0
		return &here
	}
	if c.UploadLimit <= 0 {
		return s
	}
	here.Caps.Uploads = make(map[chat.MediaKind]int64, len(s.Caps.Uploads))
	for kind := range s.Caps.Uploads {
		here.Caps.Uploads[kind] = c.UploadLimit
	}
	return &here
}

// Post sends a message of at most one item and gives its reference.
func (s *Platform) Post(ctx context.Context, m chat.Message) (chat.MessageRef, error) {
	refs, err := s.Send(ctx, s.Fit(m))
	if err != nil || len(refs) == 0 {
		return chat.MessageRef{}, err
	}
	return refs[0], nil
}

// Change edits a message; where that is impossible a new one takes its place.
func (s *Platform) Change(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	if ref.IsZero() || !s.Caps.Edit {
		return s.Post(ctx, m)
	}
	changed, err := s.Edit(ctx, ref, s.Fit(m))
	if errors.Is(err, chat.ErrGone) {
		return s.Post(ctx, m)
	}
	return changed, err
}

// Delete removes an own message as far as the platform does. Where people have to know that it stays, the Adapter is asked.
func (s *Platform) Delete(ctx context.Context, ref chat.MessageRef) error {
	err := s.Adapter.Delete(ctx, ref)
	if errors.Is(err, chat.ErrKept) {
		return nil
	}
	return err
}

// Fit cuts a message to the platform's limits and leaves out what it can't show.
func (s *Platform) Fit(m chat.Message) chat.Message {
	limit := s.Caps.TextLimit
	if len(m.Media) > 0 {
		limit = s.Caps.CaptionLimit
	}
	m.Text = m.Text.Cut(limit)
	m.Menus = s.fitMenus(m.Menus)
	m.Buttons = s.FitButtons(m.Buttons, s.Caps.Buttons.Rows-len(m.Menus))
	if m.Ask != nil && (!s.Caps.ForceReply || len(m.Buttons) > 0 && !s.Caps.AskButtons) {
		m.Ask = nil
	}
	if !s.Caps.Ephemeral {
		m.OnlyFor = ""
	}
	return m
}

// fitMenus keeps menus, and what they say, within the platform's limits.
func (s *Platform) fitMenus(menus []chat.Menu) []chat.Menu {
	limits := s.Caps.Menus
	fitted := menus[:min(len(menus), limits.PerMessage):min(len(menus), limits.PerMessage)]
	for i, menu := range fitted {
		options := slices.Clone(menu.Options[:min(len(menu.Options), limits.Options)])
		for j, o := range options {
			options[j].Label = chat.Brief(chat.FirstNonEmpty(o.Label, "–"), limits.LabelLimit)
			options[j].Description = chat.Brief(o.Description, limits.LabelLimit)
		}
		fitted[i].Options, fitted[i].Placeholder = options, chat.Brief(menu.Placeholder, limits.LabelLimit)
	}
	return fitted
}

// FitForm keeps a form within the platform's limits.
func (s *Platform) FitForm(form chat.Form) chat.Form {
	limits := s.Caps.Forms
	form.Title = chat.Brief(form.Title, limits.TitleLimit)
	form.Fields = slices.Clone(form.Fields[:min(len(form.Fields), limits.Fields)])
	for i, f := range form.Fields {
		form.Fields[i].Label = chat.Brief(f.Label, limits.LabelLimit)
		form.Fields[i].Placeholder = chat.Brief(f.Placeholder, limits.LabelLimit)
		form.Fields[i].Value = chat.Shorten(f.Value, limits.ValueLimit)
	}
	return form
}

// FitButtons keeps rows of buttons within the platform's limits, at most so many rows.
func (s *Platform) FitButtons(rows [][]chat.Button, most int) [][]chat.Button {
	var fitted [][]chat.Button
	for _, row := range rows {
		for len(row) > 0 && len(fitted) < most {
			n := min(len(row), max(1, s.Caps.Buttons.PerRow))
			part := make([]chat.Button, n)
			for i, b := range row[:n] {
				b.Label = chat.Shorten(b.Label, s.Caps.Buttons.LabelLimit)
				part[i] = b
			}
			fitted, row = append(fitted, part), row[n:]
		}
	}
	return fitted
}

// Answer answers a press within the platform's limit.
func (s *Platform) Answer(ctx context.Context, p chat.Press, text string, alert bool) error {
	return s.AnswerPress(ctx, p, chat.PressAnswer{Text: chat.Shorten(text, s.Caps.AnswerLimit), Alert: alert && s.Caps.Alerts})
}
