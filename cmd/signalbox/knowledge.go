package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"syscall"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/sources"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/internal/watch"
	"github.com/signalbox/signalbox/providers/knowledge"
	"github.com/signalbox/signalbox/providers/knowledge/document"
	"github.com/signalbox/signalbox/providers/knowledge/index"
	"github.com/signalbox/signalbox/providers/knowledge/wordvec"
)

// documents is the knowledge of the house, and what has it read again.
type documents struct {
	*knowledge.Provider
	watcher   *watch.Watcher // nil: there is no folder
	readAgain func()         // has the sources read, after what is under way
}

// newDocuments makes the tools of documents; their sources are read from keepInStep on.
func (a *app) newDocuments(guard *http.Client) (*documents, error) {
	texts, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	words := wordvec.New()
	embedder, err := newEmbedder(a.cfg, words)
	if err != nil {
		return nil, err
	}
	reader, err := documentReader()
	if err != nil {
		return nil, err
	}
	d := &documents{}
	d.Provider, err = knowledge.New(knowledge.Config{
		Index: index.New(index.Config{Pool: a.db.Pool, Embedder: embedder, Dictionary: words, Logger: a.log.With("component", "knowledge")}),
		Texts: texts, Reader: reader, Language: a.languageOf, Translator: a.agents.translator(),
		Dir: a.cfg.KnowledgeDir, Files: config.List(a.cfg.KnowledgeFiles), Guard: guard, Upload: a.uploadOf,
		Changed: func(ctx context.Context) {
			if _, err := a.registry.Reload(ctx, knowledge.Service); err != nil && ctx.Err() == nil {
				a.log.Warn("some tools of documents could not be loaded", "error", err)
			}
		},
		Logger: a.log.With("component", "knowledge"),
	})
	if a.cfg.KnowledgeDir != "" {
		d.watcher = watch.New(watch.Config{Dirs: []string{a.cfg.KnowledgeDir}, Changed: func(context.Context) { d.readAgain() }, Logger: a.log})
	}
	d.readAgain = a.Soon("documents", func(ctx context.Context) {
		if err := d.Sync(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("the documents could not be read", "error", err)
		}
	})
	return d, err
}

// newEmbedder is the service that the configuration names, else the table of words that comes with the program.
func newEmbedder(c config.Config, words *wordvec.Table) (index.Embedder, error) {
	if c.EmbeddingsURL == "" {
		return words, nil
	}
	return newEmbeddings(c)
}

// newEmbeddings is the service of EMBEDDINGS_URL.
func newEmbeddings(c config.Config) (*embeddings.Client, error) {
	return embeddings.New(embeddings.Config{URL: c.EmbeddingsURL, Model: c.EmbeddingsModel, Key: c.EmbeddingsAPIKey})
}

// documentReader reads all files but short texts by this program in a process of its own.
func documentReader() (document.Reader, error) {
	program, err := os.Executable()
	if err != nil {
		return document.Reader{}, fmt.Errorf("reading documents: %w", err)
	}
	return document.Reader{Command: []string{program, "read-document"}}, nil
}

type readDocumentCommand struct {
	Kind string `arg:"" help:"The ending of its name, such as .pdf."`
}

// mostMemory is what reading a file may take, in bytes of addresses.
const mostMemory = 4 << 30

// Run reads a file from stdin. The limit of memory is a second wall: where it can't be had, that of time remains.
func (c readDocumentCommand) Run(e env) error {
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: mostMemory, Max: mostMemory})
	return document.Serve(c.Kind, os.Stdin, e.stdout)
}

type knowledgeCommand struct {
	Build buildKnowledge `cmd:"" help:"Write documents as one file, for KNOWLEDGE_FILES."`
}

type buildKnowledge struct {
	Out string `required:"" placeholder:"FILE" help:"The file to write."`
	Dir string `arg:"" help:"Folder or zip of documents, perhaps with a source.yaml."`
}

// Run builds a file of documents.
func (c buildKnowledge) Run(e env) error {
	cfg, err := config.Check(e.settings)
	if err != nil {
		return err
	}
	embedder, err := newEmbedder(cfg, wordvec.New())
	if err != nil {
		return err
	}
	reader, err := documentReader()
	if err != nil {
		return err
	}
	return sources.Build(e.ctx, e.stdout, e.stderr, c.Dir, c.Out, reader, embedder)
}
