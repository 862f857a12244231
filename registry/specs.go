package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// SpecStore keeps by content what stands behind tools, such as the template of a prompt or how a request is made: a run
// that was accepted with one finds it again after its file has changed or gone, also on another machine.
type SpecStore interface {
	// PutSpecs keeps the contents, all or none, and gives the reference of each. Loaders hand over many at once, so that a
	// thousand tools cost one write.
	PutSpecs(ctx context.Context, contents [][]byte) ([]Media, error)
	MediaOpener
}

// SpecRef is the reference of a content: that of a stored file, which is where earlier versions kept specs.
func SpecRef(content []byte) Media {
	sum := sha256.Sum256(content)
	return "asset:" + hex.EncodeToString(sum[:])
}
