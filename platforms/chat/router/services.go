package router

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/platforms/chat"
	"github.com/signalbox/signalbox/platforms/chat/input"
	"github.com/signalbox/signalbox/platforms/chat/show"
	"github.com/signalbox/signalbox/platforms/chat/store"
)

// services are what all turns work with.
type services struct {
	Deliverer *show.Deliverer
	Progress  *show.Progress
	Store     *store.Store
	Texts     *i18n.Catalogue
	Tools     Tools
	Runs      Runs
	Accounts  Accounts
	Wallets   Wallets
	Operator  Operator
	Commands  commands // the bot's own
	Log       *slog.Logger

	Recents input.Recents
	Warned  warned

	// AnswerWait is how long a question stays open.
	AnswerWait time.Duration
	// Acknowledged is told how long after an update's reception its sender first heard of it; nil: nobody is.
	Acknowledged func(platform string, after time.Duration)
	// Answered notes the status message that an update is answered with.
	Answered func(ctx context.Context, u *received, ref chat.MessageRef) error
	// Go runs something beside the answering; it is waited for at the stop.
	Go func(func())
}
