package turn

import (
	"context"
	"strings"

	"github.com/signalbox/signalbox/registry"
)

// Command is a command of the bot itself.
type Command struct {
	Name string // its description is the text "command.NAME"
	Who  Who
	Do   func(context.Context, *Turn) (Outcome, error)
	// Inputs are what follows the name, in this order, for platforms with typed options.
	Inputs registry.InputSchema
	// Shared: others in the chat are to see the answer.
	Shared bool
}

// Who says who may give a command.
type Who int

const (
	Everybody  Who = iota // whom the chat's rules let use the bot
	ChatAdmins            // in groups, those who run them, and operators
)

// Commands are the bot's own commands.
type Commands []Command

// Find gives the command of a name, written in capitals or not.
func (list Commands) Find(name string) (Command, bool) {
	for _, c := range list {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return Command{}, false
}
