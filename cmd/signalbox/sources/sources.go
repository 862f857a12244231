// Package sources connects documents from outside: sources that are added over HTTP, and built files.
package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/signalbox/signalbox/platforms/web"
	"github.com/signalbox/signalbox/platforms/web/knowledgeapi"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
)

// API is how sources are added at run time.
func API(sources *knowledge.Provider, readAgain func(), log *slog.Logger) http.Handler {
	show := func(s index.Source) knowledgeapi.Source {
		return knowledgeapi.Source{
			Name: s.Name, Title: s.Title, ToolID: s.ToolID, Mine: s.Owner != "", Access: string(s.Access), Origin: string(s.Origin), Chunks: s.Chunks, Problem: s.Problem,
		}
	}
	owner := func(account string, house bool) string {
		if house {
			return ""
		}
		return account
	}
	return knowledgeapi.Handler(knowledgeapi.Config{
		List: func(ctx context.Context, account string) ([]knowledgeapi.Source, error) {
			list, err := sources.Readable(ctx, account)
			shown := []knowledgeapi.Source{}
			for _, s := range list {
				shown = append(shown, show(s))
			}
			return shown, err
		},
		Add: func(ctx context.Context, account string, w knowledgeapi.Wanted) (knowledgeapi.Source, error) {
			s, err := sources.Add(ctx, knowledge.Wanted{
				Name: w.Name, Title: w.Title, Description: w.Description, URL: w.URL, Upload: w.Upload, Filename: w.Filename,
				Owner: owner(account, w.House), Uploader: account, Access: knowledge.Access{Level: index.Access(w.Access.Level), Readers: w.Access.Readers},
			})
			if err == nil {
				readAgain()
			}
			return show(s), err
		},
		Remove: func(ctx context.Context, account, name string, house bool) error {
			return sources.Remove(ctx, name, owner(account, house))
		},
		Caller: web.Caller, Logger: log,
	})
}

// Build writes the documents of a folder or zip as one file, beside its place, and puts it there when it is whole. What is left out is told
// to trouble.
func Build(ctx context.Context, w, trouble io.Writer, dir, out string, reader document.Reader, embedder index.Embedder) error {
	file, err := os.Create(out + ".new")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	built, err := knowledge.Build(ctx, file, dir, reader, embedder)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	for _, problem := range built.Problems {
		fmt.Fprintln(trouble, "left out:", problem)
	}
	if err := os.Rename(file.Name(), out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %d passages of %d documents, in %s\n", built.Name, built.Chunks, built.Documents, out)
	return err
}
