package canvas

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
)

const (
	maxSentPicture = 16 << 20 // bytes
	// sentPart is how much of a picture goes in one message: each of them has its own time for an answer.
	sentPart = 512 << 10
	// heldFor is how long a picture counts as held. Penpot throws away what nothing shows any more, in files that nobody has changed for three days.
	heldFor = 24 * time.Hour
)

// there is what a connected Penpot has of a drawing.
type there struct {
	file     string                     // that is open
	pictures map[string]json.RawMessage // as it names them, by the reference that fills have
}

// picturePart is a part of a picture as the plugin takes it.
type picturePart struct {
	Upload   string `json:"upload"` // the same in all parts of one
	Last     bool   `json:"last"`
	Name     string `json:"name"`
	MIMEType string `json:"mtype"`
	Data     []byte `json:"data"`
}

// pictureRefs are the pictures that shapes show, each once.
func pictureRefs(shapes []sent) (refs []string) {
	seen := map[string]bool{}
	for _, s := range shapes {
		for _, f := range s.Fills {
			if f.Image != nil && !seen[f.Image.ID] {
				seen[f.Image.ID] = true
				refs = append(refs, f.Image.ID)
			}
		}
	}
	return refs
}

// uploadPictures brings the pictures of what is sent into the file that is open in Penpot, without those that it holds already. What can't be opened or is
// too large stays.
func uploadPictures(t *turn) error {
	shapes, err := t.shapesToSend()
	if err != nil {
		return err
	}
	refs := pictureRefs(shapes)
	if len(refs) == 0 {
		return nil
	}
	if t.penpot.file, err = t.openFile(); err != nil {
		return err
	}
	held, err := t.store.heldByPenpot(t.ctx, t.id, t.penpot.file)
	if err != nil {
		return err
	}
	t.penpot.pictures = map[string]json.RawMessage{}
	for _, ref := range refs {
		content, mime, err := t.file(t.ctx, ref)
		if err != nil || len(content) > maxSentPicture {
			continue
		}
		hash := sha256.Sum256(content)
		media := held[hash]
		if media == nil {
			if media, err = t.upload(content, picturePart{Name: cmp.Or(nameOf(shapes, ref), "Picture"), MIMEType: mime}); err != nil {
				return err
			}
			if err := t.store.holdInPenpot(t.ctx, t.id, t.penpot.file, hash, media); err != nil {
				return err
			}
			held[hash] = media
		}
		t.penpot.pictures[ref] = media
	}
	return nil
}

// nameOf is what a picture is called where it is shown first.
func nameOf(shapes []sent, ref string) string {
	for _, s := range shapes {
		for _, f := range s.Fills {
			if f.Image != nil && f.Image.ID == ref {
				return cmp.Or(f.Image.Name, s.Name)
			}
		}
	}
	return ""
}

// openFile asks Penpot which file is open.
func (t *turn) openFile() (string, error) {
	raw, err := t.Penpot(t.ctx, t.account, "GET_FILE", map[string]any{})
	if err != nil {
		return "", err
	}
	var file struct{ ID string }
	if err := json.Unmarshal(raw, &file); err != nil || file.ID == "" {
		return "", registry.Say(registry.CodeBadOutput, said.PenpotAnswer)
	}
	return file.ID, nil
}

// upload gives Penpot a picture in parts, and gives what it calls it.
func (t *turn) upload(content []byte, part picturePart) (media json.RawMessage, err error) {
	part.Upload = uuid.NewString()
	for begin := 0; begin < len(content); begin += sentPart {
		end := min(begin+sentPart, len(content))
		part.Data, part.Last = content[begin:end], end == len(content)
		if media, err = t.Penpot(t.ctx, t.account, "UPLOAD_PICTURE", part); err != nil {
			return nil, err
		}
	}
	return media, nil
}

// heldByPenpot are the pictures of a scene that a file of Penpot holds, by the hash of their content.
func (st store) heldByPenpot(ctx context.Context, sceneID, file string) (map[[sha256.Size]byte]json.RawMessage, error) {
	rows, _ := st.pool.Query(ctx, `SELECT hash, media FROM canvas_penpot_pictures WHERE scene_id = $1 AND file_id = $2 AND sent_at > now() - $3::interval`, sceneID, file, heldFor)
	held := map[[sha256.Size]byte]json.RawMessage{}
	var hash, media []byte
	_, err := pgx.ForEachRow(rows, []any{&hash, &media}, func() error {
		held[[sha256.Size]byte(hash)] = json.RawMessage(media)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read which pictures Penpot holds: %w", err)
	}
	return held, nil
}

// holdInPenpot notes that a file of Penpot holds a picture, and forgets which pictures were held too long ago.
func (st store) holdInPenpot(ctx context.Context, sceneID, file string, hash [sha256.Size]byte, media json.RawMessage) error {
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM canvas_penpot_pictures WHERE scene_id = $1 AND sent_at <= now() - $2::interval`, sceneID, heldFor)
	batch.Queue(`INSERT INTO canvas_penpot_pictures (scene_id, file_id, hash, media) VALUES ($1, $2, $3, $4)
		ON CONFLICT (scene_id, file_id, hash) DO UPDATE SET media = excluded.media, sent_at = now()`, sceneID, file, hash[:], []byte(media))
	return errs.Wrap(st.pool.SendBatch(ctx, batch).Close(), "note which pictures Penpot holds")
}
