// Package menus is what people open, look at and change in chats: the list of tools and their help, settings of their own and of
// a chat, presets, language, linked accounts, history, and what can be done with a run. Each command and each press is a function
// of a turn; the router has the tables that name them.
package menus
