package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
)

// readable is the one condition under which the account $1 may read a source s; $1 is empty for somebody without an account. All that finds
// something has it in its statement.
const readable = `(s.access = 'public' OR $1 <> '' AND (s.access = 'house' OR s.owner::text = $1 OR s.readers && names.own
	OR EXISTS (SELECT FROM knowledge_groups g WHERE g.name = ANY (s.readers) AND g.member = ANY (names.own))))`

// scope is what a search looks at: what the asker may read, with a tool's id $2 only its source, and where others read the answer ($3) only what
// is everybody's.
const scope = readable + ` AND ($2 = '' OR s.tool_id = $2) AND NOT ($3 AND s.access = 'listed')`

// namesOf are the names that the account $1 may stand under in a list of readers.
const namesOf = `(SELECT array_append(array_agg(platform || ':' || external_id), $1) AS own FROM user_identities WHERE user_id::text = $1) AS names`

const sourceColumns = `s.id, s.tool_id, s.name, s.title, s.description, coalesce(s.owner::text, ''), s.origin, s.address, s.access, s.readers, s.language, s.chunks, s.problem, s.version, s.embeddings`

func scanSource(row pgx.CollectableRow) (s Source, err error) {
	err = row.Scan(&s.ID, &s.ToolID, &s.Name, &s.Title, &s.Description, &s.Owner, &s.Origin, &s.Address, &s.Access, &s.Readers, &s.Language, &s.Chunks, &s.Problem, &s.version, &s.embeddings)
	return s, err
}

// Sources gives those that an account may read, by name.
func (x *Index) Sources(ctx context.Context, account string) ([]Source, error) {
	return x.readable(ctx, account, "", false)
}

func (x *Index) readable(ctx context.Context, account, toolID string, shared bool) ([]Source, error) {
	rows, _ := x.Pool.Query(ctx, `SELECT `+sourceColumns+` FROM knowledge_sources s, `+namesOf+`
		WHERE `+scope+` ORDER BY lower(s.name), s.id`, account, toolID, shared)
	list, err := pgx.CollectRows(rows, scanSource)
	return list, errs.Wrap(err, "read the sources of knowledge")
}

// All gives all sources, for those who make tools of them.
func (x *Index) All(ctx context.Context) ([]Source, error) {
	rows, _ := x.Pool.Query(ctx, `SELECT `+sourceColumns+` FROM knowledge_sources s ORDER BY s.id`)
	list, err := pgx.CollectRows(rows, scanSource)
	return list, errs.Wrap(err, "read the sources of knowledge")
}

// Save adds a source, or changes what is said about the one of its name and owner, and gives its id. Its documents stay. ErrTaken: one that was added
// has the name of a folder or built file, or the other way round, or the tool's id is another source's.
func (x *Index) Save(ctx context.Context, s Source) (int64, error) {
	conflict := `(lower(name)) WHERE owner IS NULL`
	if s.Owner != "" {
		conflict = `(owner, lower(name)) WHERE owner IS NOT NULL`
	}
	if s.Readers == nil {
		s.Readers = []string{}
	}
	var id int64
	err := x.Pool.QueryRow(ctx, `INSERT INTO knowledge_sources AS s (tool_id, name, title, description, owner, origin, address, access, readers)
		VALUES ($1, $2, $3, $4, nullif($5, '')::uuid, $6, $7, $8, $9)
		ON CONFLICT `+conflict+` DO UPDATE SET title = $3, description = $4, origin = $6, address = $7, access = $8, readers = $9
		WHERE (s.origin IN ('folder', 'file')) = ($6 IN ('folder', 'file')) RETURNING id`,
		s.ToolID, s.Name, s.Title, s.Description, s.Owner, s.Origin, s.Address, s.Access, s.Readers).Scan(&id)
	var refused *pgconn.PgError
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &refused) && refused.Code == "23505" {
		return 0, ErrTaken
	}
	if err != nil {
		return 0, fmt.Errorf("keep the source %s: %w", s.Name, err)
	}
	return id, nil
}

// Remove deletes a source with its documents. One that is not there is no error.
func (x *Index) Remove(ctx context.Context, id int64) error {
	if _, err := x.Pool.Exec(ctx, `DELETE FROM knowledge_sources WHERE id = $1`, id); err != nil {
		return fmt.Errorf("remove a source of knowledge: %w", err)
	}
	x.vectors.drop(id)
	x.lexemes.drop(id)
	return nil
}

// SetProblem notes why a source could not be read; empty: it could.
func (x *Index) SetProblem(ctx context.Context, id int64, problem string) error {
	_, err := x.Pool.Exec(ctx, `UPDATE knowledge_sources SET problem = $2 WHERE id = $1`, id, problem)
	return errs.Wrap(err, "note what is wrong with a source of knowledge")
}

// Due gives the sources that were added and are to be read: those that were not yet, and sites after a day.
func (x *Index) Due(ctx context.Context) ([]Source, error) {
	rows, _ := x.Pool.Query(ctx, `SELECT `+sourceColumns+` FROM knowledge_sources s WHERE s.origin IN ('site', 'upload')
		AND (s.refreshed_at IS NULL OR s.origin = 'site' AND s.refreshed_at < now() - interval '20 hours') ORDER BY s.id`)
	list, err := pgx.CollectRows(rows, scanSource)
	return list, errs.Wrap(err, "read the sources of knowledge")
}

// Unread has an upload read again.
func (x *Index) Unread(ctx context.Context, id int64) error {
	_, err := x.Pool.Exec(ctx, `UPDATE knowledge_sources SET refreshed_at = NULL, problem = '' WHERE id = $1`, id)
	return errs.Wrap(err, "have a source of knowledge read")
}

// Failed notes why a source could not be read; an upload is not tried again.
func (x *Index) Failed(ctx context.Context, id int64, problem string) error {
	_, err := x.Pool.Exec(ctx, `UPDATE knowledge_sources SET refreshed_at = now(), problem = $2 WHERE id = $1`, id, problem)
	return errs.Wrap(err, "note what is wrong with a source of knowledge")
}

// SetGroups replaces the groups of readers: members are accounts or platform:id.
func (x *Index) SetGroups(ctx context.Context, groups map[string][]string) error {
	var names, members []string
	for name, list := range groups {
		for _, member := range list {
			names, members = append(names, name), append(members, member)
		}
	}
	err := pgx.BeginFunc(ctx, x.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM knowledge_groups`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO knowledge_groups (name, member) SELECT DISTINCT * FROM unnest($1::text[], $2::text[])`, names, members)
		return err
	})
	return errs.Wrap(err, "keep the groups of readers")
}

// Forget deletes the sources of an account.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM knowledge_sources WHERE owner = $1`, accountID)
	return err
}

// Adopt gives the sources of one account to another, where both are the same person's. Where both have a source of one name, the
// older one's name is kept and the other one gets its id behind it.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `UPDATE knowledge_sources s SET owner = $2, name = CASE WHEN EXISTS (
			SELECT FROM knowledge_sources o WHERE o.owner = $2 AND lower(o.name) = lower(s.name)) THEN left(s.name, 40) || '-' || s.id ELSE s.name END
		WHERE owner = $1`, from, into)
	return err
}

func languagesOf(sources []Source) []string {
	var list []string
	for _, s := range sources {
		list = append(list, s.Language)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Export writes the sources of documents of an account, and their texts.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"documents/sources.json", `SELECT id, name, title, description, origin, address, readers, refreshed_at, created_at FROM knowledge_sources WHERE owner = $1 ORDER BY id`},
		{"documents/passages.json", `SELECT s.name AS source, c.source_path AS path, c.heading, c.text, c.url FROM knowledge_chunks c JOIN knowledge_sources s ON s.id = c.source_id WHERE s.owner = $1 ORDER BY c.id`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}
