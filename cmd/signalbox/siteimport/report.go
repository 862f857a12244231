// Package siteimport tells what becomes of a folder that is brought into a site.
package siteimport

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/signalbox/signalbox/providers/content/folder"
)

// Report writes what becomes of files.
type Report struct {
	out   io.Writer
	count map[folder.Outcome]int
	err   error // of writing
}

// NewReport makes one without files.
func NewReport(out io.Writer) *Report {
	return &Report{out: out, count: map[folder.Outcome]int{}}
}

// Tell writes a line for a file, unless it is as it was, and one for each of its notes.
func (r *Report) Tell(f folder.Result) {
	r.count[f.Outcome]++
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	switch {
	case f.Message != "":
		r.print("%s: %s: %s\n", place, f.Outcome, f.Message)
	case f.Outcome != folder.Same:
		r.print("%s: %s as %s %s\n", place, f.Outcome, f.Kind, f.Slug)
	}
	if f.Outcome == folder.Added || f.Outcome == folder.Replaced {
		for _, note := range f.Notes {
			r.print("  %s\n", note)
		}
	}
}

func (r *Report) print(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil {
		r.err = err
	}
}

// End writes the sum. Broken files make the command fail, after all others are in.
func (r *Report) End() error {
	var parts []string
	all := 0
	for _, outcome := range []folder.Outcome{folder.Added, folder.Replaced, folder.Same, folder.Left, folder.Broken} {
		if n := r.count[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
			all += n
		}
	}
	if all == 0 {
		return errors.New("import: there is no Markdown in the folder: expected files that end in .md")
	}
	r.print("%d files: %s.\n", all, strings.Join(parts, ", "))
	if n := r.count[folder.Broken]; n > 0 && r.err == nil {
		return fmt.Errorf("import: %d of %d files could not be taken: mend them and import again; what is imported stays", n, all)
	}
	return r.err
}
