// Package i18n is the catalogue of all that the house says to people, in every language it speaks.
//
// # Files
//
// Texts are in texts/ROOM.LANGUAGE.json, e.g. chat.en.json and web.de.json: one flat JSON object of key to
// text, in the message format of go-i18n, which translation services read. Keys are "subject.thing"; those
// of the web pages begin with "web.". A text that depends on a number has a form for each plural category
// of its language (CLDR: zero, one, two, few, many, other):
//
//	"missed.offer": {"one": "One result is waiting.", "other": "{n} results are waiting."}
//
// The number is the value of the placeholder n.
//
// Errors and the reasons of a tool's state are English in the program, in the database and in the API. Beside the English they
// carry the sentence's key and values (package said, which has these texts), and Voice.Text says them.
//
// # Markup
//
// A text may have *bold* and `code` parts and {placeholders}. What is put in for a placeholder is never
// read as markup.
//
// # Amounts and times
//
// Money that is put in for a placeholder is written short and in the language's form ("$0.04", "0,06 ct"); Voice.Exact has the exact
// figure, for receipts. A time.Time is written in UTC.
//
// # Languages
//
// English has every key and is what a language falls back to where it lacks one. A language is found by its
// base: de-AT speaks German.
package i18n
