package httptoolstest

import (
	"net/http"
)

// BFL is Black Forest Labs: jobs are asked for at the address that the answer names, at another host of theirs.
func BFL() Service {
	flux2 := `{"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {
		"prompt": {"type": "string", "minLength": 1}, "width": {"type": "integer", "multipleOf": 16, "minimum": 64}, "height": {"type": "integer", "multipleOf": 16, "minimum": 64},
		"seed": {"type": "integer"}, "safety_tolerance": {"type": "integer", "minimum": 0, "maximum": 5}, "output_format": {"enum": ["jpeg", "png"]}, "webhook_url": {"pattern": "^https://"},
		"steps": {"type": "integer", "minimum": 1, "maximum": 50}, "guidance": {"type": "number", "minimum": 1.5, "maximum": 10}},
		"patternProperties": {"^input_image(_[2-8])?$": {"type": "string", "pattern": "^[A-Za-z0-9+/]+=*$"}}}`
	return Service{
		Name: "bfl", BaseURL: "https://api.bfl.ai", Header: map[string]string{"X-Key": Key},
		Takes: map[string]string{"POST /v1/flux-2-pro": flux2, "POST /v1/flux-2-klein-4b": flux2, "POST /v1/flux-2-flex": flux2, "POST /v1/flux-pro-1.1": flux2},
		Accepted: func(s *Server, j *Job) (int, any) {
			return http.StatusOK, map[string]any{"id": j.ID, "polling_url": s.Region.URL + "/v1/get_result?id=" + j.ID}
		},
		Ask: "GET /v1/get_result", ID: func(r *http.Request) string { return r.URL.Query().Get("id") },
		Told: func(s *Server, j *Job, _ *http.Request) (int, any) {
			words := map[State]string{Queued: "Pending", Working: "Pending", Done: "Ready", Failed: "Error", Refused: "Request Moderated"}
			said := map[string]any{"id": j.ID, "status": words[j.State]}
			switch j.State {
			case Done:
				said["result"] = map[string]any{"sample": s.Made(j), "seed": 1, "prompt": j.Body["prompt"]}
			case Failed:
				said["error"], said["message"] = "generation_timeout", "it took too long"
			}
			return http.StatusOK, said
		},
		Wrong: func(_ int, words string) any {
			return map[string]any{"error": "invalid_request", "message": words, "details": map[string]any{}}
		},
	}
}

// Luma is Luma's Agents API: files go as bare base64 with their type, in objects.
func Luma() Service {
	file := `{"type": "object", "required": ["data", "media_type"], "additionalProperties": false, "properties": {"data": {"type": "string", "pattern": "^[A-Za-z0-9+/]+=*$"}, "media_type": {"type": "string"}}}`
	return Service{
		Name: "luma", BaseURL: "https://agents.lumalabs.ai/v1", Header: map[string]string{"Authorization": "Bearer " + Key},
		Takes: map[string]string{"POST /generations": `{"type": "object", "required": ["prompt", "type", "model"], "additionalProperties": false, "properties": {
			"prompt": {"type": "string"}, "type": {"enum": ["image", "image_edit"]}, "model": {"enum": ["uni-1", "uni-1-max", "ray-3.2"]},
			"aspect_ratio": {"enum": ["1:1", "16:9", "9:16", "4:3", "3:4"]}, "style": {"enum": ["auto", "manga"]}, "output_format": {"enum": ["png", "jpeg"]},
			"image_ref": {"type": "array", "minItems": 1, "maxItems": 9, "items": ` + file + `}, "source": ` + file + `}}`},
		Accepted: func(_ *Server, j *Job) (int, any) {
			return http.StatusCreated, map[string]any{"id": j.ID, "state": "queued"}
		},
		Ask: "GET /generations/{id}", ID: byPath,
		Told: func(s *Server, j *Job, _ *http.Request) (int, any) {
			words := map[State]string{Queued: "queued", Working: "processing", Done: "completed", Failed: "failed", Refused: "failed"}
			said := map[string]any{"id": j.ID, "state": words[j.State], "failure_code": nil, "failure_reason": nil, "output": []any{}}
			switch j.State {
			case Done:
				said["output"] = []any{map[string]any{"type": "image", "url": s.Made(j)}}
			case Failed:
				said["failure_code"], said["failure_reason"] = "generation_failed", "it took too long"
			case Refused:
				said["failure_code"], said["failure_reason"] = "content_moderated", "not this"
			}
			return http.StatusOK, said
		},
		Wrong: func(_ int, words string) any { return map[string]any{"failure_reason": words} },
	}
}
