package content

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/locks"
	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Seen is what a model saw in a picture: texts on one line each, of bounded length.
type Seen struct {
	Description string
	Tags        []string
}

// ErrLater says that nothing more is looked at for now, as when enough was today: it is no failure.
var ErrLater = errors.New("no more pictures are looked at for now")

// LookerConfig is what a Looker works with. All but Poll is required.
type LookerConfig struct {
	Pool *pgxpool.Pool
	// See has a model say what a picture shows, in the language of a site (BCP 47).
	See    func(ctx context.Context, picture registry.Media, language string) (Seen, error)
	Now    func() time.Time
	Poll   time.Duration // how often what waits is looked for; 0: 5 s
	Logger *slog.Logger
}

const (
	lookLater = time.Hour
	lookAgain = 10 * time.Minute // after a failure
	mostLooks = 3                // that fail; then the image keeps what its name says
)

// NewLooker makes what describes images that came to sites without a description (see Config.Looks), one after the other in each process, when
// it is started. What somebody has written meanwhile stays.
func NewLooker(cfg LookerConfig) *claims.Worker {
	cfg.Poll = cmp.Or(cfg.Poll, 5*time.Second)
	l := looker{cfg, store.New(cfg.Pool)}
	return claims.NewWorker(claims.WorkerConfig{
		Queue:     claims.QueueConfig{Pool: cfg.Pool, Log: cfg.Logger, Now: cfg.Now, Table: "site_image_looks", Key: "id", Places: 1, Poll: cfg.Poll, Work: l.look},
		Processes: "site_image_lookers", Lock: locks.Looker, LookEvery: time.Minute, BreakOff: true,
	})
}

type looker struct {
	LookerConfig
	store *store.Store
}

// look has one image described.
func (l looker) look(ctx context.Context, item claims.Item) claims.Next {
	id, err := l.describe(ctx, item.Key)
	switch {
	case err == nil, errors.Is(err, store.ErrNotFound), errors.Is(err, errDescribed):
		return claims.Next{}
	case ctx.Err() != nil:
		return claims.Next{After: time.Second, Free: true}
	case errors.Is(err, ErrLater):
		return claims.Next{After: lookLater, Free: true}
	case item.Tries+1 < mostLooks:
		l.Logger.InfoContext(ctx, "an image could not be described, another try follows", "image", id, "error", err)
		return claims.Next{After: lookAgain}
	}
	l.Logger.WarnContext(ctx, "an image can't be described by a model and keeps what its name says", "image", id, "error", err)
	return claims.Next{}
}

// errDescribed says that an image has a better description than that of its name.
var errDescribed = errors.New("it has a description")

func (l looker) describe(ctx context.Context, look string) (id string, err error) {
	site, id, err := l.store.ToSee(ctx, look)
	if err != nil {
		return id, err
	}
	c := l.store.In(site, "")
	images, err := c.Images(ctx, store.ImageQuery{ID: id})
	if err != nil {
		return id, err
	}
	if site.Off || len(images) == 0 || images[0].DescribedBy != store.ByName {
		return id, errDescribed
	}
	seen, err := l.See(ctx, id, site.Language)
	if err != nil {
		return id, fmt.Errorf("look at a picture: %w", err)
	}
	return id, c.UpdateImage(ctx, id, func(i *store.Image) error {
		if i.DescribedBy != store.ByName {
			return errDescribed
		}
		i.Description, i.Tags, i.DescribedBy = seen.Description, distinct(seen.Tags), store.ByModel
		i.Words = imageWords(*i)
		return nil
	})
}
