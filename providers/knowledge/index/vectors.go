package index

// vectors are the embeddings of a source, in memory.
type vectors struct {
	version int64
}
