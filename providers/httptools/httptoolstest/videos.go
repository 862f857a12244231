package httptoolstest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
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

// Kling signs requests with a token made of two keys, has the kind of a video in the address of its task, and says failures with status 200.
// now is the time by which tokens are judged.
func Kling(now func() time.Time) Service {
	common := `"model_name": {"enum": ["kling-v3", "kling-v2-6"]}, "prompt": {"type": "string", "maxLength": 2500}, "negative_prompt": {"type": "string"}, "duration": {"enum": ["5", "10"]}, "mode": {"enum": ["std", "pro"]}, "callback_url": {"pattern": "^https://"}`
	picture := `{"type": "string", "pattern": "^[A-Za-z0-9+/]+=*$"}`
	return Service{
		Name: "kling", BaseURL: "https://api-singapore.klingai.com",
		Authorized: func(r *http.Request) error {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			return checkToken(token, now())
		},
		Takes: map[string]string{
			"POST /v1/videos/text2video":  `{"type": "object", "required": ["prompt", "model_name"], "additionalProperties": false, "properties": {` + common + `, "aspect_ratio": {"enum": ["16:9", "9:16", "1:1"]}}}`,
			"POST /v1/videos/image2video": `{"type": "object", "required": ["image", "model_name"], "additionalProperties": false, "properties": {` + common + `, "image": ` + picture + `, "image_tail": ` + picture + `}}`,
		},
		Accepted: func(_ *Server, j *Job) (int, any) {
			return http.StatusOK, map[string]any{"code": 0, "message": "SUCCEED", "request_id": "1", "data": map[string]any{"task_id": j.ID, "task_status": "submitted"}}
		},
		Ask: "GET /v1/videos/{kind}/{id}", ID: byPath,
		Told: func(s *Server, j *Job, r *http.Request) (int, any) {
			if !strings.HasPrefix(r.URL.Path, j.Path+"/") {
				return http.StatusOK, map[string]any{"code": 1201, "message": "the task is of another kind"}
			}
			words := map[State]string{Queued: "submitted", Working: "processing", Done: "succeed", Failed: "failed", Refused: "failed"}
			data := map[string]any{"task_id": j.ID, "task_status": words[j.State], "task_result": map[string]any{}}
			switch j.State {
			case Done:
				data["task_result"] = map[string]any{"videos": []any{map[string]any{"id": j.ID, "url": s.Made(j), "duration": j.Body["duration"]}}}
			case Failed, Refused:
				data["task_status_msg"] = "it took too long"
			}
			return http.StatusOK, map[string]any{"code": 0, "message": "SUCCEED", "request_id": "2", "data": data}
		},
		Wrong: func(_ int, words string) any { return map[string]any{"code": 1201, "message": words} },
	}
}

// checkToken reads a token as the service does: HS256, for half an hour at most, and neither too early nor too late.
func checkToken(token string, now time.Time) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("the token has no three parts")
	}
	mac := hmac.New(sha256.New, []byte(Key))
	mac.Write([]byte(parts[0] + "." + parts[1]))
	if base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) != parts[2] {
		return errors.New("the token's signature is wrong")
	}
	var head struct{ Alg, Typ string }
	var claims struct {
		Iss      string
		Exp, Nbf int64
	}
	for i, into := range []any{&head, &claims} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			return err
		}
	}
	if head.Alg != "HS256" || head.Typ != "JWT" || claims.Iss != Key || claims.Nbf > now.Unix() || claims.Exp <= now.Unix() || claims.Exp > now.Unix()+1800 {
		return fmt.Errorf("the token is not for now: %+v %+v", head, claims)
	}
	return nil
}

// Ark is BytePlus ModelArk: a content of parts with roles, tokens as price, and pictures at once.
func Ark() Service {
	part := `{"oneOf": [
		{"type": "object", "required": ["type", "text"], "additionalProperties": false, "properties": {"type": {"const": "text"}, "text": {"type": "string"}}},
		{"type": "object", "required": ["type", "image_url"], "additionalProperties": false, "properties": {"type": {"const": "image_url"}, "role": {"enum": ["first_frame", "last_frame", "reference_image"]},
			"image_url": {"type": "object", "required": ["url"], "additionalProperties": false, "properties": {"url": {"pattern": "^(https://|data:image/)"}}}}}]}`
	return Service{
		Name: "ark", BaseURL: "https://ark.ap-southeast.bytepluses.com/api/v3", Header: map[string]string{"Authorization": "Bearer " + Key},
		Takes: map[string]string{
			"POST /contents/generations/tasks": `{"type": "object", "required": ["model", "content"], "additionalProperties": false, "properties": {
				"model": {"enum": ["dreamina-seedance-2-0-260128", "seedance-1-0-pro-250528"]}, "content": {"type": "array", "minItems": 1, "items": ` + part + `},
				"ratio": {"enum": ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"]}, "resolution": {"enum": ["480p", "720p", "1080p"]}, "duration": {"type": "integer", "minimum": 2, "maximum": 15},
				"seed": {"type": "integer", "minimum": -1}, "generate_audio": {"type": "boolean"}, "watermark": {"type": "boolean"}, "callback_url": {"pattern": "^https://"}},
				"if": {"properties": {"model": {"const": "seedance-1-0-pro-250528"}}}, "then": {"properties": {"generate_audio": false}}}`,
			"POST /images/generations": `{"type": "object", "required": ["model", "prompt"], "additionalProperties": false, "properties": {"model": {"type": "string"}, "prompt": {"type": "string"},
				"image": {"type": "array", "minItems": 1, "items": {"pattern": "^data:image/"}}, "response_format": {"enum": ["url", "b64_json"]}, "watermark": {"type": "boolean"}}}`,
		},
		Accepted: func(s *Server, j *Job) (int, any) {
			if j.Path == "/images/generations" {
				return http.StatusOK, map[string]any{"data": []any{map[string]any{"url": s.Made(j), "size": "2048x2048"}, map[string]any{"error": map[string]any{"code": "x", "message": "one of them failed"}}}, "usage": map[string]any{"generated_images": 1}}
			}
			return http.StatusOK, map[string]any{"id": j.ID}
		},
		Ask: "GET /contents/generations/tasks/{id}", ID: byPath, Stop: "DELETE /contents/generations/tasks/{id}",
		Told: func(s *Server, j *Job, _ *http.Request) (int, any) {
			words := map[State]string{Queued: "queued", Working: "running", Done: "succeeded", Failed: "expired", Refused: "failed", Stopped: "cancelled"}
			said := map[string]any{"id": j.ID, "status": words[j.State], "error": nil, "content": nil}
			switch j.State {
			case Done:
				said["content"], said["usage"] = map[string]any{"video_url": s.Made(j)}, map[string]any{"completion_tokens": 100000}
			case Failed, Refused:
				said["error"] = map[string]any{"code": "InternalServiceError", "message": "it took too long"}
			}
			return http.StatusOK, said
		},
		Wrong: func(_ int, words string) any {
			return map[string]any{"error": map[string]any{"code": "InvalidParameter", "message": words}}
		},
	}
}

// Veo is an operation of the Gemini API: an id with slashes, "done" that is there only at the end, and results behind the key, from which a
// redirect leads elsewhere.
func Veo() Service {
	picture := `{"type": "object", "required": ["bytesBase64Encoded", "mimeType"], "additionalProperties": false, "properties": {"bytesBase64Encoded": {"type": "string", "pattern": "^[A-Za-z0-9+/]+=*$"}, "mimeType": {"type": "string"}}}`
	return Service{
		Name: "veo", BaseURL: "https://generativelanguage.googleapis.com/v1beta", Header: map[string]string{"X-Goog-Api-Key": Key},
		Takes: map[string]string{"POST /models/veo-3.1-generate-preview:predictLongRunning": `{"type": "object", "required": ["instances"], "additionalProperties": false, "properties": {
			"instances": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {"prompt": {"type": "string"}, "image": ` + picture + `, "lastFrame": ` + picture + `}}},
			"parameters": {"type": "object", "additionalProperties": false, "properties": {"durationSeconds": {"enum": [4, 6, 8]}, "aspectRatio": {"enum": ["16:9", "9:16"]}, "resolution": {"enum": ["720p", "1080p"]}, "negativePrompt": {"type": "string"}}}}}`},
		Accepted: func(_ *Server, j *Job) (int, any) {
			return http.StatusOK, map[string]any{"name": "models/veo-3.1-generate-preview/operations/" + j.ID}
		},
		Ask: "GET /models/{model}/operations/{id}", ID: byPath,
		Told: func(s *Server, j *Job, r *http.Request) (int, any) {
			said := map[string]any{"name": strings.TrimPrefix(r.URL.Path, "/")}
			video := func(response map[string]any) {
				said["done"], said["response"] = true, map[string]any{"generateVideoResponse": response}
			}
			switch j.State {
			case Done:
				video(map[string]any{"generatedSamples": []any{map[string]any{"video": map[string]any{"uri": s.URL + "/files/" + j.ID + ":download?alt=media"}}}})
			case Refused:
				video(map[string]any{"raiMediaFilteredCount": 1, "raiMediaFilteredReasons": []any{"not this"}})
			case Failed:
				said["done"], said["error"] = true, map[string]any{"code": 13, "message": "it took too long"}
			}
			return http.StatusOK, said
		},
		Wrong: func(status int, words string) any {
			return map[string]any{"error": map[string]any{"code": status, "message": words, "status": "INVALID_ARGUMENT"}}
		},
		More: map[string]func(*Server) http.HandlerFunc{"GET /files/{name}": func(s *Server) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, s.Files.URL+"/"+r.PathValue("name"), http.StatusFound)
			}
		}},
	}
}

// MiniMax tells of a video by a file's id, for which the address is asked in a second request; refusals have status 200.
func MiniMax() Service {
	fine := map[string]any{"status_code": 0, "status_msg": "success"}
	return Service{
		Name: "minimax", BaseURL: "https://api.minimax.io", Header: map[string]string{"Authorization": "Bearer " + Key},
		Takes: map[string]string{"POST /v1/video_generation": `{"type": "object", "required": ["model"], "additionalProperties": false, "properties": {"model": {"const": "MiniMax-Hailuo-02"}, "prompt": {"type": "string", "maxLength": 2000},
			"first_frame_image": {"pattern": "^(https://|data:image/)"}, "duration": {"enum": [6, 10]}, "resolution": {"enum": ["768P", "1080P"]}, "prompt_optimizer": {"type": "boolean"}},
			"if": {"properties": {"resolution": {"const": "1080P"}}}, "then": {"properties": {"duration": {"const": 6}}}}`},
		Accepted: func(_ *Server, j *Job) (int, any) {
			return http.StatusOK, map[string]any{"task_id": j.ID, "base_resp": fine}
		},
		Ask: "GET /v1/query/video_generation", ID: func(r *http.Request) string { return r.URL.Query().Get("task_id") },
		Told: func(_ *Server, j *Job, _ *http.Request) (int, any) {
			words := map[State]string{Queued: "Queueing", Working: "Processing", Done: "Success", Failed: "Fail", Refused: "Fail"}
			said := map[string]any{"task_id": j.ID, "status": words[j.State], "file_id": "", "base_resp": fine}
			switch j.State {
			case Done:
				said["file_id"] = "file-" + j.ID
			case Refused:
				said["base_resp"] = map[string]any{"status_code": 1026, "status_msg": "not this"}
			}
			return http.StatusOK, said
		},
		Wrong: func(_ int, words string) any {
			return map[string]any{"base_resp": map[string]any{"status_code": 2013, "status_msg": words}}
		},
		More: map[string]func(*Server) http.HandlerFunc{"GET /v1/files/retrieve": func(s *Server) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				job, _ := strings.CutPrefix(r.URL.Query().Get("file_id"), "file-")
				upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{"file": map[string]any{"file_id": "file-" + job, "download_url": s.Files.URL + "/" + job}, "base_resp": fine})
			}
		}},
	}
}
