package pages

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/signalbox/signalbox/platforms/web/door"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/runs/gallery"
	"github.com/signalbox/signalbox/users"
)

// chosen are the results that are ticked in a form.
func (s *galleryPages) chosen(r *http.Request, a users.Account) ([]gallery.Item, error) {
	if err := r.ParseForm(); err != nil {
		return nil, door.TooLargeOr(err, "the form can't be read")
	}
	var refs []gallery.ResultRef
	known := map[gallery.ResultRef]bool{}
	for _, text := range r.PostForm["item"] {
		at, err := gallery.ParseResultRef(text)
		if err != nil {
			return nil, err
		}
		if !known[at] {
			refs, known[at] = append(refs, at), true
		}
	}
	if len(refs) == 0 || len(refs) > gallery.MaxLimit {
		return nil, registry.Errorf(registry.CodeInvalidInput, "%d results are chosen: choose from 1 to %d", len(refs), gallery.MaxLimit)
	}
	return s.gallery.Find(r.Context(), a.ID, refs)
}

// zip sends the chosen files in one, as they come from the store. Should one fail in the midst, the connection breaks: nobody takes half
// of them for all.
func (s *galleryPages) zip(w http.ResponseWriter, r *http.Request, a users.Account) error {
	items, err := s.chosen(r, a)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="gallery.zip"`)
	h.Set("Cache-Control", "no-store")
	archive := zip.NewWriter(w)
	names := map[string]bool{}
	for _, item := range items {
		if err = s.pack(r.Context(), archive, item, uniqueName(item, names)); err != nil {
			break
		}
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		s.log.Warn("a zip of the gallery broke", "account", a.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// pack adds a file to an archive. Pictures and films are compressed by nature.
func (s *galleryPages) pack(ctx context.Context, archive *zip.Writer, item gallery.Item, name string) error {
	content, _, err := s.media.OpenMedia(ctx, item.Output.Media)
	if err != nil {
		return fmt.Errorf("result %s: %w", item.ResultRef, err)
	}
	defer content.Close()
	to, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: item.CreatedAt})
	if err == nil {
		_, err = io.Copy(to, content)
	}
	return err
}

// uniqueName is what a file is called in an archive: the day, the tool and its own name, with a number where that is taken.
func uniqueName(item gallery.Item, taken map[string]bool) string {
	own := path.Base(strings.Map(plainLetter, item.Output.FileName))
	base := item.CreatedAt.UTC().Format("2006-01-02") + " " + strings.Map(plainLetter, item.ToolID) + " " + strings.TrimSuffix(own, path.Ext(own))
	name := base + path.Ext(own)
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s %d%s", base, n, path.Ext(own))
	}
	taken[name] = true
	return name
}

// plainLetter takes out of a name what is a path to some program.
func plainLetter(r rune) rune {
	if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
		return '_'
	}
	return r
}

// remove deletes the chosen results.
func (s *galleryPages) remove(w http.ResponseWriter, r *http.Request, a users.Account) error {
	items, err := s.chosen(r, a)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := s.delete(r.Context(), a, item.RunID, item.N); err != nil {
			return err
		}
	}
	back := backIn(r, GalleryPath)
	if strings.HasPrefix(back, GalleryPath+"/") {
		back = GalleryPath
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
	return nil
}
