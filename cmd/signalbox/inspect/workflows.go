package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy/graph"
	"github.com/signalbox/signalbox/comfy/objectinfo"
	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/internal/plain"
	"github.com/signalbox/signalbox/registry"
)

// Options say how workflow files are inspected.
type Options struct {
	ObjectInfo *objectinfo.Info // nil: what is known of the common nodes
	Rate       json.Number      // see workflow.Options
	JSON       bool             // one JSON object a line instead of text
	Width      int              // columns of text output; 0 means 100
	Reserved   []string         // commands that no tool gets: "/settings"
}

// report tells what the bytes of one file would become. A file that is no workflow has Error set.
func report(file string, data []byte, o Options) Report {
	r := Report{File: file}
	w, err := graph.Parse(data)
	if err != nil {
		r.Error = err.Error()
		return r
	}
	f := w.Facts()
	r.facts = f
	r.Format = f.Format.Short()
	r.Nodes, r.ActiveNodes, r.ExecutableNodes, r.Links = &f.Nodes, &f.ActiveNodes, &f.ExecutableNodes, &f.Links
	r.ClassTypes, r.Notes, r.Lint = f.ClassTypes, []string{}, []graph.Finding{}
	for _, n := range f.Notes {
		r.Notes = append(r.Notes, plain.HideKeys(n.Text))
	}
	d, err := workflow.Define(w, workflow.Options{FileName: file, ObjectInfo: o.ObjectInfo, Rate: o.Rate})
	if err != nil {
		r.Error = err.Error()
		return r
	}
	if err := d.Tool.Seal(); err != nil {
		r.Error = fmt.Sprintf("the definition can't be written: %v", err)
		return r
	}
	r.Tool, r.Lint = &d.Tool, append(r.Lint, d.Findings...)
	return r
}

// ReadWorkflow reads a file with the bound of graph.Parse. The error names the file and says what is wrong.
func ReadWorkflow(path string) ([]byte, error) {
	return readBounded(path, graph.MaxBytes)
}

// ReadObjectInfo reads the saved body of GET /object_info.
func ReadObjectInfo(path string) (*objectinfo.Info, error) {
	data, err := readBounded(path, objectinfo.MaxBytes)
	if err != nil {
		return nil, err
	}
	info, err := objectinfo.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return info, nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s is a folder: give the files in it", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d MB", path, limit>>20)
	}
	return data, nil
}

// Workflows writes a report of every file to w, in the given order. ok is false if any file has an error;
// err is set when nothing more can be written or ctx ended.
func Workflows(ctx context.Context, w io.Writer, files []string, o Options) (ok bool, err error) {
	reports := make([]Report, 0, len(files))
	tools := map[string]registry.Tool{}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		data, err := ReadWorkflow(file)
		if err != nil {
			reports = append(reports, Report{File: file, Error: err.Error()})
			continue
		}
		r := report(file, data, o)
		if r.Tool != nil {
			if slices.Contains(o.Reserved, r.Tool.CommandName) {
				r.Lint = append(r.Lint, graph.Finding{Code: "command-reserved", Severity: graph.SeverityError,
					Message: r.Tool.CommandName + " is a command of the bot's own, so the tool has none", Advice: "rename the file, or set @tool command="})
			}
			tools[file] = *r.Tool
		}
		reports = append(reports, r)
	}
	clashes := commandClashes(tools)
	ok = true
	for i, r := range reports {
		r.Lint = append(clashes[r.File], r.Lint...)
		ok = ok && r.Error == ""
		if err := writeReport(w, r, o, i > 0); err != nil {
			return ok, err
		}
	}
	return ok, nil
}

func writeReport(w io.Writer, r Report, o Options, again bool) error {
	if o.JSON {
		line, err := r.line()
		if err != nil {
			return err
		}
		_, err = w.Write(line)
		return err
	}
	text := r.Text(o.Width)
	if again {
		text = "\n" + text
	}
	_, err := io.WriteString(w, text)
	return err
}

// Convert writes the prompt of one workflow file to w as indented JSON. Findings come back for the caller
// to show elsewhere.
func Convert(ctx context.Context, w io.Writer, file string, info *objectinfo.Info) ([]graph.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := ReadWorkflow(file)
	if err != nil {
		return nil, err
	}
	parsed, err := graph.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	prompt, findings, err := graph.Convert(parsed, info)
	if err != nil {
		return findings, fmt.Errorf("%s: %w", file, err)
	}
	_, err = w.Write(prompt.Indented())
	return findings, err
}

// commandClashes reports tools of several files that claim one command or one id: the file that comes first
// by name keeps it. The result has one finding list for each file with a clash.
func commandClashes(tools map[string]registry.Tool) map[string][]graph.Finding {
	files := slices.Sorted(maps.Keys(tools))
	owner := map[string]string{}
	out := map[string][]graph.Finding{}
	for _, file := range files {
		t := tools[file]
		for _, claim := range []struct{ what, value string }{{"command", t.CommandName}, {"id", t.ToolID}} {
			key := claim.what + " " + claim.value
			first, taken := owner[key]
			if !taken {
				owner[key] = file
				continue
			}
			out[file] = append(out[file], graph.Finding{Code: "command-clash", Severity: graph.SeverityError,
				Message: fmt.Sprintf("%s claims the %s %s, which %s has", plain.Quote(base(file)), claim.what, claim.value, plain.Quote(base(first))),
				Advice:  "rename one of the files, or set @tool " + claim.what + "="})
		}
	}
	return out
}

// base is the last part of a path of any system.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
