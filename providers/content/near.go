package content

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/providers/content/store"
)

// Embedder makes vectors of length 1 of texts, near to each other where their meanings are.
type Embedder interface {
	Model() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Bounds of a search by vectors.
const (
	embedWait  = 10 * time.Second // for all vectors; after that words alone find
	embedBatch = 64               // texts of one request
	mostMade   = 512              // vectors that one search makes; images beyond them are found by words until the next one
	leastNear  = 0.2              // a cosine below it says nothing
	mostNear   = 50
)

// The ways in which images are searched, as answers tell them.
const (
	byWords   = "words"
	byVectors = "words and vectors"
)

// near finds images by what they mean. It keeps the vectors of the site that was searched last, all of which are compared.
type near struct {
	embedder Embedder // nil: none is connected
	last     atomic.Pointer[seen]
}

// seen is what a version of a site has.
type seen struct {
	site    string
	version int64
	vectors []store.ImageVector
}

// find gives the ids of the images that are nearest to a query, the nearest first.
func (n *near) find(ctx context.Context, v visit, query string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, embedWait)
	defer cancel()
	vectors, err := n.of(ctx, v)
	if err != nil || len(vectors) == 0 {
		return nil, err
	}
	asked, err := n.embedder.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	type place struct {
		id     string
		cosine float64
	}
	var places []place
	for _, one := range vectors {
		if cosine := embeddings.Dot(asked[0], one.Vector); cosine >= leastNear {
			places = append(places, place{one.Image, cosine})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.id, b.id)) })
	var ids []string
	for _, p := range places[:min(len(places), mostNear)] {
		ids = append(ids, p.id)
	}
	return ids, nil
}

// of gives the vectors of a site's images, and makes those that are missing or of another text.
func (n *near) of(ctx context.Context, v visit) ([]store.ImageVector, error) {
	if last := n.last.Load(); last != nil && last.site == v.site.ID && last.version == v.site.Version {
		return last.vectors, nil
	}
	images, err := v.Images(ctx, store.ImageQuery{})
	if err != nil {
		return nil, err
	}
	kept, err := v.ImageVectors(ctx, n.embedder.Model())
	if err != nil {
		return nil, err
	}
	known := map[string]store.ImageVector{}
	for _, one := range kept {
		known[one.Image] = one
	}
	var all, missing []store.ImageVector
	for _, i := range images {
		switch about := aboutImage(i); {
		case about == "":
		case known[i.ID].About == about:
			all = append(all, known[i.ID])
		default:
			missing = append(missing, store.ImageVector{Image: i.ID, About: about})
		}
	}
	complete := len(missing) <= mostMade
	for part := range slices.Chunk(missing[:min(len(missing), mostMade)], embedBatch) {
		if err := n.make(ctx, v, part); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	if complete {
		n.last.Store(&seen{v.site.ID, v.site.Version, all})
	}
	return all, nil
}

// make gives images their vectors and keeps them.
func (n *near) make(ctx context.Context, v visit, images []store.ImageVector) error {
	texts := make([]string, len(images))
	for i := range images {
		texts[i] = images[i].About
	}
	made, err := n.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(made) != len(images) {
		return fmt.Errorf("%d vectors came for %d texts", len(made), len(images))
	}
	for i := range images {
		images[i].Vector = made[i]
		if err := v.PutImageVector(ctx, n.embedder.Model(), images[i]); err != nil {
			return err
		}
	}
	return nil
}

// aboutImage is what a vector is made of.
func aboutImage(i store.Image) string {
	return strings.TrimSpace(strings.Join(distinct([]string{i.Description, nameWords(i.Filename), strings.Join(i.Tags, " "), strings.Join(i.Categories, " "), i.Origin}), "\n"))
}

// searchImages finds images by the words of a query and, where an embedding service is connected and answers, by its meaning as well. It
// tells which.
func (p *Provider) searchImages(ctx context.Context, v visit, query string, q store.ImageQuery) ([]store.Image, string, error) {
	q.Words = searchWords(query)
	found, err := v.Images(ctx, q)
	if err != nil || p.near.embedder == nil {
		return found, byWords, err
	}
	ids, err := p.near.find(ctx, v, query)
	if err != nil {
		p.cfg.Logger.WarnContext(ctx, "images are searched by words alone", "error", err)
		return found, byWords, ctx.Err()
	}
	nearest, err := v.Images(ctx, store.ImageQuery{IDs: append([]string{}, ids...), Status: q.Status})
	if err != nil {
		return nil, "", err
	}
	slices.SortFunc(nearest, func(a, b store.Image) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	return fused(found, nearest, q.Limit), byVectors, nil
}

// fused puts two lists into one: what is far up in both comes first (reciprocal rank fusion, with the usual 60).
func fused(a, b []store.Image, most int) []store.Image {
	scores, all := map[string]float64{}, []store.Image{}
	for _, list := range [][]store.Image{a, b} {
		for rank, image := range list {
			if _, seen := scores[image.ID]; !seen {
				all = append(all, image)
			}
			scores[image.ID] += 1 / float64(60+rank)
		}
	}
	slices.SortStableFunc(all, func(a, b store.Image) int { return cmp.Compare(scores[b.ID], scores[a.ID]) })
	return all[:min(len(all), most)]
}
