// Package telegramtest is a strict, stateful Telegram Bot API server for tests.
//
// A Server speaks the HTTP protocol of the Bot API on a loopback address. It holds chats, people,
// messages, files, keyboards and updates, and it refuses what the real service refuses, with the real
// texts where they are known: over-long texts, broken markup, oversized callback data, edits that
// change nothing, topics that do not exist, chats that blocked the bot. A request the real service
// would quietly misunderstand (a parameter that is not documented, an upload nobody refers to) fails
// the test at once.
//
// Tests play the people: they send texts, pictures and albums, press buttons, edit, block and wait for
// what a person would see. Faults can be scripted: rate limits, cut connections, delays, repeated
// updates, broken answers. The zero Options are a well-behaved service.
//
// What is known of the service comes from the table in apitable and from facts about the open-source
// Bot API server; nothing here talks to Telegram. Methods the server does not imitate answer 501 and
// fail the test, so that nobody relies on them by mistake.
//
//go:generate go run ./gen ../../../../shared/specs apitable/api.json
package telegramtest
