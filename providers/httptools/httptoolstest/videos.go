package httptoolstest

import (
	"net/http"
)

// Runway has a version in a header, words in capitals and a progress.
func Runway() Service {
	common := `"promptText": {"type": "string", "minLength": 1, "maxLength": 1000}, "duration": {"type": "integer", "minimum": 2, "maximum": 10}, "seed": {"type": "integer", "minimum": 0, "maximum": 4294967295}, "model": {"const": "gen4.5"}`
	return Service{
		Name: "runway", BaseURL: "https://api.dev.runwayml.com", Header: map[string]string{"Authorization": "Bearer " + Key, "X-Runway-Version": "2024-11-06"},
		Takes: map[string]string{
			"POST /v1/text_to_video": `{"type": "object", "required": ["model", "promptText", "ratio", "duration"], "additionalProperties": false, "properties": {` + common + `, "ratio": {"enum": ["1280:720", "720:1280"]}}}`,
			"POST /v1/image_to_video": `{"type": "object", "required": ["model", "promptText", "promptImage", "ratio", "duration"], "additionalProperties": false, "properties": {` + common + `,
				"ratio": {"enum": ["1280:720", "720:1280", "1104:832", "960:960", "832:1104", "1584:672"]},
				"promptImage": {"type": "array", "items": {"type": "object", "required": ["uri", "position"], "properties": {"uri": {"pattern": "^(https://|runway://|data:image/)"}, "position": {"const": "first"}}}}}}`,
		},
		Accepted: func(_ *Server, j *Job) (int, any) { return http.StatusOK, map[string]any{"id": j.ID} },
		Ask:      "GET /v1/tasks/{id}", ID: byPath, Stop: "DELETE /v1/tasks/{id}",
		Told: func(s *Server, j *Job, _ *http.Request) (int, any) {
			words := map[State]string{Queued: "THROTTLED", Working: "RUNNING", Done: "SUCCEEDED", Failed: "FAILED", Refused: "FAILED", Stopped: "CANCELLED"}
			said := map[string]any{"id": j.ID, "status": words[j.State]}
			switch j.State {
			case Working:
				said["progress"] = 0.25
			case Done:
				said["output"] = []any{s.Made(j)}
			case Failed:
				said["failure"], said["failureCode"] = "words that are not for people", "INTERNAL.BAD_OUTPUT"
			}
			return http.StatusOK, said
		},
		Wrong: func(_ int, words string) any { return map[string]any{"error": words} },
	}
}
