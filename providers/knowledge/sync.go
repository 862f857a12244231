package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/signalbox/signalbox/providers/knowledge/index"
)

// groupsFile in KNOWLEDGE_DIR names groups of readers and their members.
const groupsFile = "groups.yaml"

// Sync makes the sources what the folder and the built files are now, and reads those that were added and not read yet. What can't be read is noted
// with its source, and is no error.
func (p *Provider) Sync(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	groups := p.syncGroups(ctx)
	seen, changed := map[int64]bool{}, false
	p.seen = seen
	for _, origin := range []struct {
		paths []string
		take  func(ctx context.Context, path string) (id int64, changed bool, err error)
	}{{p.folders(), p.syncFolder}, {p.cfg.Files, p.syncFile}} {
		for _, path := range origin.paths {
			id, new, err := origin.take(ctx, path)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				p.cfg.Logger.Warn("a source of knowledge can't be read", "source", filepath.Base(path), "error", err)
			}
			seen[id], changed = true, changed || new
		}
	}
	removed, err := p.removeGone(ctx, seen)
	added, errAdded := p.readAdded(ctx)
	if changed || removed || added {
		p.cfg.Changed(ctx)
	}
	return errors.Join(groups, err, errAdded)
}

// folders are the sources of Dir, in the order of their names.
func (p *Provider) folders() []string {
	if p.cfg.Dir == "" {
		return nil
	}
	entries, err := os.ReadDir(p.cfg.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.cfg.Logger.Warn("the folder of knowledge can't be read", "error", err)
	}
	var list []string
	for _, e := range entries {
		path := filepath.Join(p.cfg.Dir, e.Name())
		info, err := os.Stat(path) // behind a symbolic link
		if err == nil && !strings.HasPrefix(e.Name(), ".") && (info.IsDir() || strings.EqualFold(filepath.Ext(path), ".zip")) {
			list = append(list, path)
		}
	}
	return list
}

func (p *Provider) syncGroups(ctx context.Context) error {
	if p.cfg.Dir == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(p.cfg.Dir, groupsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", groupsFile, err)
	}
	groups := map[string][]string{}
	if err := yaml.Unmarshal(data, &groups); err != nil {
		return fmt.Errorf("%s: expected names of groups, each with a list of members: %w", groupsFile, err)
	}
	return p.cfg.Index.SetGroups(ctx, groups)
}

// open opens a folder or zip. No link in a folder leads out of it.
func open(path string) (fs.FS, func() error, error) {
	if !strings.EqualFold(filepath.Ext(path), ".zip") {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, nil, err
		}
		return root.FS(), root.Close, nil
	}
	archive, err := openZip(path)
	if err != nil {
		return nil, nil, err
	}
	return archive, archive.Close, nil
}

// syncFolder reads a folder or zip. Where its source.yaml is broken the source stays as it was.
func (p *Provider) syncFolder(ctx context.Context, path string) (id int64, changed bool, err error) {
	base := filepath.Base(path)
	name := nameOf(strings.TrimSuffix(base, filepath.Ext(base)))
	files, done, err := open(path)
	if err != nil {
		return p.broken(ctx, index.Source{Name: name, Origin: index.OriginFolder, Address: base}, err)
	}
	defer done()
	d, err := readDefinition(files, strings.TrimSuffix(base, filepath.Ext(base)))
	if err != nil {
		return p.broken(ctx, index.Source{Name: name, Origin: index.OriginFolder, Address: base}, err)
	}
	s := d.source()
	s.Origin, s.Address = index.OriginFolder, base
	return p.refresh(ctx, s, d.items(files, p.cfg.Reader))
}

// source is what a definition says of its source.
func (d Definition) source() index.Source {
	return index.Source{
		ToolID: toolID(d.Name), Name: d.Name, Title: d.Title, Description: d.Description, Access: d.Access.Level, Readers: d.Access.Readers, Language: index.Configuration(d.Language),
	}
}

// refresh saves a source and reads what is new of it. A document that can't be read is noted with the source.
func (p *Provider) refresh(ctx context.Context, s index.Source, items iter.Seq2[index.Item, error]) (id int64, changed bool, err error) {
	before, known, err := p.known(ctx, s)
	if err != nil {
		return 0, false, err
	}
	if known && p.seen[before.ID] {
		return before.ID, false, fmt.Errorf("%s: %s is a source of this name, too: give one of them another in its %s", s.Address, before.Address, sourceFile)
	}
	if s.ID, err = p.cfg.Index.Save(ctx, s); err != nil {
		return 0, false, fmt.Errorf("%s: %w", s.Name, err)
	}
	done, err := p.cfg.Index.Refresh(ctx, s, items)
	problem := ""
	switch {
	case ctx.Err() != nil:
		return s.ID, false, ctx.Err()
	case err != nil:
		problem = err.Error()
	case len(done.Problems) == 1:
		problem = done.Problems[0]
	case len(done.Problems) > 1:
		problem = fmt.Sprintf("%s; nor can %d more of %d documents be read", done.Problems[0], len(done.Problems)-1, done.Written+done.Kept)
	}
	if done.Changed() {
		p.cfg.Logger.Info("documents were read", "source", s.Name, "written", done.Written, "removed", done.Removed, "kept", done.Kept)
	}
	return s.ID, !known || done.Changed() || differs(before, s) || problem != before.Problem, errors.Join(err, p.cfg.Index.SetProblem(ctx, s.ID, problem))
}

// differs tells whether a source's tool is another than before.
func differs(before, now index.Source) bool {
	return before.Title != now.Title || before.Description != now.Description || before.Access != now.Access || !slices.Equal(before.Readers, now.Readers)
}

// known finds the source of a name and owner as it is kept.
func (p *Provider) known(ctx context.Context, wanted index.Source) (index.Source, bool, error) {
	all, err := p.cfg.Index.All(ctx)
	i := slices.IndexFunc(all, func(s index.Source) bool { return s.Owner == wanted.Owner && strings.EqualFold(s.Name, wanted.Name) })
	if err != nil || i < 0 {
		return index.Source{}, false, err
	}
	return all[i], true, nil
}

// broken notes that a source can't be read. One that was not there before is listed with its trouble, for the house.
func (p *Provider) broken(ctx context.Context, s index.Source, cause error) (id int64, changed bool, err error) {
	all, err := p.cfg.Index.All(ctx)
	if err != nil {
		return 0, false, err
	}
	i := slices.IndexFunc(all, func(o index.Source) bool { return o.Origin == s.Origin && o.Address == s.Address })
	if i < 0 {
		s.ToolID, s.Title, s.Access = toolID(s.Name), s.Name, index.AccessListed
		if s.ID, err = p.cfg.Index.Save(ctx, s); err != nil {
			return 0, false, errors.Join(cause, err)
		}
	} else {
		s = all[i]
	}
	return s.ID, i < 0 || s.Problem != cause.Error(), errors.Join(cause, p.cfg.Index.SetProblem(ctx, s.ID, cause.Error()))
}

// removeGone deletes the sources of folders and built files that are not there any more.
func (p *Provider) removeGone(ctx context.Context, seen map[int64]bool) (removed bool, err error) {
	all, err := p.cfg.Index.All(ctx)
	if err != nil {
		return false, err
	}
	for _, s := range all {
		if seen[s.ID] || s.Origin == index.OriginFolder && p.cfg.Dir == "" || s.Origin == index.OriginFile && len(p.cfg.Files) == 0 || s.Origin != index.OriginFolder && s.Origin != index.OriginFile {
			continue
		}
		if err := p.cfg.Index.Remove(ctx, s.ID); err != nil {
			return removed, err
		}
		removed = true
	}
	return removed, nil
}
