// Package menus has what people open in chats: the list of tools with their help, prices, wallets and how to fill them, linked
// accounts, and what is known of a person. Each command and each press is a function of a turn; the router has the tables that name
// them.
package menus
