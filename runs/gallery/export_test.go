package gallery

// Lately and FoundWords are for tests.
const (
	Lately     = lately
	FoundWords = foundWords
)
