package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// errNotShared says that a run has no link, or that the link was taken back.
var errNotShared = errors.New("this is not shared")

// Shares keeps which results their owners show to whoever has the link.
type Shares struct {
	pool *pgxpool.Pool
}

// NewShares gives the shares in pool's database.
func NewShares(pool *pgxpool.Pool) *Shares { return &Shares{pool: pool} }

// share gives the id of a run's link, and makes one where there is none.
func (s *Shares) share(ctx context.Context, runID string) (id string, err error) {
	err = s.pool.QueryRow(ctx, `
		INSERT INTO web_shares (id, run_id) VALUES ($1, $2)
		ON CONFLICT (run_id) DO UPDATE SET run_id = excluded.run_id RETURNING id`, strings.ToLower(rand.Text()), runID).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("share run %s: %w", runID, err)
	}
	return id, nil
}

// of gives the id of a run's link, or errNotShared.
func (s *Shares) of(ctx context.Context, runID string) (id string, err error) {
	return one(s.pool.QueryRow(ctx, `SELECT id FROM web_shares WHERE run_id = $1`, runID))
}

// run gives the run behind a link, or errNotShared.
func (s *Shares) run(ctx context.Context, id string) (runID string, err error) {
	return one(s.pool.QueryRow(ctx, `SELECT run_id::text FROM web_shares WHERE id = $1`, id))
}

func one(row pgx.Row) (found string, err error) {
	err = row.Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", errNotShared
	}
	return found, err
}

// revoke takes a run's link back. One that has none is no error.
func (s *Shares) revoke(ctx context.Context, runID string) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM web_shares WHERE run_id = $1`, runID); err != nil {
		return fmt.Errorf("take back the link of run %s: %w", runID, err)
	}
	return nil
}

// Forget takes back all links to an account's runs, in the transaction that deletes its data and before its runs
// lose their owner.
func Forget(ctx context.Context, tx pgx.Tx, accountID string) error {
	_, err := tx.Exec(ctx, `DELETE FROM web_shares w USING runs r WHERE r.id = w.run_id AND r.account_id = $1`, accountID)
	return err
}

// sharePath is the address of a link: its id and our signature, so that ids in the database open nothing by
// themselves.
func (s *Server) sharePath(id string) string { return "/s/" + id + "." + s.signShare(id) }

func (s *Server) signShare(id string) string {
	mac := hmac.New(sha256.New, s.cfg.LinkKey)
	io.WriteString(mac, "share:"+id)
	return hex.EncodeToString(mac.Sum(nil)[:12])
}

// shareFromPage makes a run's link.
func (s *Server) shareFromPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.sharable(r, a)
	if err != nil {
		return err
	}
	if _, err := s.cfg.Shares.share(r.Context(), run.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID+"?done=shared#share", http.StatusSeeOther)
	return nil
}

// unshareFromPage takes a run's link back.
func (s *Server) unshareFromPage(w http.ResponseWriter, r *http.Request, a users.Account) error {
	run, err := s.sharable(r, a)
	if err != nil {
		return err
	}
	if err := s.cfg.Shares.revoke(r.Context(), run.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/run/"+run.ID+"?done=unshared", http.StatusSeeOther)
	return nil
}

// sharable finds a run whose results its owner may show: operators see the runs of others, but do not show them
// around.
func (s *Server) sharable(r *http.Request, a users.Account) (runs.Run, error) {
	run, err := s.ownRun(r, a)
	if err == nil && (s.cfg.Shares == nil || run.AccountID != a.ID || run.Status != runs.StatusSucceeded) {
		err = runs.ErrNotFound
	}
	return run, err
}

// shareLink is the address of a run's link, empty where there is none.
func (s *Server) shareLink(r *http.Request, runID string) (string, error) {
	if s.cfg.Shares == nil {
		return "", nil
	}
	id, err := s.cfg.Shares.of(r.Context(), runID)
	if errors.Is(err, errNotShared) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.absolute(r, s.sharePath(id)), nil
}

// sharePage is what whoever has a link sees: the results and the tool, nothing of the account, its words or its
// money.
type sharePage struct {
	Tool    string
	ToolID  string // empty when visitors could not run it
	About   string
	Results []result
	Picture string // absolute address, for previews in chats
	Address string
}

// shared shows a shared run to anybody.
func (s *Server) shared(w http.ResponseWriter, r *http.Request) {
	page, err := s.sharedPage(r)
	if errors.Is(err, errNotShared) {
		voice := s.voice(r, users.Account{})
		s.render(w, r, http.StatusNotFound, "problem", view{Title: voice.Line("web.share.gone.title"), Problem: voice.Line("web.share.gone")})
		return
	}
	if err != nil {
		s.failPage(w, r, err)
		return
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	s.render(w, r, http.StatusOK, "shared", view{Title: page.Tool, Shared: &page, Scripts: []string{"run.js"}})
}

func (s *Server) sharedPage(r *http.Request) (sharePage, error) {
	id, signature, _ := strings.Cut(r.PathValue("link"), ".")
	if s.cfg.Shares == nil || !hmac.Equal([]byte(signature), []byte(s.signShare(id))) {
		return sharePage{}, errNotShared
	}
	runID, err := s.cfg.Shares.run(r.Context(), id)
	if err != nil {
		return sharePage{}, err
	}
	run, err := s.cfg.Runs.Get(r.Context(), runID)
	if err != nil {
		return sharePage{}, err
	}
	page := sharePage{Tool: run.Tool.DisplayName, About: purpose(run.Tool.Description), Address: s.absolute(r, s.sharePath(id))}
	if t, ok := s.cfg.Registry.Snapshot().Resolve(run.Tool.ToolID); ok && t.ListedFor(registry.Everyone) {
		page.ToolID = t.ToolID
	}
	for _, o := range run.Outputs {
		page.Results = append(page.Results, s.result(run, o))
	}
	if picture := lastPicture(page.Results); picture != "" {
		page.Picture = s.absolute(r, picture)
	}
	return page, nil
}
