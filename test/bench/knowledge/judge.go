package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/knowledgetest"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
)

// judge reads the documents, asks the questions and prints the figures: ours, those of plain BM25, and how ours are beside stated ones.
func judge(ctx context.Context, pool *pgxpool.Pool, o options, dir string, out io.Writer) error {
	questions, err := knowledgetest.Questions(o.questions)
	if err != nil {
		return err
	}
	linked := filepath.Join(dir, "judged")
	documents, err := filepath.Abs(o.documents)
	if err == nil {
		err = errors.Join(os.Mkdir(linked, 0o755), os.Symlink(documents, filepath.Join(linked, "documents")))
	}
	if err != nil {
		return err
	}
	h, err := newHouse(pool, linked, wordvec.New())
	if err != nil {
		return err
	}
	if err := h.provider.Sync(ctx); err != nil {
		return err
	}
	ours, err := h.judged(ctx, questions, o.answers)
	if err != nil {
		return err
	}
	plain := bm25{pool}
	if err := plain.read(ctx); err != nil {
		return err
	}
	theirs, err := knowledgetest.Judge(ctx, questions, plain.find)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "ours:\n%s%s\nplain BM25 over the same sections:\n%s\n", knowledgetest.Table(ours), met(ours), knowledgetest.Table(theirs))
	if o.beat != "" {
		text, err := os.ReadFile(o.beat)
		if err != nil {
			return err
		}
		stated := knowledgetest.Stated(string(text))
		fmt.Fprintf(out, "%s:\n%s\nours are:\n%s\n", o.beat, knowledgetest.Table(stated), knowledgetest.BesideTable(ours, stated))
	}
	return h.empty(ctx)
}

// judged asks all questions, and keeps what was found in a file, if there is to be one.
func (h house) judged(ctx context.Context, questions []knowledgetest.Question, file string) (map[string]knowledgetest.Figures, error) {
	ids := map[string]string{} // of questions by their texts
	for _, q := range questions {
		ids[q.Text] = q.ID
	}
	var lines bytes.Buffer
	figures, err := knowledgetest.Judge(ctx, questions, func(ctx context.Context, text string) (knowledgetest.Found, error) {
		answer, err := h.Search(ctx, index.Query{Text: text, Account: "bench"})
		if err != nil {
			return knowledgetest.Found{}, err
		}
		line := map[string]any{"id": ids[text], "query": text, "answered": len(answer.Results) > 0, "hint": answer.Foreign, "results": answer.Results}
		return knowledgetest.FoundIn(answer), json.NewEncoder(&lines).Encode(line)
	})
	if err == nil && file != "" {
		err = os.WriteFile(file, lines.Bytes(), 0o644)
	}
	return figures, err
}

// met says how many questions without an answer, and how many in other languages, are met as they should be.
func met(figures map[string]knowledgetest.Figures) string {
	negative, foreign := figures["negative"], figures["foreign"]
	return fmt.Sprintf("negatives well met: %d of %d; foreign found, or refused with a hint: %.0f of %d\n",
		knowledgetest.Below(negative.Best, figures[knowledgetest.All].Best, 0.1), negative.N, foreign.Hit3*float64(foreign.N)+float64(foreign.Hints), foreign.N)
}
