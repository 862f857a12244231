// Package telegram connects the program to Telegram through the Bot API.
//
// Adapter is what the program uses: Telegram as the contract of package chat has it. It reads updates into
// chat.Incoming (reader), shows messages, files, albums and edits (outgoing), repairs what the service
// refuses where that is possible, publishes command lists, and receives by long polling or webhook. What it
// must know after a restart is in Postgres (storage): file_ids of what was sent before, groups that have
// moved, the webhook's secret, the published lists.
//
// Below it, package botapi calls the service and keeps to its rates.
package telegram
