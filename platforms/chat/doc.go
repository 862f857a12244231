// Package chat is what all chat platforms share: the contract an adapter fulfils, and the Router that
// turns messages into runs and runs into messages.
//
// An Adapter translates between one platform's API and the types here; it knows nothing of tools, money
// or people. The Router knows nothing of platforms: it decides by the adapter's Capabilities and the
// tool's platform hints, never by a platform's name.
//
// # From a message to a result
//
// The adapter passes what comes in to the Router's Receive, which stores it and returns: from then on the
// platform may forget it. Updates are handled one after the other for each person and chat, and side by
// side otherwise. A tool's command is answered with a sign of work at once, then with one status message,
// which is edited while the run goes on, and which the Deliverer turns into the result.
//
//	Receive -> inbox -> lanes -> turn -> draft -> runs.Bind -> question | status message -> runs.AcceptBound
//	runner.Service -> Deliverer -> the status message becomes the result
//
// # State
//
// All that must outlive a restart is in Postgres: updates not yet handled and the ids of those that were
// (chat_updates), what the buttons of a message are about (chat_keyboards), questions that wait for an
// answer (chat_prompts), what became of messages that people may come back to (chat_marks), how far the delivery of
// a result has come (chat_deliveries). The message that shows a run is kept with the run, as its target.
//
// Several processes may share a database and a bot: each Router claims the updates it stores, and takes over
// those of a Router whose sign of life in the database is gone.
//
// Handling an update twice does no harm: a run is accepted under a key made of the message, or of the
// button, that asked for it. Edits may be repeated; new messages that belong to a result are noted before
// and after they are sent. If a crash falls between, the result is offered by a button, not sent again.
//
// # Writing an adapter
//
// Fulfil Adapter, describe the platform in Capabilities, and pass chattest.Suite with a strict simulator of
// the platform. The Router keeps texts, buttons and files within the Capabilities; the adapter still has to
// keep to rates, to repair what the platform refuses in markup, and to tell apart the errors that Adapter
// names. Fulfil AdminTeller, too, where the platform knows who runs a group and updates don't tell it.
//
// Menus, dialogs (Form), typed options, completion, commands on messages and messages for one person are used
// where Capabilities declare them; elsewhere buttons, questions and replies do the same.
//
// # What people are told
//
// All texts are in internal/i18n (chat.LANGUAGE.json), in the language the person chose, else their platform's.
// Who may use what, settings of people and chats, presets and links between platforms are the users' store's
// (Accounts); the commands for them are here.
package chat
