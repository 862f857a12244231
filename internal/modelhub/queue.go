package modelhub

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/internal/said"
	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/registry"
)

// QueueStatus is how far a request is in the queue of models at fal.ai, or at a service that speaks as that does.
type QueueStatus struct {
	Status   string `json:"status"`
	Position *int   `json:"queue_position"` // 0 is next
}

// Progress is the status as that of a run. One that is over has RunSucceeded, however it ended.
func (s QueueStatus) Progress() registry.Progress {
	switch s.Status {
	case "IN_QUEUE":
		progress := registry.Progress{State: registry.RunQueued}
		if s.Position != nil {
			progress.QueuePosition = max(*s.Position, 0) + 1
		}
		return progress
	case "IN_PROGRESS":
		return registry.Progress{State: registry.RunRunning}
	case "COMPLETED":
		return registry.Progress{State: registry.RunSucceeded}
	}
	return registry.Progress{State: registry.RunRunning, Unknown: s.Status}
}

// Queued reads the id of a request that the queue of a service has taken.
func Queued(client *upstream.Client, service string, answer upstream.Response) (id string, err error) {
	var made struct {
		ID string `json:"request_id"`
	}
	if err := client.Decode(answer, &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", registry.Say(registry.CodeProvider, said.ServiceRunUnnamed, "service", service)
	}
	return made.ID, nil
}

// RefusedValue reads the first of the values that a service refuses, and what it calls the reason: {"detail": [{loc, msg, type}]}. Both are empty
// where it says nothing of the kind.
func RefusedValue(body []byte) (field, reason string) {
	var refused struct {
		Detail []struct {
			Location []any  `json:"loc"`
			Type     string `json:"type"`
		} `json:"detail"`
	}
	if json.Unmarshal(body, &refused) != nil || len(refused.Detail) == 0 {
		return "", ""
	}
	if place := refused.Detail[0].Location; len(place) > 0 {
		field = fmt.Sprintf("%.60s", fmt.Sprint(place[len(place)-1]))
	}
	return field, refused.Detail[0].Type
}
