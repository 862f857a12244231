// Package versions lets an operator look at the versions of a tool in the terminal, go back to one, and keep one beside the present one.
package versions

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry/history"
)

// Print lists the versions of a tool, newest first: number, when it was first there, and how it is served.
func Print(ctx context.Context, w io.Writer, store *history.Store, tool string) error {
	id, list, err := find(ctx, store, tool)
	if err != nil {
		return err
	}
	current, err := store.Current(ctx, id)
	if err != nil {
		return err
	}
	pins, err := store.Pins(ctx)
	if err != nil {
		return err
	}
	for _, v := range list {
		notes := []string{}
		if v.Version.Version == current {
			notes = append(notes, "served")
		}
		for _, p := range pins {
			switch {
			case p.ToolID != id || p.Version != v.Version.Version:
			case p.Instead:
				notes = append(notes, "rolled back to")
			default:
				notes = append(notes, fmt.Sprintf("kept as %s-v%d", id, p.Number))
			}
		}
		fmt.Fprintf(w, "%3d  %s  %s  %s\n", v.Number, v.FirstSeen.UTC().Format(time.DateTime), v.Version.Version, strings.Join(notes, ", "))
	}
	return nil
}

// Pin serves a version in the place of the present one, or beside it under a name of its own, and says so.
func Pin(ctx context.Context, w io.Writer, store *history.Store, tool string, number int, instead bool) error {
	id, list, err := find(ctx, store, tool)
	if err != nil {
		return err
	}
	if number < 1 || number > len(list) {
		return fmt.Errorf("version: found %d, expected 1 to %d; signalbox tools versions %s lists them", number, len(list), id)
	}
	if err := store.Pin(ctx, id, number, instead, "operator"); err != nil {
		return err
	}
	if instead {
		_, err = fmt.Fprintf(w, "%s is served as it was in version %d, whatever its file says, until signalbox tools release %s.\n", id, number, id)
		return err
	}
	former, err := store.Tool(ctx, id, list[len(list)-number].Version.Version)
	if err != nil {
		return err
	}
	beside := history.Beside(former, number)
	_, err = fmt.Fprintf(w, "Version %d of %s is served as %s beside the present one, until signalbox tools release %s.\n", number, id, cmp.Or(beside.CommandName, beside.ToolID), id)
	return err
}

// Release lets go of a version, or of all of a tool with 0, and says so.
func Release(ctx context.Context, w io.Writer, store *history.Store, tool string, number int) error {
	id, _, err := find(ctx, store, tool)
	if err != nil {
		return err
	}
	n, err := store.Unpin(ctx, id, number)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("no such version of %s is rolled back to or kept; signalbox tools versions %s shows which are", id, id)
	}
	_, err = fmt.Fprintf(w, "%s is served as its file says.\n", id)
	return err
}

// find reads a tool's id, perhaps with a command's slash, and gives its versions.
func find(ctx context.Context, store *history.Store, tool string) (id string, list []history.Numbered, err error) {
	id = strings.TrimPrefix(tool, "/")
	if list, err = store.Numbered(ctx, id); err == nil && len(list) == 0 {
		err = fmt.Errorf("tool: found %q, expected the id of a tool that was served here; /operator/tools lists them", tool)
	}
	return id, list, err
}
