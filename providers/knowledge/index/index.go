// Package index keeps documents in Postgres and finds passages in them, for those who may read them.
//
// Words are reduced by Postgres' own dictionaries, by the language of each source. A passage's score is BM25 with fields (Robertson
// and Zaragoza, "The Probabilistic Relevance Framework", 2009): a word counts more in a heading than in the text, more where it is rare, and less
// where the passage is long. A word that no document has is taken for the ones that are written alike. Where passages have
// embeddings, they are ranked by meaning, too, and both ranks are fused (Cormack et al., "Reciprocal Rank Fusion", 2009).
package index

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Embedder makes vectors of texts, so that texts that mean the same are near to each other.
type Embedder interface {
	// Model names what makes the vectors: those of different models can't be compared.
	Model() string
	// Covers tells whether texts in a language, by its text search configuration in Postgres, have vectors that mean something.
	Covers(language string) bool
	// Embed gives a vector of length 1 for each text, all of one dimension.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Ask is Embed of a text for which somebody waits: it fails where that would take more than seconds.
	Ask(ctx context.Context, text string) ([]float32, error)
}

// Dictionary tells which words, in lower case, are spelt as they should be: these are not taken for others.
type Dictionary interface {
	Knows(word string) bool
	// Covers tells whether the words of a language, by its text search configuration in Postgres, are in it.
	Covers(language string) bool
}

// Access says who may read a source.
type Access string

// Everybody may read a public source, anyone who has an account that of the house, and those who are named a listed one; its owner always
// may.
const (
	AccessPublic Access = "public"
	AccessHouse  Access = "house"
	AccessListed Access = "listed"
)

// Origin says where the documents of a source come from.
type Origin string

// The origins of sources.
const (
	OriginFolder Origin = "folder" // of KNOWLEDGE_DIR
	OriginFile   Origin = "file"   // of KNOWLEDGE_FILES
	OriginSite   Origin = "site"
	OriginUpload Origin = "upload"
)

// Source is a set of documents under a name.
type Source struct {
	ID          int64
	ToolID      string
	Name        string // a word; unique in the house, or for its owner
	Title       string
	Description string
	Owner       string // account; empty: the house
	Origin      Origin
	Address     string // of a site
	Access      Access
	Readers     []string // of AccessListed: accounts, platform:id, or names of groups
	Language    string   // a text search configuration of Postgres; empty: found out from the documents
	Chunks      int
	Problem     string // why it could not be read the last time

	version    int64
	embeddings string // the model of its embeddings
}

// Item is a document as it is now, read only where its hash is another than before.
type Item struct {
	Path string // in its source, unique
	Hash []byte // of all that Read's result is made of
	// Embeddings is the model whose vectors Read's chunks come with; empty: they have none.
	Embeddings string
	Read       func(ctx context.Context) (Document, error)
}

// Document is what was read of an item.
type Document struct {
	Title  string
	Chunks []Chunk
}

// Chunk is a passage that is found by itself (E36).
type Chunk struct {
	Heading     string    `json:"heading"`
	Summary     string    `json:"summary"`
	Text        string    `json:"text"`
	URL         string    `json:"url"`
	SourcePath  string    `json:"sourcePath"`
	Breadcrumbs []string  `json:"breadcrumbs"`
	Embedding   []float32 `json:"embedding,omitempty"`
	HasCode     bool      `json:"hasCode"`
	CodeLangs   []string  `json:"codeLangs"`
}

// Config is what an Index works with; Pool is needed.
type Config struct {
	Pool       *pgxpool.Pool
	Embedder   Embedder     // nil: passages are found by their words alone
	Dictionary Dictionary   // nil: each word that no document has may be misspelt
	Logger     *slog.Logger // nil: nothing is logged
}

// Index keeps and finds passages.
type Index struct {
	Config
	vectors cached[vectors]
	lexemes cached[[]lexeme]
}

// cached keeps in memory what is read of sources, each until it is another version.
type cached[T any] struct {
	mu      sync.Mutex
	sources map[int64]versioned[T] // by their id
}

type versioned[T any] struct {
	version int64
	value   T
}

// of gives what is known of a source, and reads it where that is none or of another version.
func (c *cached[T]) of(s Source, read func() (T, error)) (T, error) {
	c.mu.Lock()
	v, known := c.sources[s.ID]
	c.mu.Unlock()
	if known && v.version == s.version {
		return v.value, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sources == nil {
		c.sources = map[int64]versioned[T]{}
	}
	c.sources[s.ID] = versioned[T]{s.version, value}
	return value, nil
}

func (c *cached[T]) drop(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sources, id)
}

// ErrUnknown is a source that is not there, or that the asker may not read.
var ErrUnknown = errors.New("there is no such source")

// ErrTaken is a name that another source has.
var ErrTaken = errors.New("there is a source of this name already")

// New makes an Index.
func New(cfg Config) *Index {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	return &Index{Config: cfg}
}
