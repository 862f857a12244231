// Package discord connects the program to Discord.
//
// Adapter is what the program uses: Discord as the contract of package chat has it. It draws slash commands with
// typed options from the tools' inputs (commands), reads what comes in (reader), shows messages, menus, buttons and
// forms (outgoing, components), and answers interactions in time (answers).
//
// # Answers to interactions
//
// An interaction must have its first answer within 3 seconds, and can be answered for 15 minutes with a token of its
// own. The adapter stores it, tells Discord at once that the answer comes later, and only then lets anything slow
// happen. The first message that answers a command takes the place of the waiting sign; further ones follow it. When
// the token is over, messages are edited and sent with the bot's own rights in the channel, where it has them. The
// tokens are in Postgres for as long as they are good, so that answers go on after a restart.
//
// # The library
//
// Of github.com/bwmarrin/discordgo we use its constants, multipart bodies and the checking of signatures. Calls are the Client's own: they keep to
// limits that respect contexts and end. The library's types for messages decode what they don't know to nothing and lack newer fields. Its gateway
// stands still when Discord asks to reconnect at the wrong moment; the one here (package gateway) resumes where Discord says, notices
// silence, stops at refusals that are for good, and keeps no state of guilds.
//
// Interactions come over the gateway, or signed by HTTP (EndpointHandler); both may be on at once.
package discord
