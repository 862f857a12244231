// Package settings is what persons and those who run a chat set: the values that tools take without being told, presets, the
// language, from which price on to be asked, and which tools a chat has and for whom. Each command and each press is a function
// of a turn; the router has the tables that name them.
package settings
