// Package webchat is the web as a chat platform: each account has a conversation with the house on the page
// /chat, as it has with the bot on Telegram or Discord, through the same Router.
//
// What is said is kept in Postgres, and open pages are told of each change by server-sent events. Changes of a
// conversation are numbered without gaps in the order in which they become visible, so that a page that was cut
// off asks for those after the last number it knows and has missed nothing. Several processes can share a
// database: who writes notifies the others.
//
// All is drawn on the server, the same way for a whole page and for an event; the script only puts pieces in
// their places. Without it, the page's forms do the same and the page is drawn anew.
//
// There are no chats of several people here.
package webchat
