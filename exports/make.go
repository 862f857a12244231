package exports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/claims"
)

// FileName is what an archive is called where it is saved.
const FileName = "everything.zip"

// do makes an archive, or tells of one whose telling failed.
func (s *Service) do(ctx context.Context, item claims.Item) claims.Next {
	err := s.advance(ctx, item)
	if err == nil {
		return claims.Next{}
	}
	if ctx.Err() != nil {
		return claims.Next{After: time.Second, Free: true}
	}
	s.log.WarnContext(ctx, "an export failed", "export", item.Key, "tries", item.Tries+1, "error", err)
	if item.Tries+1 < tries {
		return claims.Next{After: retryAfter << item.Tries}
	}
	if err := s.giveUp(ctx, item.Key); err != nil {
		s.log.ErrorContext(ctx, "an export can't be given up", "export", item.Key, "error", err)
		return claims.Next{After: retryAfter, Free: true}
	}
	return claims.Next{}
}

func (s *Service) advance(ctx context.Context, item claims.Item) error {
	e, err := s.one(ctx, s.cfg.Pool, `id = $1`, item.Key)
	if err != nil || e.ID == "" {
		return err // its account was deleted meanwhile
	}
	if e.State == Making {
		if e, err = s.produce(ctx, e); errors.Is(err, assets.ErrErased) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return s.cfg.Tell(ctx, e)
}

// giveUp ends an archive that can't be made, so that its owner may ask for another. One that is there stays, though nobody was told.
func (s *Service) giveUp(ctx context.Context, id string) error {
	tag, err := s.cfg.Pool.Exec(ctx, `UPDATE exports SET state = 'failed', expires_at = $2 WHERE id = $1 AND state = 'making'`, id, s.cfg.Now().Add(Kept))
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	e, err := s.one(ctx, s.cfg.Pool, `id = $1`, id)
	if err == nil {
		err = s.cfg.Tell(ctx, e)
	}
	if err != nil {
		s.log.WarnContext(ctx, "nobody was told that an export failed", "export", id, "error", err)
	}
	return nil
}

// produce makes an archive and stores it as it is made.
func (s *Service) produce(ctx context.Context, e Export) (Export, error) {
	from, to := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		to.CloseWithError(s.write(ctx, e.AccountID, to))
	}()
	ref, err := s.cfg.Files.Put(ctx, from, assets.Meta{Name: FileName, Owner: e.AccountID, Kind: assets.Archive})
	from.CloseWithError(errors.New("the archive is not taken any more"))
	<-written
	if err != nil {
		return e, err
	}
	info, err := s.cfg.Files.Stat(ctx, ref)
	if err != nil {
		return e, err
	}
	now := s.cfg.Now()
	rows, _ := s.cfg.Pool.Query(ctx, `UPDATE exports SET state = 'ready', hash = $2, bytes = $3, expires_at = $4 WHERE id = $1 AND state = 'making' RETURNING `+columns,
		e.ID, ref.Hash(), info.Size, now.Add(Kept))
	made, err := pgx.CollectOneRow(rows, s.scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return e, assets.ErrErased
	}
	return made, err
}

// write writes an archive: what the rooms know, all as of one moment, then the files, of which some may be gone since.
func (s *Service) write(ctx context.Context, accountID string, to io.Writer) error {
	a := archive.New(to, s.cfg.Now())
	var files []assets.Filed
	err := pgx.BeginTxFunc(ctx, s.cfg.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
		for _, part := range s.cfg.Parts {
			if err := part(ctx, tx, accountID, a); err != nil {
				return err
			}
		}
		files, err = assets.FilesOf(ctx, tx, accountID)
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := s.copy(ctx, a, f); err != nil {
			return fmt.Errorf("file %s: %w", f.Ref, err)
		}
	}
	return a.Close()
}

// copy adds a file under its hash, by which runs.json names it, with its own name behind.
func (s *Service) copy(ctx context.Context, a *archive.Writer, f assets.Filed) error {
	content, err := s.cfg.Files.Open(ctx, f.Ref)
	if errors.Is(err, assets.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer content.Close()
	return a.File(path.Join("files", f.Ref.Hash(), cmp.Or(f.Name, "file")), content)
}
