package sections

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/missions"
	"github.com/signalbox/signalbox/platforms/web/console"
)

// Missions shows operators the missions that could not be taken back whole.
func Missions(service *missions.Service) console.Section {
	return console.Section{
		Path: "missions", Title: "Missions",
		Table: func(ctx context.Context, _ string) (console.Table, error) {
			t := console.Table{
				Lead:    "What missions did and could not take back, newest first. Somebody has to see to each with its service; its owner was told.",
				Columns: []string{"Ended", "Mission", "Leg", "Run", "Reference", "Why", "Trouble", "Turn to"}, Empty: "Everything that had to be taken back was.",
			}
			list, err := service.Incomplete(ctx)
			for _, m := range list {
				for _, leg := range m.Unresolved() {
					p := leg.Progress
					t.Rows = append(t.Rows, console.Row{Cells: []console.Cell{
						{Text: m.EndedAt.UTC().Format(time.DateTime)}, {Text: m.Title}, {Text: leg.Summary}, {Text: leg.Tool.ID, Run: p.RunID}, {Text: p.Reference},
						{Text: string(p.Undo)}, {Text: p.UndoError}, {Text: m.EscalationURL},
					}})
				}
			}
			return t, err
		},
		Alarm: func(ctx context.Context) (string, error) {
			list, err := service.Incomplete(ctx)
			recent := 0
			for _, m := range list {
				if time.Since(*m.EndedAt) < alarmFor {
					recent++
				}
			}
			if err != nil || recent == 0 {
				return "", err
			}
			return fmt.Sprintf("missions of the last days that could not be taken back: %d", recent), nil
		},
	}
}

// alarmFor is how long the overview tells of a mission that could not be taken back.
const alarmFor = 7 * 24 * time.Hour
