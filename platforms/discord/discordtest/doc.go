// Package discordtest is a strict, stateful Discord server for tests: the REST API (v9 and v10, checked by
// the rules of v10), the gateway, and the host of attachments, on a loopback address.
//
// A Server holds an application, guilds, channels, people, messages, commands and interactions. Every body
// is validated against the official API description and against the rules which that file lacks: lengths,
// unique ids, the make-up of components, the order of options, totals. What the real service refuses is
// refused with its codes, and a refusal that only a mistake in the program explains fails the test.
//
// Tests play the people: they use commands, complete options, press buttons, choose from menus, submit
// forms and see what a person would see, ephemeral messages included. A person cannot do what the client
// does not offer: a command that is not registered, a value out of range, a button that is not there.
//
// Interactions go out over the gateway or, signed, to an HTTP endpoint. The first answer has three seconds
// and a token lives fifteen minutes, on a clock that a test can move. Faults can be scripted for both the
// REST API and the gateway.
//
//go:generate go run ./gen ../../../../shared/specs apitable/api.json
package discordtest
