package canvas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/providers/canvas/scene"
	"github.com/signalbox/signalbox/registry"
)

// store keeps scenes: a row for each shape, and each step with the shapes as they were and as they are. A call reads all of a scene and
// writes what it changed.
type store struct{ pool *pgxpool.Pool }

// Whose says whose drawings are there for somebody: those of an account or, with a Maker, of them those alone that were made with the API key whose
// runs draw on the budget of that name.
type Whose struct{ Account, Maker string }

// session is the name under which a conversation is kept. What is drawn with a key that sees its own drawings alone is apart from all else.
func (w Whose) session(name string) string {
	if w.Maker == "" {
		return name
	}
	return w.Maker + "/" + name
}

// theirs is the condition for a drawing that is there for w, $1 and $2.
const theirs = `account_id = $1 AND ($2 = '' OR starts_with(session, $2 || '/'))`

// sceneKey finds a scene: by its id, or that of a conversation.
type sceneKey struct {
	Whose
	name, id string
}

// stored is a scene as it is kept.
type stored struct {
	ID      string
	Title   string
	Version int64
	page    scene.Page
	shapes  []*scene.Shape
	board   string       // what the picture shows
	change  scene.Change // what the call in work did
	key     sceneKey
	tx      pgx.Tx // while a call is at work
	deed    string // undo or redo, where the call was that
	took    *int64 // the step that undo took back
}

// scene makes the scene of it.
func (s *stored) scene(fonts scene.Typesetter) *scene.Scene {
	return scene.New(fonts, s.page, s.shapes...)
}

// errNoScene is what who asks for another's scene hears, too.
func errNoScene(id string) error {
	return registry.Say(registry.CodeInvalidInput, said.DrawNoScene, "id", "\""+shorten(id)+"\"").At("scene")
}

// do lets work change a scene, which nobody else changes meanwhile, and keeps what it did as one step with its answer. A run that did its
// step already gives its answer again. A scene that a reading tool does not find is an empty one, which is not kept.
func (st store) do(ctx context.Context, key sceneKey, runID, tool string, reads bool, work func(*stored) (Envelope, error)) (s *stored, answer json.RawMessage, err error) {
	err = postgres.InTx(ctx, st.pool, func(tx pgx.Tx) error {
		s, err = st.lock(ctx, tx, key, !reads)
		if err != nil {
			return err
		}
		s.key, s.tx = key, tx
		if !reads {
			again := tx.QueryRow(ctx, `SELECT answer, board FROM canvas_changes WHERE scene_id = $1 AND run_id = $2`, s.ID, runID).Scan(&answer, &s.board)
			if again == nil || !errors.Is(again, pgx.ErrNoRows) {
				return again
			}
		}
		envelope, err := work(s)
		if err != nil {
			return err
		}
		if answer, err = json.Marshal(envelope); err != nil || reads {
			return err
		}
		return st.save(ctx, tx, s, runID, tool, answer)
	})
	return s, answer, err
}

// lock reads a scene for a change. Where an account's conversation has none, one is made if it is to be.
func (st store) lock(ctx context.Context, tx pgx.Tx, key sceneKey, create bool) (*stored, error) {
	s, err := st.find(ctx, tx, key, create)
	switch {
	case err == nil:
		return s, st.load(ctx, tx, s)
	case !errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("find the drawing: %w", err)
	case key.id != "":
		return nil, errNoScene(key.id)
	case !create:
		return &stored{}, nil
	}
	if _, err := tx.Exec(ctx, `INSERT INTO canvas_scenes (id, account_id, session, page) VALUES ($1, $2, $3, '{}') ON CONFLICT (account_id, session) WHERE current DO NOTHING`,
		uuid.NewString(), key.Account, key.session(key.name)); err != nil {
		return nil, fmt.Errorf("begin a drawing: %w", err)
	}
	s, err = st.find(ctx, tx, key, true)
	if err != nil {
		return nil, fmt.Errorf("begin a drawing: %w", err)
	}
	return s, st.load(ctx, tx, s)
}

func (store) find(ctx context.Context, tx pgx.Tx, key sceneKey, lock bool) (*stored, error) {
	where, args := `account_id = $1 AND session = $2 AND current`, []any{key.Account, key.session(key.name)}
	if key.id != "" {
		if _, err := uuid.Parse(key.id); err != nil {
			return nil, errNoScene(key.id)
		}
		where, args = theirs+` AND id = $3`, []any{key.Account, key.Maker, key.id}
	}
	if lock {
		where += ` FOR UPDATE`
	}
	var s stored
	var page []byte
	err := tx.QueryRow(ctx, `SELECT id, title, version, page FROM canvas_scenes WHERE `+where, args...).Scan(&s.ID, &s.Title, &s.Version, &page)
	if err != nil {
		return nil, err
	}
	return &s, json.Unmarshal(page, &s.page)
}

func (store) load(ctx context.Context, tx pgx.Tx, s *stored) error {
	rows, _ := tx.Query(ctx, `SELECT body FROM canvas_shapes WHERE scene_id = $1`, s.ID)
	shapes, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*scene.Shape, error) {
		var raw []byte
		if err := row.Scan(&raw); err != nil {
			return nil, err
		}
		var sh scene.Shape
		return &sh, json.Unmarshal(raw, &sh)
	})
	if err != nil {
		return fmt.Errorf("read the drawing: %w", err)
	}
	s.shapes = shapes
	return nil
}

// keptSteps is how many steps of a scene can be undone.
const keptSteps = 200

// save writes what a call changed, and the step.
func (st store) save(ctx context.Context, tx pgx.Tx, s *stored, runID, tool string, answer json.RawMessage) error {
	if s.deed != "" {
		tool = s.deed
	}
	step, err := json.Marshal(s.change)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for id, after := range s.change.After {
		if after == nil {
			batch.Queue(`DELETE FROM canvas_shapes WHERE scene_id = $1 AND id = $2`, s.ID, id)
			continue
		}
		body, err := json.Marshal(after)
		if err != nil {
			return err
		}
		batch.Queue(`INSERT INTO canvas_shapes (scene_id, id, body) VALUES ($1, $2, $3) ON CONFLICT (scene_id, id) DO UPDATE SET body = excluded.body`, s.ID, id, body)
	}
	if s.change.PageAfter != nil {
		s.page = *s.change.PageAfter
	}
	page, err := json.Marshal(s.page)
	if err != nil {
		return err
	}
	s.Version++
	batch.Queue(`UPDATE canvas_scenes SET version = $2, page = $3, title = $4, changed_at = now() WHERE id = $1`, s.ID, s.Version, page, s.Title)
	batch.Queue(`INSERT INTO canvas_changes (scene_id, version, run_id, tool, board, step, answer, took) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		s.ID, s.Version, runID, tool, s.board, step, answer, s.took)
	batch.Queue(`DELETE FROM canvas_changes WHERE scene_id = $1 AND version <= $2`, s.ID, s.Version-keptSteps)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("keep the drawing: %w", err)
	}
	s.apply()
	return nil
}

// apply makes the shapes those after the change.
func (s *stored) apply() {
	kept := s.shapes[:0:0]
	for _, sh := range s.shapes {
		if _, changed := s.change.After[sh.ID]; !changed {
			kept = append(kept, sh)
		}
	}
	for _, after := range s.change.After {
		if after != nil {
			kept = append(kept, after)
		}
	}
	s.shapes = kept
}

// renew begins another drawing in the conversation. The one before is kept.
func (s *stored) renew(ctx context.Context) error {
	if _, err := s.tx.Exec(ctx, `UPDATE canvas_scenes SET current = false WHERE account_id = $1 AND session = $2 AND current`, s.key.Account, s.key.session(s.key.name)); err != nil {
		return fmt.Errorf("begin another drawing: %w", err)
	}
	fresh := stored{ID: uuid.NewString(), key: s.key, tx: s.tx}
	if _, err := s.tx.Exec(ctx, `INSERT INTO canvas_scenes (id, account_id, session, page) VALUES ($1, $2, $3, '{}')`, fresh.ID, s.key.Account, s.key.session(s.key.name)); err != nil {
		return fmt.Errorf("begin another drawing: %w", err)
	}
	*s = fresh
	return nil
}

// Adopt gives the drawings of an account to the one that it is merged into. Where both draw in one conversation, the survivor's goes on.
func Adopt(ctx context.Context, tx pgx.Tx, from, into string) error {
	_, err := tx.Exec(ctx, `
		UPDATE canvas_scenes s SET account_id = $2,
			current = current AND NOT EXISTS (SELECT FROM canvas_scenes o WHERE o.account_id = $2 AND o.session = s.session AND o.current)
		WHERE account_id = $1`, from, into)
	return errs.Wrap(err, "give the drawings of %s to %s", from, into)
}

// MoveSession lets the drawings of a conversation go on under its new name. Who has begun another one there meanwhile goes on with that.
func MoveSession(ctx context.Context, tx pgx.Tx, from, to string) error {
	_, err := tx.Exec(ctx, `
		UPDATE canvas_scenes s SET session = $2,
			current = current AND NOT EXISTS (SELECT FROM canvas_scenes o WHERE o.account_id = s.account_id AND o.session = $2 AND o.current)
		WHERE session = $1`, from, to)
	return errs.Wrap(err, "move the drawings of the conversation %s to %s", from, to)
}

// Forget deletes the drawings of an account.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM canvas_scenes WHERE account_id = $1`, accountID)
	return errs.Wrap(err, "forget the drawings of %s", accountID)
}

// Info is a drawing in a list.
type Info struct {
	ID        string
	Title     string
	Version   int64
	ChangedAt time.Time
}

const infoColumns = `id::text, title, version, changed_at`

// list gives somebody's drawings, the one that was changed last first.
func (st store) list(ctx context.Context, w Whose) ([]Info, error) {
	rows, _ := st.pool.Query(ctx, `SELECT `+infoColumns+` FROM canvas_scenes WHERE `+theirs+` ORDER BY changed_at DESC LIMIT 100`, w.Account, w.Maker)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Info])
	return list, errs.Wrap(err, "list drawings")
}

// info gives one drawing of somebody's.
func (st store) info(ctx context.Context, w Whose, id string) (Info, error) {
	if _, err := uuid.Parse(id); err != nil {
		return Info{}, lost(id)
	}
	rows, _ := st.pool.Query(ctx, `SELECT `+infoColumns+` FROM canvas_scenes WHERE `+theirs+` AND id = $3`, w.Account, w.Maker, id)
	info, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Info])
	if errors.Is(err, pgx.ErrNoRows) {
		return Info{}, lost(id)
	}
	if err != nil {
		return Info{}, fmt.Errorf("find the drawing: %w", err)
	}
	return info, nil
}

func lost(id string) error {
	return registry.Say(registry.CodeLost, said.DrawNotYours, "id", "\""+shorten(id)+"\"")
}

// get reads a drawing of somebody's.
func (st store) get(ctx context.Context, w Whose, id string) (s *stored, err error) {
	if _, err := uuid.Parse(id); err != nil {
		return nil, lost(id)
	}
	err = pgx.BeginTxFunc(ctx, st.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if s, err = st.find(ctx, tx, sceneKey{Whose: w, id: id}, false); err != nil {
			return err
		}
		return st.load(ctx, tx, s)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, lost(id)
	}
	return s, err
}

// Export writes the drawings of an account: their shapes, and the steps that made them.
func Export(ctx context.Context, tx pgx.Tx, accountID string, to *archive.Writer) error {
	for _, file := range [][2]string{
		{"drawings/drawings.json", `SELECT id, session, title, version, page, created_at, changed_at FROM canvas_scenes WHERE account_id = $1 ORDER BY created_at`},
		{"drawings/shapes.json", `SELECT c.scene_id AS drawing, c.id, c.body FROM canvas_shapes c JOIN canvas_scenes s ON s.id = c.scene_id WHERE s.account_id = $1 ORDER BY c.scene_id, c.id`},
		{"drawings/steps.json", `SELECT c.scene_id AS drawing, c.version, c.run_id, c.tool, c.board, c.step, c.undone, c.done_at FROM canvas_changes c JOIN canvas_scenes s ON s.id = c.scene_id WHERE s.account_id = $1 ORDER BY c.scene_id, c.version`},
	} {
		if err := to.JSON(ctx, tx, file[0], file[1], accountID); err != nil {
			return err
		}
	}
	return nil
}
