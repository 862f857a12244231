package webchat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/session"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// Files is the house's store of files.
type Files interface {
	Keep(ctx context.Context, r io.Reader, meta assets.Meta) (registry.Media, registry.MediaInfo, error)
	OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error)
}

// People is what the conversation needs of users.Store.
type People interface {
	Identities(ctx context.Context, accountID string) ([]users.LinkedIdentity, error)
	Link(ctx context.Context, accountID string, id users.Identity) error
}

// Config is what an Adapter works with. All but MaxFile are required.
type Config struct {
	Pool   *pgxpool.Pool
	Files  Files
	People People
	Logger *slog.Logger
	// FilePath gives the address under which pages show a stored file; see web.Server.FilePath.
	FilePath func(owner string, ref registry.Media, name string) string
	// ThumbPath gives the address of a small version of a picture; see web.Server.ThumbPath.
	ThumbPath func(owner string, ref registry.Media) string
	// Upload keeps a file that somebody sends; see runner.Service.PutMedia.
	Upload  func(ctx context.Context, accountID string, r io.Reader, name string) (registry.Media, registry.MediaInfo, error)
	MaxFile int64 // bytes; 0: 2 GiB
}

// Adapter is the conversation on the web as the chat contract has it, and the pages and events it consists of.
type Adapter struct {
	cfg   Config
	log   log
	hub   hub
	press presses
	texts *i18n.Catalogue
	pages map[string]func() (*template.Template, error) // by language

	commands atomic.Pointer[[]chat.Command]

	ready    chan struct{} // closed once receiver is there
	begin    sync.Once
	receiver chat.Receiver
}

var (
	_ chat.Adapter       = (*Adapter)(nil)
	_ pages.Conversation = (*Adapter)(nil)
	_ pages.Commander    = (*Adapter)(nil)
)

// New makes an Adapter.
func New(cfg Config) (*Adapter, error) {
	if cfg.Pool == nil || cfg.Files == nil || cfg.People == nil || cfg.Logger == nil || cfg.FilePath == nil || cfg.ThumbPath == nil || cfg.Upload == nil {
		return nil, errors.New("webchat: Pool, Files, People, Logger, FilePath, ThumbPath and Upload are needed")
	}
	cfg.MaxFile = cmp.Or(cfg.MaxFile, 2<<30)
	texts, err := i18n.Load()
	if err != nil {
		return nil, fmt.Errorf("webchat: %w", err)
	}
	a := &Adapter{cfg: cfg, log: log{cfg.Pool, postgres.NewWriter(cfg.Pool)}, texts: texts, ready: make(chan struct{})}
	a.commands.Store(&[]chat.Command{})
	a.pages = a.parsedPages()
	return a, nil
}

// workingFor is how long pages show a sign of work.
const workingFor = 5 * time.Second

// Platform gives web.Platform: the conversation is part of the web.
func (a *Adapter) Platform() string { return web.Platform }

// Capabilities tells what the page can show.
func (a *Adapter) Capabilities() chat.Capabilities {
	return chat.Capabilities{
		Buttons: chat.ButtonLimits{Rows: 12, PerRow: 8, LabelLimit: 80, DataBytes: maxData},
		Menus:   chat.MenuLimits{PerMessage: 5, Options: 100, LabelLimit: 100},
		Forms:   chat.FormLimits{Fields: 8, TitleLimit: 100, LabelLimit: 100, ValueLimit: maxSaid},
		Commands: chat.CommandLimits{
			Max: 500, NameChars: 64, NamePattern: `[-_a-zA-Z0-9]{1,64}`, DescriptionLimit: 200, OnMessages: 6, Localized: true,
		},
		TextLimit: 4096, CaptionLimit: 4096, AnswerLimit: 300, AltLimit: 2000,
		Edit: true, EditToMedia: true, AlbumMax: 10, AlbumButtons: true, Alerts: true,
		Uploads: map[chat.MediaKind]int64{
			chat.KindPhoto: a.cfg.MaxFile, chat.KindVideo: a.cfg.MaxFile, chat.KindAnimation: a.cfg.MaxFile,
			chat.KindAudio: a.cfg.MaxFile, chat.KindVoice: a.cfg.MaxFile, chat.KindDocument: a.cfg.MaxFile,
		},
		Download:        a.cfg.MaxFile,
		WorkingFor:      workingFor,
		ProgressPrivate: 500 * time.Millisecond, ProgressGroup: 500 * time.Millisecond,
	}
}

// Run lets in what people say until ctx ends, and passes on what other processes write.
func (a *Adapter) Run(ctx context.Context, to chat.Receiver) error {
	a.begin.Do(func() {
		a.receiver = to
		close(a.ready)
	})
	for ctx.Err() == nil {
		if err := a.listen(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Logger.WarnContext(ctx, "open conversations are told of changes late", "error", err)
		}
		a.hub.wakeAll()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

// listen wakes the pages of conversations that change.
func (a *Adapter) listen(ctx context.Context) error {
	conn, err := session.Open(ctx, a.cfg.Pool)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	a.hub.wakeAll() // for what changed before
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		a.hub.wake(n.Payload)
	}
}

// Send writes a message into a conversation.
func (a *Adapter) Send(ctx context.Context, m chat.Message) ([]chat.MessageRef, error) {
	files, err := a.keep(ctx, m.To.Chat, m.Media)
	if err != nil {
		return nil, err
	}
	said := message{Body: bodyOf(m), Media: files}
	if m.ReplyTo.ID != "" {
		if said.ReplyTo, _, err = parseID(m.ReplyTo.ID); err != nil {
			said.ReplyTo = 0 // the message replied to is gone
		}
	}
	if said, err = a.log.say(ctx, m.To.Chat, said); err != nil {
		return nil, err
	}
	refs := []chat.MessageRef{said.ref(m.To.Chat, 0)}
	for i := 1; i < len(files); i++ {
		refs = append(refs, said.ref(m.To.Chat, i))
	}
	return refs, nil
}

// Edit replaces what a message says.
func (a *Adapter) Edit(ctx context.Context, ref chat.MessageRef, m chat.Message) (chat.MessageRef, error) {
	files, err := a.keep(ctx, ref.Chat, m.Media)
	if err != nil {
		return ref, err
	}
	changed, err := a.alter(ctx, ref, func(now *message, _ int) {
		now.Body = bodyOf(m)
		if len(files) > 0 {
			now.Media = files
		}
	})
	if err != nil {
		return ref, err
	}
	return changed.ref(ref.Chat, 0), nil
}

// EditButtons replaces the buttons of a message.
func (a *Adapter) EditButtons(ctx context.Context, ref chat.MessageRef, rows [][]chat.Button) error {
	_, err := a.alter(ctx, ref, func(now *message, _ int) { now.Body.Buttons, now.Body.Menus = rows, nil })
	return err
}

// Delete removes a message, or a file of an album.
func (a *Adapter) Delete(ctx context.Context, ref chat.MessageRef) error {
	_, err := a.alter(ctx, ref, (*message).remove)
	if errors.Is(err, chat.ErrGone) {
		return nil
	}
	return err
}

// remove deletes an item; with the last one the message goes.
func (m *message) remove(item int) {
	if item < len(m.Media) {
		m.Media[item].Gone = true
	}
	for _, f := range m.Media {
		if !f.Gone {
			return
		}
	}
	m.Deleted, m.Body, m.Media = true, body{}, nil
}

// alter changes a message of the house.
func (a *Adapter) alter(ctx context.Context, ref chat.MessageRef, f func(now *message, item int)) (message, error) {
	id, item, err := parseID(ref.ID)
	if err != nil {
		return message{}, err
	}
	return a.log.change(ctx, id, func(now *message) error {
		if now.Mine {
			return fmt.Errorf("message %s is the person's own: %w", strconv.FormatInt(id, 10), chat.ErrGone)
		}
		f(now, item)
		return nil
	})
}

// AnswerPress answers what a page waits for.
func (a *Adapter) AnswerPress(_ context.Context, p chat.Press, answer chat.PressAnswer) error {
	a.press.answer(p.ID, answer)
	return nil
}

// Working shows a sign of work on open pages.
func (a *Adapter) Working(_ context.Context, to chat.Place, _ chat.Activity) error {
	a.hub.work(to.Chat)
	return nil
}

// Fetch opens a file that somebody sent.
func (a *Adapter) Fetch(ctx context.Context, f chat.Attachment) (io.ReadCloser, error) {
	r, _, err := a.cfg.Files.OpenMedia(ctx, f.Handle)
	return r, wrap(err, "open "+f.Name)
}

// SyncCommands takes the commands that the composer offers.
func (a *Adapter) SyncCommands(_ context.Context, sets []chat.CommandSet) error {
	for _, set := range sets {
		if set.Kind == chat.ChatPrivate && set.Language == "" {
			a.commands.Store(&set.Commands)
		}
	}
	return nil
}
