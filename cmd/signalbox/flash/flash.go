// Package flash writes the registry over an earlier dump, and keeps from that dump what could not be read now.
package flash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/signalbox/signalbox/comfy/loader"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// KeepGood puts what the dump in the folder has in the place of tools that could not be read now. Tools of engines that
// do not answer, and that no dump has, are left out rather than written as unavailable for good.
func KeepGood(ctx context.Context, w io.Writer, dir string, s *catalog.Snapshot, silent bool) (*catalog.Snapshot, error) {
	last, err := catalog.NewFlashLoader("the last dump", filepath.Join(dir, catalog.FlashFile)).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var tools []registry.Tool
	for t := range s.Each() {
		was := slices.IndexFunc(last, func(l registry.Tool) bool { return l.ToolID == t.ToolID })
		waits := silent && t.Service == loader.Service && t.State() == registry.StateUnavailable && t.Status.Checked
		switch {
		case waits && was >= 0:
			tools = append(tools, last[was])
		case waits:
			fmt.Fprintf(w, "warning: %s is left out: %s\n", t.ToolID, t.Status.Reason)
		default:
			tools = append(tools, *t)
		}
	}
	for _, l := range last {
		if _, there := s.ByID(l.ToolID); !there {
			fmt.Fprintf(w, "warning: %s stays as it was: it could not be read now\n", l.ToolID)
			tools = append(tools, l)
		}
	}
	return catalog.NewSnapshot(tools, s.Time()), nil
}
