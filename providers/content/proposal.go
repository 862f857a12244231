package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/signalbox/signalbox/providers/content/store"
	"github.com/signalbox/signalbox/registry"
)

// Proposal names a call, which may wait for its owner's word: the tool, and a hash of whose call it is and what it was given.
func Proposal(c registry.Call) string {
	canonical, err := registry.CanonicalJSON(map[string]any{"account": c.UserID, "inputs": c.Inputs})
	if err != nil {
		return "" // inputs come from JSON
	}
	sum := sha256.Sum256(canonical)
	return c.Tool.ToolID + "." + hex.EncodeToString(sum[:16])
}

// ProposedBy is the tool of a call that Proposal named.
func ProposedBy(proposal string) string {
	tool, _, _ := strings.Cut(proposal, ".")
	return tool
}

// Rehearse carries out a call in a store of changes that are taken back. Nothing is fetched or kept beside it.
func (p *Provider) Rehearse(ctx context.Context, in *store.Store, c registry.Call) error {
	rehearsing := *p
	rehearsing.cfg.Store, c.Media = in, nil
	_, err := rehearsing.Do(ctx, c)
	return err
}
