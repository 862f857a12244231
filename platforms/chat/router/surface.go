package router

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/platforms/chat"
)

// surface is an adapter together with what it can do, and keeps messages within that.
type surface struct {
	chat.Adapter
	caps chat.Capabilities
}

func newSurface(a chat.Adapter) *surface { return &surface{Adapter: a, caps: a.Capabilities()} }

// in is the surface as one of its chats is: some take larger files than others.
func (s *surface) in(c chat.Chat) *surface {
	if c.UploadLimit <= 0 {
		return s
	}
	here := *s
	here.caps.Uploads = make(map[chat.MediaKind]int64, len(s.caps.Uploads))
	for kind := range s.caps.Uploads {
		here.caps.Uploads[kind] = c.UploadLimit
	}
	return &here
}

// post sends a message of at most one item and gives its reference.
func (s *surface) post(ctx context.Context, m chat.Message) (chat.MessageRef, error) {
	refs, err := s.Send(ctx, s.fit(m))
	if err != nil || len(refs) == 0 {
		return chat.MessageRef{}, err
	}
	return refs[0], nil
}

// change edits a message; where that is impossible a new one takes its place.
func (s *surface) change(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	if ref.IsZero() || !s.caps.Edit {
		return s.post(ctx, m)
	}
	changed, err := s.Edit(ctx, ref, s.fit(m))
	if errors.Is(err, chat.ErrGone) {
		return s.post(ctx, m)
	}
	return changed, err
}

// fit cuts a message to the platform's limits and leaves out what it can't show.
func (s *surface) fit(m chat.Message) chat.Message {
	limit := s.caps.TextLimit
	if len(m.Media) > 0 {
		limit = s.caps.CaptionLimit
	}
	m.Text = m.Text.Cut(limit)
	m.Menus = s.fitMenus(m.Menus)
	m.Buttons = s.fitButtons(m.Buttons, s.caps.Buttons.Rows-len(m.Menus))
	if m.Ask != nil && (!s.caps.ForceReply || len(m.Buttons) > 0 && !s.caps.AskButtons) {
		m.Ask = nil
	}
	if !s.caps.Ephemeral {
		m.OnlyFor = ""
	}
	return m
}

// fitMenus keeps menus, and what they say, within the platform's limits.
func (s *surface) fitMenus(menus []chat.Menu) []chat.Menu {
	limits := s.caps.Menus
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

// fitForm keeps a form within the platform's limits.
func (s *surface) fitForm(form chat.Form) chat.Form {
	limits := s.caps.Forms
	form.Title = chat.Brief(form.Title, limits.TitleLimit)
	form.Fields = slices.Clone(form.Fields[:min(len(form.Fields), limits.Fields)])
	for i, f := range form.Fields {
		form.Fields[i].Label = chat.Brief(f.Label, limits.LabelLimit)
		form.Fields[i].Placeholder = chat.Brief(f.Placeholder, limits.LabelLimit)
		form.Fields[i].Value = chat.Shorten(f.Value, limits.ValueLimit)
	}
	return form
}

func (s *surface) fitButtons(rows [][]chat.Button, most int) [][]chat.Button {
	var fitted [][]chat.Button
	for _, row := range rows {
		for len(row) > 0 && len(fitted) < most {
			n := min(len(row), max(1, s.caps.Buttons.PerRow))
			part := make([]chat.Button, n)
			for i, b := range row[:n] {
				b.Label = chat.Shorten(b.Label, s.caps.Buttons.LabelLimit)
				part[i] = b
			}
			fitted, row = append(fitted, part), row[n:]
		}
	}
	return fitted
}

// answer answers a press within the platform's limit.
func (s *surface) answer(ctx context.Context, p chat.Press, text string, alert bool) error {
	return s.AnswerPress(ctx, p, chat.PressAnswer{Text: chat.Shorten(text, s.caps.AnswerLimit), Alert: alert && s.caps.Alerts})
}
