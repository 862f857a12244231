package moderation

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs"
	"github.com/signalbox/signalbox/users"
)

// CheckPlace is where a result was seen that nobody but a check has seen: it is for operators alone.
const CheckPlace = "check"

// byCheck is who did what a check did, in the audit log.
const byCheck = "check of results"

// checkedSide is the side in pixels of what is looked at: no more is needed to tell what a picture shows.
const checkedSide = 768

// Checks are how pictures are looked at before anybody gets them; all but Strict is required.
type Checks struct {
	// Look gives how surely a picture is of each category, from 0 to 1.
	Look   func(ctx context.Context, mime string, picture []byte) (map[string]float64, error)
	Media  registry.MediaOpener
	At     float64 // what is at least so sure is held back
	Strict bool    // what can't be looked at is held back, too; else it goes out, and the audit log says so
}

// Check looks at the pictures among the outputs of a run that is about to succeed. A *registry.Error says that they are held back: then the run ends
// without them. Those that a check has found something in are reported to operators.
func (s *Service) Check(ctx context.Context, c Checks, run runs.Run) error {
	var unseen error // why a picture could not be looked at
	for _, o := range run.Outputs {
		if o.Media == "" || !isPicture(o) {
			continue
		}
		scores, err := c.look(ctx, o.Media)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			unseen = cmp.Or(unseen, err)
			continue
		}
		if found := c.found(scores); len(found) > 0 {
			if err := s.hold(ctx, run, found, scores); err != nil {
				return err
			}
			return registry.Say(registry.CodeRefused, said.ResultHeld)
		}
	}
	if unseen != nil {
		return s.unchecked(ctx, c, run, unseen)
	}
	return nil
}

func isPicture(o runs.Output) bool {
	return o.Type == "image" || strings.HasPrefix(o.MIMEType, "image/")
}

func (c Checks) look(ctx context.Context, ref registry.Media) (map[string]float64, error) {
	content, _, err := c.Media.OpenMedia(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	mime, small, err := assets.Shrink(io.Reader(content), checkedSide)
	if err != nil {
		return nil, err
	}
	return c.Look(ctx, mime, small)
}

// found are the categories that are sure enough, the surest first.
func (c Checks) found(scores map[string]float64) []string {
	over := slices.DeleteFunc(slices.Sorted(maps.Keys(scores)), func(category string) bool { return scores[category] < c.At })
	slices.SortStableFunc(over, func(a, b string) int { return cmp.Compare(scores[b], scores[a]) })
	return over
}

// reasonOf is the reason for which a category is reported.
func reasonOf(category string) Reason {
	switch kind, _, _ := strings.Cut(category, "/"); kind {
	case "sexual":
		return Sexual
	case "violence", "self-harm":
		return Violence
	}
	return Other
}

// hold reports what a check has found, once for each run, also where the run comes to its end again after a crash.
func (s *Service) hold(ctx context.Context, run runs.Run, found []string, scores map[string]float64) error {
	words := make([]string, len(found))
	for i, category := range found {
		words[i] = fmt.Sprintf("%s %.2f", category, scores[category])
	}
	text := strings.Join(words, ", ")
	var first bool
	err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) (err error) {
		var known bool
		err = tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM moderation_reports WHERE run_id = $1 AND platform = $2)`, run.ID, CheckPlace).Scan(&known)
		if err != nil || known {
			return err
		}
		first, err = s.write(ctx, tx, run, Report{Where: Place{Platform: CheckPlace}, Reason: reasonOf(found[0]), Words: text})
		if err != nil {
			return err
		}
		return users.RecordIn(ctx, tx, users.AuditEntry{By: byCheck, AccountID: run.AccountID, Action: "result held back", Detail: "run " + run.ID, Note: text})
	})
	if err != nil {
		return wrapped(err, "report run", run.ID)
	}
	if first {
		s.tellOperators(ctx, "report.held", "tool", run.Tool.DisplayName)
	}
	return nil
}

// unchecked is for a result that could not be looked at.
func (s *Service) unchecked(ctx context.Context, c Checks, run runs.Run, why error) error {
	s.cfg.Logger.WarnContext(ctx, "a result could not be checked", "run", run.ID, "held", c.Strict, "error", why)
	if c.Strict {
		return registry.Say(registry.CodeUnavailable, said.ResultUnchecked).Because(why)
	}
	err := s.cfg.People.Record(ctx, users.AuditEntry{By: byCheck, AccountID: run.AccountID, Action: "result not checked", Detail: "run " + run.ID, Note: registry.AsError(why).Message})
	return wrapped(err, "note that nobody has checked run", run.ID)
}
