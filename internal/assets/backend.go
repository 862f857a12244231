package assets

import (
	"context"
	"io"
)

// Backend keeps bytes under the hex SHA-256 of their content. Folder is the one
// on the local disk, package bucket has one in an object store. A Backend is
// safe for concurrent use.
type Backend interface {
	// Stage returns an empty place for content whose hash is not known yet.
	Stage(ctx context.Context) (Staged, error)
	// Open returns the content of hash, or an error wrapping ErrNotFound. The
	// caller closes it.
	Open(ctx context.Context, hash string) (Content, error)
	// Delete removes the content of hash. It is no error if there is none.
	Delete(ctx context.Context, hash string) error
}

// Staged is content on its way into a Backend: written, looked at again, then
// committed or discarded.
type Staged interface {
	io.ReadWriteSeeker
	// Commit makes the content durable under hash, all of it or nothing; half of
	// it that was there is replaced. The caller still calls Discard.
	Commit(ctx context.Context, hash string) error
	// Discard frees what Stage and Commit left over.
	Discard() error
}

// Content is a stored blob open for reading, fit for http.ServeContent.
type Content interface {
	io.ReadSeekCloser
}

// Linked is Content that its Backend gives out by itself, too: Link signs an address there that works for a while.
type Linked interface {
	Content
	Link(ctx context.Context, as Served) (string, error)
}

// Served are the headers with which content is given out.
type Served struct {
	MIME         string
	Disposition  string // empty: it is shown where it is opened
	CacheControl string
}
