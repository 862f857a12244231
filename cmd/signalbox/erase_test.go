package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/cmd/signalbox/accounts"
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/database"
	"github.com/signalbox/signalbox/cmd/signalbox/media"
	"github.com/signalbox/signalbox/internal/assets"
	"github.com/signalbox/signalbox/internal/postgres/postgrestest"
	"github.com/signalbox/signalbox/test/housetest"
	"github.com/signalbox/signalbox/users"
)

func TestErasingDeletesFiles(t *testing.T) {
	t.Parallel()
	db := &database.DB{Pool: postgrestest.New(t)}
	files := media.Store{Assets: housetest.NewFiles(t, db.Pool).Store}
	people := accounts.New(db.Pool, billing.NewLedger(db.Pool), config.Config{}, func(c *users.Config) {
		c.AfterErase = (&house{media: files}).collect
	})
	person := func() string {
		t.Helper()
		account, err := people.Identify(t.Context(), users.Identity{Platform: "web", ExternalID: uuid.NewString(), Name: "Ann"})
		if err != nil {
			t.Fatal(err)
		}
		return account.ID
	}
	give := func(content, owner string) assets.Ref {
		t.Helper()
		ref, _, err := files.Keep(t.Context(), bytes.NewReader([]byte(content)), assets.Meta{Name: "ann-at-the-sea.jpg", Owner: owner, Kind: assets.Upload})
		if err != nil {
			t.Fatal(err)
		}
		return assets.Ref(ref)
	}
	ann, ben := person(), person()
	hers, shared := give("hers", ann), give("shared", ann)
	give("shared", ben)
	if err := people.Erase(t.Context(), ann, ann); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Assets.Open(t.Context(), hers); !errors.Is(err, assets.ErrNotFound) {
		t.Errorf("her file: %v, want ErrNotFound", err)
	}
	info, err := files.Assets.Stat(t.Context(), shared)
	if err != nil || strings.Contains(info.Name, "ann") {
		t.Errorf("the file that Ben has, too, is called %q: %v", info.Name, err)
	}
	if owners, err := assets.Owners(t.Context(), db.Pool, shared, assets.Reader{}); err != nil || len(owners) != 1 || owners[0] != ben {
		t.Errorf("the shared file is %v's: %v", owners, err)
	}
	late := assets.Meta{Name: "late.jpg", Owner: ann, Kind: assets.Upload}
	if _, _, err := files.Keep(t.Context(), strings.NewReader("late"), late); !errors.Is(err, assets.ErrErased) {
		t.Errorf("an upload that was under way: %v", err)
	}
}
