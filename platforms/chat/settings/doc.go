// Package settings has what people, and those who run a chat, set: default values of tools, presets, the language, from which price on
// they are asked, and which tools a chat has and for whom. Each command and each press is a function of a turn; the router has the
// tables that name them.
package settings
