package asking

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/agent/questions"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/platforms/web/pages"
)

// Views of the console's page of models.
const (
	byDay      = "days"
	byQuestion = "questions"
)

const (
	reportDays   = 31
	reportLatest = 200
)

// Section shows operators what models did: day by day, and question by question.
func Section(store *questions.Store) console.Section {
	return console.Section{
		Path: "models", Title: "Models",
		Views: []console.View{{Name: byDay, Title: "Day by day"}, {Name: byQuestion, Title: "Questions"}},
		Table: func(ctx context.Context, view string) (console.Table, error) {
			if view == byQuestion {
				return latest(ctx, store)
			}
			return days(ctx, store)
		},
	}
}

func days(ctx context.Context, store *questions.Store) (console.Table, error) {
	t := console.Table{
		Lead:    "What each model did on the last days (UTC), by what its service reported. Cost is at the rates in force when it answered; house is the part that nobody who asked pays.",
		Columns: []string{"Day", "Model", "Questions", "People", "Turns", "Input", "Cache read", "Cache write", "Output", "Cost", "House"},
		Empty:   "No model has answered in the last month.",
	}
	list, err := store.Days(ctx, reportDays)
	for _, d := range list {
		row := []string{d.Day.UTC().Format(time.DateOnly), name(d.Model), count(d.Questions), count(d.Accounts), count(d.Turns), count(d.Input), count(d.CacheRead), count(d.CacheWrite), count(d.Output), d.Cost.String(), d.House.String()}
		t.Rows = append(t.Rows, cells(row...))
	}
	return t, err
}

func latest(ctx context.Context, store *questions.Store) (console.Table, error) {
	t := console.Table{
		Lead:    "The latest questions, those that agents were asked among them. Each leads to what was done for it, step by step.",
		Columns: []string{"Asked", "Account", "Where", "Question", "Ended", "Tokens", "Cost", "Charged"},
		Empty:   "Nobody has asked a model yet.",
	}
	list, err := store.Recent(ctx, reportLatest)
	for _, q := range list {
		row := cells(q.CreatedAt.UTC().Format(time.DateTime), who(q), q.Platform, short(q.Text), ended(q), count(q.Tokens), q.Cost.String(), q.Charged.String())
		row.Cells[3].Link = pages.QuestionPath(q.ID)
		t.Rows = append(t.Rows, row)
	}
	return t, err
}

// who is whose question it is.
func who(q questions.Question) string {
	if q.AccountID == uuid.Nil.String() {
		return "(the house)"
	}
	return q.AccountID
}

func cells(texts ...string) (row console.Row) {
	for _, text := range texts {
		row.Cells = append(row.Cells, console.Cell{Text: text})
	}
	return row
}

func ended(q questions.Question) string {
	switch {
	case q.EndedAt == nil:
		return "under way"
	case q.Error != "":
		return "failed: " + short(q.Error)
	}
	return string(q.Stop)
}

// shown is how much of a text a table shows, in letters.
const shown = 120

func short(text string) string {
	if letters := []rune(text); len(letters) > shown {
		return string(letters[:shown]) + "…"
	}
	if text == "" {
		return "(deleted)"
	}
	return text
}

func name(model string) string {
	if model == "" {
		return "(no answer)"
	}
	return model
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
