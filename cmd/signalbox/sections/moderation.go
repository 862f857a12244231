package sections

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/moderation"
	"github.com/signalbox/signalbox/platforms/web/console"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/users"
)

// ReportsPath is the operator's page of what was reported.
const ReportsPath = "reports"

// shownCases is how many reported results operators see.
const shownCases = 500

// Moderation shows operators what was reported, the strikes that count, who is muted, and appeals, and has them decide. howLong is how long a mute
// lasts.
func Moderation(m *moderation.Service, howLong func() time.Duration) []console.Section {
	return []console.Section{reports(m, howLong), strikes(m), mutes(m), appeals(m)}
}

func reports(m *moderation.Service, howLong func() time.Duration) console.Section {
	decide := func(said string, do func(ctx context.Context, d moderation.Decision) error) func(context.Context, console.Chosen) (string, error) {
		return func(ctx context.Context, c console.Chosen) (string, error) {
			return said, do(ctx, moderation.Decision{RunID: c.ID, By: c.By, Note: c.Why})
		}
	}
	takeDown := func(strike bool) func(context.Context, moderation.Decision) error {
		return func(ctx context.Context, d moderation.Decision) error { return m.TakeDown(ctx, d, strike) }
	}
	const down = "The result goes out of the chats that show it, its link is taken back, and its files are served to its owner and operators alone. Its owner is told."
	return console.Section{
		Path: ReportsPath, Title: "Reports",
		Table: func(ctx context.Context, _ string) (console.Table, error) { return caseTable(ctx, m) },
		Alarm: func(ctx context.Context) (string, error) {
			cases, err := m.Cases(ctx, moderation.Place{}, shownCases)
			return waiting(len(cases), "One reported result waits for a decision.", "%d reported results wait for a decision."), err
		},
		Choices: []console.Choice{
			{Name: "dismiss", Button: "Nothing wrong", Says: "The reports are closed, and nothing else happens.", Do: decide("The reports are closed.", m.Dismiss)},
			{Name: "down", Button: "Take down", Says: down, Danger: true, Do: decide("The result is taken down.", takeDown(false))},
			{Name: "strike", Button: "Take down, strike", Says: down + " It counts against them, and by the rule in Settings they are muted.", Danger: true, Do: decide("The result is taken down, and counts against its owner.", takeDown(true))},
			{Name: "mute", Button: "Mute owner", Says: "Its owner can look, and runs nothing for as long as Settings say. The reports stay open.", Danger: true, Do: func(ctx context.Context, c console.Chosen) (string, error) {
				cases, err := m.Cases(ctx, moderation.Place{}, shownCases)
				if err != nil {
					return "", err
				}
				for _, one := range cases {
					if one.RunID == c.ID && one.AccountID != "" {
						return "Its owner is muted.", m.Mute(ctx, c.By, one.AccountID, howLong(), c.Why)
					}
				}
				return "", registry.Errorf(registry.CodeInvalidInput, "these reports are decided already, or nobody owns the result any more")
			}},
		},
	}
}

func waiting(n int, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return one
	}
	return fmt.Sprintf(many, n)
}

func caseTable(ctx context.Context, m *moderation.Service) (console.Table, error) {
	t := console.Table{
		Lead:    "Results that people reported, the oldest report first, at most five hundred; the name of the tool leads to what it made. Where a chat is named, those who run it can remove the result there by /reports.",
		Columns: []string{"Result", "Run", "Owner", "Seen in", "First report", "Reports", "Reasons", "Words"}, Empty: "No report waits for a decision.",
	}
	list, err := m.Cases(ctx, moderation.Place{}, shownCases)
	for _, c := range list {
		where := c.Where.Platform + " " + c.Where.Chat
		switch {
		case c.Where.Platform == moderation.CheckPlace:
			where = "a check, which held it back"
		case c.Where.Chat == "":
			where = "a shared link"
		}
		t.Rows = append(t.Rows, console.Row{ID: c.RunID, Cells: []console.Cell{
			{Text: c.ToolID, Link: "/run/" + c.RunID}, {Run: c.RunID}, owner(c.AccountID), {Text: where}, {Text: c.First.UTC().Format(time.DateTime)}, {Text: strconv.Itoa(c.Reports)},
			{Text: strings.Join(c.Reasons, ", ")}, {Text: strings.Join(c.Words, " · ")},
		}})
	}
	return t, err
}

// owner is whose result it is, while that is known.
func owner(accountID string) console.Cell {
	if accountID == "" {
		return console.Cell{Text: "(deleted)"}
	}
	return console.Cell{Account: accountID}
}

func strikes(m *moderation.Service) console.Section {
	return console.Section{
		Path: "strikes", Title: "Strikes",
		Table: func(ctx context.Context, _ string) (console.Table, error) {
			t := console.Table{
				Lead: "Strikes that count by the rule in Settings, newest first, at most five hundred.", Columns: []string{"Given", "Account", "For"}, Empty: "No strike counts.",
			}
			list, err := m.Strikes(ctx, "")
			for _, s := range list {
				t.Rows = append(t.Rows, console.Row{ID: strconv.FormatInt(s.ID, 10), Cells: []console.Cell{{Text: s.At.UTC().Format(time.DateTime)}, {Account: s.AccountID}, {Run: s.RunID}}})
			}
			return t, err
		},
		Choices: []console.Choice{{
			Name: "lift", Button: "Lift", Says: "The strike counts no more. Where those that are left would not mute, a mute ends. The result stays as it is.",
			Do: func(ctx context.Context, c console.Chosen) (string, error) {
				id, err := number(c.ID)
				if err != nil {
					return "", err
				}
				return "The strike is lifted.", m.Lift(ctx, c.By, id, c.Why)
			},
		}},
	}
}

func mutes(m *moderation.Service) console.Section {
	return console.Section{
		Path: "mutes", Title: "Mutes",
		Table: func(ctx context.Context, _ string) (console.Table, error) {
			t := console.Table{Lead: "Who may look and run nothing for a while, because of strikes or by an operator.", Columns: []string{"Account", "Until"}, Empty: "Nobody is muted."}
			list, err := m.Mutes(ctx)
			for _, one := range list {
				t.Rows = append(t.Rows, console.Row{ID: one.AccountID, Cells: []console.Cell{{Account: one.AccountID}, {Text: one.Until.UTC().Format(time.DateTime)}}})
			}
			return t, err
		},
		Choices: []console.Choice{{
			Name: "end", Button: "End", Says: "The account may run again. Strikes stay as they are.",
			Do: func(ctx context.Context, c console.Chosen) (string, error) {
				list, err := m.Mutes(ctx)
				if err != nil {
					return "", err
				}
				if !slices.ContainsFunc(list, func(one users.Muted) bool { return one.AccountID == c.ID }) {
					return "", registry.Errorf(registry.CodeInvalidInput, "%.40q: nobody with this id is muted (any more)", c.ID)
				}
				return "The mute has ended.", m.Unmute(ctx, c.By, c.ID, c.Why)
			},
		}},
	}
}

func appeals(m *moderation.Service) console.Section {
	answer := func(grant bool, said string) func(context.Context, console.Chosen) (string, error) {
		return func(ctx context.Context, c console.Chosen) (string, error) {
			id, err := number(c.ID)
			if err != nil {
				return "", err
			}
			return said, m.Answer(ctx, c.By, id, grant, c.Text)
		}
	}
	const label, hint = "Answer", "It is told to who appeals, as you write it."
	return console.Section{
		Path: "appeals", Title: "Appeals",
		Table: func(ctx context.Context, _ string) (console.Table, error) {
			t := console.Table{Lead: "What people say against strikes, mutes and results that were taken down, the oldest first.", Columns: []string{"Sent", "Account", "Words"}, Empty: "No appeal waits for an answer."}
			list, err := m.Appeals(ctx)
			for _, one := range list {
				t.Rows = append(t.Rows, console.Row{ID: strconv.FormatInt(one.ID, 10), Cells: []console.Cell{{Text: one.At.UTC().Format(time.DateTime)}, {Account: one.AccountID}, {Text: one.Words}}})
			}
			return t, err
		},
		Alarm: func(ctx context.Context) (string, error) {
			list, err := m.Appeals(ctx)
			return waiting(len(list), "One appeal waits for an answer.", "%d appeals wait for an answer."), err
		},
		Choices: []console.Choice{
			{Name: "grant", Button: "Grant", Text: label, Hint: hint, Says: "All strikes of the account are lifted, its mute ends, and its results that were taken down are served again. Links and messages that are gone stay so.", Do: answer(true, "The appeal is granted.")},
			{Name: "deny", Button: "Deny", Text: label, Hint: hint, Says: "All stays as it is.", Do: answer(false, "The appeal is denied.")},
		},
	}
}

func number(id string) (int64, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, registry.Errorf(registry.CodeInvalidInput, "%q: expected a number from the table", id)
	}
	return n, nil
}
