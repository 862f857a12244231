// Package chat is what all chat platforms share: the contract an adapter fulfils, and the Router that
// turns messages into runs and runs into messages.
//
// An Adapter translates between one platform's API and the types here; it knows nothing of tools, money
// or people. The Router knows nothing of platforms: it decides by the adapter's Capabilities and the
// tool's platform hints, never by a platform's name. All state that must outlive a restart (updates not
// yet handled, buttons, open questions, where a run's messages are) is kept in Postgres.
package chat
