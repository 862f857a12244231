// Package input reads what people give to tools in chats: typed arguments, options, attached files and answers become a
// Draft of a run, and values are offered while somebody types. It has no database and no network.
package input
