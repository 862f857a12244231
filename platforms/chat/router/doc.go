// Package router takes what comes in from chat platforms and has it answered. It has the inbox, the queues, and the tables that
// say which function handles a command or a press.
//
// # From a message to a result
//
// An adapter passes what comes in to Receive, which stores it and returns: from then on the platform may forget it. Updates are
// handled one after the other for each person and chat, and side by side otherwise. A tool's command is answered with a sign of
// work at once, then with one status message, which is edited while the run goes on, and which the Deliverer turns into the
// result.
//
//	Receive -> inbox -> queues -> turn.Turn -> commands | presses -> start: input.Draft -> runs.Bind -> question | status message -> runs.AcceptBound
//	runner.Service -> show.Deliverer -> the status message becomes the result
//
// # State
//
// All that must outlive a restart is in Postgres: updates not yet handled and the ids of those that were (chat_updates) here, the
// rest in package store. The message that shows a run is kept with the run, as its target.
//
// Several processes may share a database and a bot: each Router claims the updates it stores, and takes over those of a Router
// whose sign of life in the database is gone (internal/claims).
//
// Handling an update twice does no harm: a run is accepted under a key made of the message, or of the button, that asked for it.
// Edits may be repeated; new messages that belong to a result are noted before and after they are sent. If a crash falls between,
// the result is offered by a button, not sent again.
//
// # Adding a command or a button
//
// Write a function of a turn in menus, settings or results (or in start, where it begins runs), and add a line to ownCommands or to presses. Texts are
// in internal/i18n (chat.LANGUAGE.json), in all languages. A command's line says who may give it.
package router
