// Package turn is one update being handled: who sent what, the tools they may use, and the ways of answering them. Handlers of
// commands and presses are functions that get a Turn.
package turn
