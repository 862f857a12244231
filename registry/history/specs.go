package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/registry"
)

// Specs is the registry.SpecStore in Postgres.
type Specs struct {
	pool  *pgxpool.Pool
	older registry.MediaOpener
}

// NewSpecs makes a Specs on a migrated database. What it doesn't have is looked for in older.
func NewSpecs(pool *pgxpool.Pool, older registry.MediaOpener) *Specs { return &Specs{pool, older} }

// PutSpecs keeps the contents in one write.
func (s *Specs) PutSpecs(ctx context.Context, contents [][]byte) ([]registry.Media, error) {
	refs := make([]registry.Media, len(contents))
	hashes := make([]string, len(contents))
	for i, content := range contents {
		refs[i] = registry.SpecRef(content)
		hashes[i] = strings.TrimPrefix(refs[i], "asset:")
	}
	_, err := s.pool.Exec(ctx, `
		INSERT INTO tool_specs (hash, content)
		SELECT DISTINCT ON (hash) hash, content FROM unnest($1::text[], $2::bytea[]) AS new (hash, content) ORDER BY hash
		ON CONFLICT (hash) DO NOTHING`, hashes, contents)
	if err != nil {
		return nil, fmt.Errorf("keep how tools are run: %w", err)
	}
	return refs, nil
}

// OpenMedia opens a spec.
func (s *Specs) OpenMedia(ctx context.Context, ref registry.Media) (io.ReadCloser, registry.MediaInfo, error) {
	var content []byte
	err := s.pool.QueryRow(ctx, `SELECT content FROM tool_specs WHERE hash = $1`, strings.TrimPrefix(ref, "asset:")).Scan(&content)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.older.OpenMedia(ctx, ref)
	}
	if err != nil {
		return nil, registry.MediaInfo{}, fmt.Errorf("read how a tool is run: %w", err)
	}
	return io.NopCloser(bytes.NewReader(content)), registry.MediaInfo{Bytes: int64(len(content))}, nil
}
