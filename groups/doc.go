// Package groups keeps money that several people give and several spend: the wallet of a group, which is a chat or a server, and parties in
// it, which are funds with an end. Each is an owner in the ledger. Who pays for a run that is asked for in a group is decided by Terms.Choose,
// in the transaction that sets the money aside (package runs/write); what it costs is then taken from there, and a refund goes back there.
//
// What is left when a wallet is closed or a party is over goes back to those who gave, each by the share that they gave of all that was given.
// See docs/groups.md.
package groups
