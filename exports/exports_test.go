package exports

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/archive"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/claims"
	"github.com/signalbox/signalbox/internal/clocktest"
	"github.com/signalbox/signalbox/internal/postgres"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

// office is a Service with all that it needs.
type office struct {
	t      *testing.T
	pool   *pgxpool.Pool
	clock  *clocktest.Manual
	files  *assets.Store
	people *users.Store
	cfg    Config
	*Service

	mu   sync.Mutex
	told []Export
}

func newOffice(t *testing.T, parts ...archive.Part) *office {
	t.Helper()
	o := &office{t: t, pool: postgrestest.New(t), clock: clocktest.NewManual(time.Now())}
	o.files = housetest.NewFiles(t, o.pool).Store
	o.people = users.New(o.pool, users.Config{
		OnMerge: Adopt,
		OnErase: func(ctx context.Context, tx pgx.Tx, accountID string) error {
			return errors.Join(Forget(ctx, tx, accountID), assets.Forget(ctx, tx, accountID))
		},
	})
	o.cfg = Config{
		Pool: o.pool, Files: o.files, Parts: parts, Now: o.clock.Now, Poll: 5 * time.Millisecond, LookEvery: 5 * time.Millisecond,
		Tell: func(_ context.Context, e Export) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.told = append(o.told, e)
			return nil
		},
	}
	o.Service = o.open()
	return o
}

// open makes another Service on the same database, as a restart or another machine does.
func (o *office) open() *Service {
	o.t.Helper()
	s, err := New(o.cfg)
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

func (o *office) person(name string) string {
	o.t.Helper()
	account, err := o.people.Identify(o.t.Context(), users.Identity{Platform: "web", ExternalID: name, Name: name})
	if err != nil {
		o.t.Fatal(err)
	}
	return account.ID
}

func (o *office) request(account string) Export {
	o.t.Helper()
	e, err := o.Request(o.t.Context(), account)
	if err != nil {
		o.t.Fatal(err)
	}
	return e
}

// until waits for a condition in SQL.
func (o *office) until(what, condition string, args ...any) {
	o.t.Helper()
	clocktest.Until(o.t, what, func() (holds bool) {
		if err := o.pool.QueryRow(o.t.Context(), `SELECT `+condition, args...).Scan(&holds); err != nil {
			o.t.Fatal(err)
		}
		return holds
	})
}

const done = `EXISTS (SELECT FROM exports WHERE id = $1 AND state = 'ready') AND NOT EXISTS (SELECT FROM export_work)`

func (o *office) unpack(account, id string) map[string]string {
	o.t.Helper()
	content, err := o.Open(o.t.Context(), account, id)
	if err != nil {
		o.t.Fatal(err)
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		o.t.Fatal(err)
	}
	packed, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		o.t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range packed.File {
		r, err := f.Open()
		if err != nil {
			o.t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			o.t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

func TestExport(t *testing.T) {
	t.Parallel()
	t.Run("what rooms know and the files are in it, for its owner alone, and it is told of once", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, users.Export)
		ann, ben := o.person("Ann"), o.person("Ben")
		ref, err := o.files.Put(t.Context(), strings.NewReader("a picture"), assets.Meta{Name: "sea.txt", Owner: ann, Kind: assets.Result})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.files.Put(t.Context(), strings.NewReader("Ben's"), assets.Meta{Name: "ben.txt", Owner: ben, Kind: assets.Result}); err != nil {
			t.Fatal(err)
		}
		housetest.Begin(t, o.Service)
		housetest.Begin(t, o.open())
		e := o.request(ann)
		o.until("it is ready", done, e.ID)
		files := o.unpack(ann, e.ID)
		if got := files["files/"+ref.Hash()+"/sea.txt"]; got != "a picture" {
			t.Errorf("the picture is %q among %v", got, files)
		}
		if !strings.Contains(files["account.json"], `"display_name":"Ann"`) || strings.Contains(fmt.Sprint(files), "Ben") {
			t.Errorf("got %v", files)
		}
		if _, err := o.Open(t.Context(), ben, e.ID); !errors.Is(err, assets.ErrNotFound) {
			t.Errorf("Ben opens it: %v", err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		if len(o.told) != 1 || o.told[0].ID != e.ID || o.told[0].State != Ready || o.told[0].Bytes == 0 {
			t.Errorf("told %+v", o.told)
		}
	})
	t.Run("one is made at a time, one a day, and it is gone after a week", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, users.Export)
		ann := o.person("Ann")
		first := o.request(ann)
		if again := o.request(ann); again.ID != first.ID {
			t.Errorf("a second one is made beside it: %v and %v", first, again)
		}
		housetest.Begin(t, o.Service)
		o.until("it is ready", done, first.ID)
		o.clock.Advance(Every - time.Hour)
		last, err := o.Request(t.Context(), ann)
		var refused *registry.Error
		if !errors.As(err, &refused) || refused.Code != registry.CodeRateLimited || refused.RetryAfter.Round(time.Minute) != time.Hour || last.ID != first.ID {
			t.Errorf("got %+v, %v", last, err)
		}
		o.clock.Advance(2 * time.Hour)
		if next := o.request(ann); next.ID == first.ID {
			t.Error("there is none on the next day")
		}
		o.clock.Advance(Kept)
		if _, err := o.Open(t.Context(), ann, first.ID); !errors.Is(err, assets.ErrNotFound) {
			t.Errorf("after a week: %v", err)
		}
		o.until("it is forgotten", `NOT EXISTS (SELECT FROM exports WHERE id = $1)`, first.ID)
	})
	t.Run("its file is deleted with it, and not before", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, users.Export)
		ann := o.person("Ann")
		e := o.request(ann)
		housetest.Begin(t, o.Service)
		o.until("it is ready", done, e.ID)
		if _, err := o.pool.Exec(t.Context(), `UPDATE asset_owners SET put_at = now() - interval '3 days'; UPDATE assets SET put_at = now() - interval '3 days'`); err != nil {
			t.Fatal(err)
		}
		if _, err := o.files.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.unpack(ann, e.ID)
		o.clock.Advance(Kept)
		o.until("the file is gone", `NOT EXISTS (SELECT FROM assets)`)
	})
	t.Run("who is erased leaves none, not even one that is being made", func(t *testing.T) {
		t.Parallel()
		begun, release := make(chan struct{}), make(chan struct{})
		o := newOffice(t, func(context.Context, pgx.Tx, string, *archive.Writer) error {
			close(begun)
			<-release
			return nil
		})
		ann := o.person("Ann")
		e := o.request(ann)
		over := make(chan error)
		go func() { over <- o.advance(t.Context(), item(e, 0)) }()
		<-begun
		if err := o.people.Erase(t.Context(), ann, ann); err != nil {
			t.Fatal(err)
		}
		close(release)
		if err := <-over; err != nil || len(o.told) != 0 {
			t.Errorf("told %+v, %v", o.told, err)
		}
		o.until("nothing is left", `NOT EXISTS (SELECT FROM exports) AND NOT EXISTS (SELECT FROM export_work) AND NOT EXISTS (SELECT FROM asset_owners)`)
	})
	t.Run("what fails again and again is given up and told, and may be asked for again", func(t *testing.T) {
		t.Parallel()
		broken := true
		o := newOffice(t, func(context.Context, pgx.Tx, string, *archive.Writer) error {
			if broken {
				return errors.New("the disk is full")
			}
			return nil
		})
		ann := o.person("Ann")
		e := o.request(ann)
		for try := range tries {
			next := o.do(t.Context(), item(e, try))
			if last := try == tries-1; last != (next.After == 0) {
				t.Fatalf("after try %d: %+v", try+1, next)
			}
		}
		if len(o.told) != 1 || o.told[0].State != Failed {
			t.Errorf("told %+v", o.told)
		}
		broken = false
		again := o.request(ann)
		if next := o.do(t.Context(), item(again, 0)); next.After != 0 || again.ID == e.ID || o.told[1].State != Ready {
			t.Errorf("got %+v, %+v, told %+v", next, again, o.told)
		}
	})
	t.Run("who merges keeps it, and of two under way the survivor's goes on", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, users.Export)
		ann, ben := o.person("Ann"), o.person("Ben")
		hers := o.request(ann)
		o.request(ben)
		err := postgres.InTx(t.Context(), o.pool, func(tx pgx.Tx) error { return Adopt(t.Context(), tx, ben, ann) })
		if err != nil {
			t.Fatal(err)
		}
		o.until("hers alone is left", `(SELECT array_agg(id) = ARRAY[$1::uuid] FROM exports)`, hers.ID)
	})
}

// A large archive is never whole in memory.
func TestExportStreams(t *testing.T) {
	t.Parallel()
	const size = 200 << 20
	o := newOffice(t)
	ann := o.person("Ann")
	content := io.LimitReader(rand.NewChaCha8([32]byte{1}), size)
	if _, err := o.files.Put(t.Context(), content, assets.Meta{Name: "film.mp4", Owner: ann, Kind: assets.Result}); err != nil {
		t.Fatal(err)
	}
	e := o.request(ann)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := o.advance(t.Context(), item(e, 0)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > size/10 {
		t.Errorf("an archive of %d MB took %d MB of memory", size>>20, used>>20)
	}
	if len(o.told) != 1 || o.told[0].Bytes < size {
		t.Errorf("told %+v", o.told)
	}
}

func item(e Export, failed int) claims.Item { return claims.Item{Key: e.ID, Tries: failed} }
