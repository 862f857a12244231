// Package landing is what strangers see first, and how operators choose it.
package landing

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/pages"
	"github.com/signalbox/signalbox/workflows"
)

// Examples are the pictures of bundled tools, but for those that WORKFLOWS_DIR replaces by another workflow: what that makes is not known.
func Examples(workflowsDir string) (map[string][]byte, error) {
	files, err := fs.Glob(workflows.Examples, "examples/*.jpg")
	if err != nil {
		return nil, err
	}
	pictures := map[string][]byte{}
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".jpg")
		bundled, err := workflows.FS.ReadFile(id + ".json")
		if err != nil {
			return nil, err
		}
		own, err := os.ReadFile(filepath.Join(workflowsDir, id+".json"))
		if err == nil && !bytes.Equal(own, bundled) {
			continue
		}
		if pictures[id], err = workflows.Examples.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return pictures, nil
}

// Section is the console's page on which operators pick what strangers see.
func Section(shares *pages.Shares) console.Section {
	return console.Section{
		Path: "landing", Title: "Landing page", Views: []console.View{{Name: "shared", Title: "All shared"}, {Name: "shown", Title: "On the page"}},
		Table: func(ctx context.Context, view string) (console.Table, error) {
			list, err := shares.List(ctx, view == "shown")
			return table(list), err
		},
		Deed: &console.Deed{
			Name: "turn", Button: "Show or take off",
			Says: "A result that is not on the landing page goes there, where everybody sees it without signing in; one that is there comes off.",
			Do:   turn(shares),
		},
	}
}

func table(list []pages.Shared) console.Table {
	t := console.Table{
		Lead:    "Strangers see these results on the landing page; without any, examples of the bundled tools. Only what its owner has shared by a link can stand there, and it goes when the link is taken back.",
		Columns: []string{"Run", "Tool", "Shared", "On the page"}, Empty: "No result is shared. Open one of yours and press Share.",
	}
	for _, s := range list {
		shown := "no"
		if s.Landing {
			shown = "yes"
		}
		t.Rows = append(t.Rows, console.Row{ID: s.Link, Cells: []console.Cell{{Run: s.RunID}, {Text: s.Tool}, {Text: s.Since.UTC().Format(time.DateTime)}, {Text: shown}}})
	}
	return t
}

func turn(shares *pages.Shares) func(ctx context.Context, links ...string) (string, error) {
	return func(ctx context.Context, links ...string) (string, error) {
		said := "Nothing was picked."
		for _, link := range links {
			on, err := shares.TurnLanding(ctx, link)
			if err != nil {
				return "", err
			}
			said = "The result is off the landing page."
			if on {
				said = "The result is on the landing page."
			}
		}
		return said, nil
	}
}
