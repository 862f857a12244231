// Package sections adds pages to the operator's console: the wallets of groups, and missions.
package sections

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/groups"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
)

// shownGroups is how many wallets operators see.
const shownGroups = 500

// Groups shows operators the wallets of groups, and closes those that nobody can close any more.
func Groups(wallets *groups.Store) console.Section {
	return console.Section{
		Path: "groups", Title: "Groups", Table: func(ctx context.Context, _ string) (console.Table, error) { return groupTable(ctx, wallets) },
		Deed: &console.Deed{
			Name: "close", Button: "Close the wallet", Says: "What is left goes back to who gave, each by their share of all that was given, and the rules of the wallet are forgotten.",
			Do: func(ctx context.Context, ids ...string) (string, error) { return closeGroup(ctx, wallets, ids) },
		},
	}
}

func groupTable(ctx context.Context, wallets *groups.Store) (console.Table, error) {
	t := console.Table{
		Lead:    "Wallets of groups, those first that have most, at most five hundred. A budget of nothing is no limit.",
		Columns: []string{"Platform", "Place", "Available", "Held", "Sponsors", "Pays first", "A day", "A month", "A member", "Guests' runs a day", "Party until", "Id"}, Empty: "No group has a wallet.",
	}
	list, err := wallets.Open(ctx, shownGroups)
	for _, w := range list {
		party := ""
		if w.Party != "" {
			party = w.PartyEnds.UTC().Format(time.DateTime)
		}
		row := console.Row{ID: w.ID}
		for _, text := range []string{
			w.Place.Platform, string(w.Place.Kind) + " " + w.Place.ID, w.Available.String(), w.Held.String(), strconv.Itoa(w.Sponsors), string(w.Pays),
			w.Day.String(), w.Month.String(), w.Member.String(), strconv.Itoa(w.GuestRuns), party, w.ID,
		} {
			row.Cells = append(row.Cells, console.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t, err
}

// closeGroup closes the wallet with an id.
func closeGroup(ctx context.Context, wallets *groups.Store, ids []string) (string, error) {
	list, err := wallets.Open(ctx, shownGroups)
	if err != nil {
		return "", err
	}
	for _, w := range list {
		if len(ids) == 1 && w.ID == ids[0] {
			left, err := wallets.Close(ctx, w.Place, "console")
			return fmt.Sprintf("The wallet is closed, and %s went back.", left), err
		}
	}
	return "", registry.Errorf(registry.CodeInvalidInput, "there is no such wallet; it may be closed already")
}
