// Package telegram connects the program to Telegram through the Bot API.
//
// Client is a thin typed client: it calls the methods we need through MakeRequest and UploadFiles of
// github.com/go-telegram-bot-api/telegram-bot-api/v5 and adds what that library lacks: contexts and
// deadlines, bounded answers, errors with the code and what to do about it, file downloads from the
// configured server, and the fields of messages that came after its last release. The library never
// learns the token, so that no error or log of it can show the token.
//
// Sender keeps to the service's rates: answers people wait for go before progress, progress that is out
// of date is dropped, and a 429 is waited out for the chat it is about. Poll and Webhook receive updates;
// both hand an update on before they confirm it, so that none is lost.
package telegram
