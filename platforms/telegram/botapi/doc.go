// Package botapi is a typed client of Telegram's Bot API, https://core.telegram.org/bots/api.
//
// Client calls the methods we need through MakeRequest and UploadFiles
// of github.com/go-telegram-bot-api/telegram-bot-api/v5 and adds what that library lacks: contexts and
// deadlines, bounded answers, errors with the code and what to do about it, file downloads from the
// configured server, and the fields of messages that came after its last release. The library never
// learns the token, so that no error or log of it can show the token.
//
// Sender keeps to the service's rates: what people wait for takes its turn, progress goes only if it need
// not wait, and a 429 is waited out for the chat it is about. Poller and Webhook receive updates; both hand
// them on before they confirm them, so that none is lost.
package botapi
