// Package card reads the structured answers of services: cards, receipts, confirmations and follow-up actions, as
// docs/openapi.md describes them, and whatever else is JSON.
//
// Everything in an answer is data of a stranger: texts come out on the lines they belong on, without characters that
// change how others are shown, in bounded lengths and numbers; addresses are https or left out; actions only name
// what a person may start. Nothing that an answer has is lost silently: what does not fit is told by Cut.
package card
