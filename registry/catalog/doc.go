// Package catalog runs loaders and serves their tools to everybody else.
//
// Registry.Reload asks the Loaders, judges and seals what they give, keeps the last good set of a Loader that fails, and swaps in
// a new Snapshot. A Snapshot never changes and answers every question about tools: ByID, ByCommand, ByAPIPath, Search, Offered
// and the like. Compare tells two Snapshots apart; registry/history keeps that in Postgres.
//
// Flash writes a Snapshot to files, from which FlashLoader serves it with no network. FileLoader reads definitions from a folder.
//
// Visibility and status are enforced by the lists (Public, Listed, Offered, Commands, Search), and for runs by
// Tool.Refusal, which everybody who starts a run asks first: ByID and ByCommand find every tool.
package catalog
