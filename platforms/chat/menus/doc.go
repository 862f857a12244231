// Package menus is what people open and look at in chats: the list of tools and their help, what things cost, wallets and how to
// fill them, linked accounts, what is known of them. Each command and each press is a function of a turn; the router has the
// tables that name them.
package menus
