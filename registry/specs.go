package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// SpecStore keeps by content what stands behind tools, such as the template of a prompt or how a request is made: a run
// that was accepted with one finds it again after its file has changed or gone, also on another machine.
type SpecStore interface {
	// PutSpecs keeps the contents, all or none, and gives the reference of each. Loaders hand over many at once, so that a
	// thousand tools cost one write.
	PutSpecs(ctx context.Context, contents [][]byte) ([]Media, error)
	MediaOpener
}

// SpecRef is the reference of a content: that of a stored file, which is where earlier versions kept specs.
func SpecRef(content []byte) Media {
	sum := sha256.Sum256(content)
	return "asset:" + hex.EncodeToString(sum[:])
}

// Specs is the SpecStore in Postgres.
type Specs struct {
	pool  *pgxpool.Pool
	older MediaOpener
}

// NewSpecs makes a Specs on a migrated database. What it doesn't have is looked for in older.
func NewSpecs(pool *pgxpool.Pool, older MediaOpener) *Specs { return &Specs{pool, older} }

// PutSpecs keeps the contents in one write.
func (s *Specs) PutSpecs(ctx context.Context, contents [][]byte) ([]Media, error) {
	refs := make([]Media, len(contents))
	hashes := make([]string, len(contents))
	for i, content := range contents {
		refs[i] = SpecRef(content)
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
func (s *Specs) OpenMedia(ctx context.Context, ref Media) (io.ReadCloser, MediaInfo, error) {
	var content []byte
	err := s.pool.QueryRow(ctx, `SELECT content FROM tool_specs WHERE hash = $1`, strings.TrimPrefix(ref, "asset:")).Scan(&content)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.older.OpenMedia(ctx, ref)
	}
	if err != nil {
		return nil, MediaInfo{}, fmt.Errorf("read how a tool is run: %w", err)
	}
	return io.NopCloser(bytes.NewReader(content)), MediaInfo{Bytes: int64(len(content))}, nil
}
