package schedule

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// Times gives the times of a job.
type Times interface {
	// Next gives the first time after t.
	Next(t time.Time) time.Time
}

// Parse reads an expression as Job.Spec takes it, for checking configuration. One that never comes
// true, such as the 30th of February, is an error.
func Parse(spec string) (Times, error) {
	parsed, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, fmt.Errorf("%q is no cron expression such as \"*/15 * * * *\" or \"@every 1h\": %w", spec, err)
	}
	var times Times = parsed
	if fields, ok := parsed.(*cron.SpecSchedule); ok && fields.Location == time.Local {
		fields.Location = time.UTC // where the expression names no zone, the machine's does not matter
	} else if ok && fields.Hour&everyHour == 0 {
		times = newWallClock(fields)
	}
	if times.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("the cron expression %q never comes true", spec)
	}
	return times, nil
}

// everyHour is the bit that the cron package sets for a star.
const everyHour = 1 << 63

// wallClock gives the times of an expression with certain hours in a zone with summer time. The cron
// package would run such a job twice in the night that has an hour twice, and not at all in the one
// that lacks it. Here it runs once: at the first of two equal times, and beside the gap.
type wallClock struct {
	naive cron.SpecSchedule // as if the zone's clock were UTC
	zone  *time.Location
}

func newWallClock(fields *cron.SpecSchedule) *wallClock {
	naive := *fields
	naive.Location = time.UTC
	return &wallClock{naive, fields.Location}
}

// Next gives the first time after t.
func (w *wallClock) Next(t time.Time) time.Time {
	wall := relabel(t.In(w.zone), time.UTC)
	for {
		wall = w.naive.Next(wall)
		if wall.IsZero() {
			return wall
		}
		if next := relabel(wall, w.zone); next.After(t) {
			return next
		}
	}
}

// relabel gives the time in zone at which a clock shows what t shows.
func relabel(t time.Time, zone *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}
