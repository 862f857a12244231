package store

// SearchSQL is what Search asks.
const SearchSQL = searchSQL
