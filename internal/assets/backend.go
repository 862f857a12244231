package assets

import (
	"context"
	"io"
)

// Backend keeps bytes under the hex SHA-256 of their content. Folder is the one
// on the local disk; a bucket of an object store fits as well, with a
// temporary file for Stage and an upload for Commit. A Backend is safe for
// concurrent use.
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
	// Commit makes the content durable under hash, all of it or nothing, in
	// place of what was there. The caller still calls Discard.
	Commit(ctx context.Context, hash string) error
	// Discard frees what Stage and Commit left over.
	Discard() error
}

// Content is a stored blob open for reading, fit for http.ServeContent.
type Content interface {
	io.ReadSeekCloser
}
