// Package chat is the contract of chat platforms: what an adapter is, what it can do, what comes in and what goes out. What is
// answered is decided in the packages below this folder, of which router is the entrance.
//
// An Adapter translates between one platform's API and the types here; it knows nothing of tools, money or people. The router
// knows nothing of platforms: it decides by the adapter's Capabilities and the tool's platform hints, never by a platform's name.
//
// # Writing an adapter
//
// Fulfil Adapter, describe the platform in Capabilities, pass what comes in to a Receiver, and pass chattest.Suite with a strict
// simulator of the platform. The router keeps texts, buttons and files within the Capabilities; the adapter still has to keep to
// rates, to repair what the platform refuses in markup, and to tell apart the errors that Adapter names. Fulfil AdminTeller, too,
// where the platform knows who runs a group and updates don't tell it.
//
// Menus, dialogs (Form), typed options, completion (Completer), commands on messages and messages for one person are used where
// Capabilities declare them; elsewhere buttons, questions and replies do the same.
package chat
