package router

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// command is a command of the bot itself.
type command struct {
	name string // its description is the text "command.NAME"
	who  who
	do   func(context.Context, *turn) (outcome, error)
	// inputs are what follows the name, in this order, for platforms with typed options.
	inputs registry.InputSchema
	// shared: others in the chat are to see the answer.
	shared bool
}

// who says who may give a command.
type who int

const (
	everybody  who = iota // whom the chat's rules let use the bot
	chatAdmins            // in groups, those who run them, and operators
)

// commands are the bot's own commands.
type commands []command

// find gives the command of a name, written in capitals or not.
func (list commands) find(name string) (command, bool) {
	for _, c := range list {
		if strings.EqualFold(c.name, name) {
			return c, true
		}
	}
	return command{}, false
}
