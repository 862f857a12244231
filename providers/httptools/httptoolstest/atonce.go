package httptoolstest

import (
	"net/http"
	"strings"
)

// Forbidden is the prompt that services refuse by their rules.
const Forbidden = "something forbidden"

// Ideogram answers at once; what its rules refuse has no address, with status 200.
func Ideogram() Service {
	return Service{
		Name: "ideogram", BaseURL: "https://api.ideogram.ai", Header: map[string]string{"Api-Key": Key},
		Takes: map[string]string{"POST /v1/ideogram-v3/generate": `{"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {"prompt": {"type": "string"}, "seed": {"type": "integer", "minimum": 0, "maximum": 2147483647},
			"aspect_ratio": {"type": "string", "pattern": "^[0-9]+x[0-9]+$"}, "rendering_speed": {"enum": ["FLASH", "TURBO", "BALANCED", "DEFAULT", "QUALITY"]}, "magic_prompt": {"enum": ["AUTO", "ON", "OFF"]}, "negative_prompt": {"type": "string"},
			"num_images": {"type": "integer", "minimum": 1, "maximum": 8}, "style_type": {"enum": ["AUTO", "GENERAL", "REALISTIC", "DESIGN", "CUSTOM", "FICTION", "STYLIZED"]}}}`},
		Accepted: func(s *Server, j *Job) (int, any) {
			safe := map[string]any{"url": s.Made(j), "is_image_safe": true, "prompt": j.Body["prompt"], "seed": 1}
			unsafe := map[string]any{"url": "", "is_image_safe": false, "prompt": j.Body["prompt"], "seed": 1}
			if j.Body["prompt"] == Forbidden {
				safe = unsafe
			}
			return http.StatusOK, map[string]any{"created": "2026-11-01T00:00:00Z", "data": []any{safe, unsafe}} // one of two is always refused
		},
		Wrong: func(_ int, words string) any { return map[string]any{"error": words} },
	}
}

// Recraft answers at once and counts units; tools with one picture answer with an object in place of a list, and take files in parts.
func Recraft() Service {
	file := `{"type": "object", "required": ["image"], "additionalProperties": false, "properties": {"image": {"type": "object", "required": ["file"]}, "response_format": {"enum": ["url", "b64_json"]}}}`
	units := map[string]int{"recraftv4_1": 35, "recraftv4_1_pro": 210, "recraftv3": 40, "recraftv3_vector": 80}
	return Service{
		Name: "recraft", BaseURL: "https://external.api.recraft.ai", Header: map[string]string{"Authorization": "Bearer " + Key},
		Parts: []string{"/v1/images/removeBackground", "/v1/images/vectorize", "/v1/images/crispUpscale"},
		Takes: map[string]string{
			"POST /v1/images/generations": `{"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {"prompt": {"type": "string"}, "model": {"enum": ["recraftv3", "recraftv3_vector", "recraftv4_1", "recraftv4_1_pro"]},
				"n": {"type": "integer", "minimum": 1, "maximum": 6}, "random_seed": {"type": "integer"}, "response_format": {"enum": ["url", "b64_json"]}}}`,
			"POST /v1/images/removeBackground": file, "POST /v1/images/vectorize": file, "POST /v1/images/crispUpscale": file,
		},
		Accepted: func(s *Server, j *Job) (int, any) {
			made := map[string]any{"image_id": j.ID, "url": s.Made(j)}
			if model, ok := j.Body["model"].(string); ok {
				return http.StatusOK, map[string]any{"data": []any{made, made}, "credits": 2 * units[model]}
			}
			credits := 10
			if strings.HasSuffix(j.Path, "crispUpscale") {
				credits = 4
			}
			return http.StatusOK, map[string]any{"image": made, "credits": credits}
		},
		Wrong: func(_ int, words string) any { return map[string]any{"code": "invalid_request", "message": words} },
	}
}

// Stability takes everything in parts, and answers with base64; of the one tool that works for a while the status is that of HTTP.
func Stability() Service {
	fields := func(more, rule string) string {
		return `{"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {"prompt": {"type": "string"}, "negative_prompt": {"type": "string"}, "seed": {"type": "string", "pattern": "^[0-9]+$"},
			"output_format": {"enum": ["png", "jpeg", "webp"]}` + more + `}` + rule + `}`
	}
	ratios := `, "aspect_ratio": {"enum": ["16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21"]}`
	return Service{
		Name: "stability", BaseURL: "https://api.stability.ai", Header: map[string]string{"Authorization": "Bearer " + Key, "Accept": "application/json"},
		Parts: []string{"/v2beta/"},
		Takes: map[string]string{
			"POST /v2beta/stable-image/generate/ultra":   fields(ratios+`, "image": {"type": "object"}, "strength": {"type": "string"}`, `, "dependentRequired": {"image": ["strength"], "strength": ["image"]}`),
			"POST /v2beta/stable-image/generate/sd3":     fields(ratios+`, "model": {"enum": ["sd3.5-large", "sd3.5-medium"]}, "mode": {"enum": ["text-to-image", "image-to-image"]}`, ""),
			"POST /v2beta/stable-image/upscale/creative": fields(`, "image": {"type": "object"}, "creativity": {"type": "string"}`, `, "dependentRequired": {"prompt": ["image"]}`),
		},
		Accepted: func(_ *Server, j *Job) (int, any) {
			switch {
			case strings.HasSuffix(j.Path, "creative"):
				return http.StatusOK, map[string]any{"id": j.ID}
			case j.Body["prompt"] == Forbidden:
				return http.StatusOK, map[string]any{"image": InBase64("a blur"), "finish_reason": "CONTENT_FILTERED", "seed": 1}
			}
			return http.StatusOK, map[string]any{"image": InBase64("made " + j.ID), "finish_reason": "SUCCESS", "seed": 1}
		},
		Ask: "GET /v2beta/results/{id}", ID: byPath,
		Told: func(_ *Server, j *Job, _ *http.Request) (int, any) {
			switch j.State {
			case Done:
				return http.StatusOK, map[string]any{"result": InBase64("made " + j.ID), "finish_reason": "SUCCESS", "seed": 1}
			case Failed, Refused:
				return http.StatusOK, map[string]any{"result": InBase64("a blur"), "finish_reason": "CONTENT_FILTERED", "seed": 1}
			}
			return http.StatusAccepted, map[string]any{"id": j.ID, "status": "in-progress"}
		},
		Wrong: func(_ int, words string) any {
			return map[string]any{"id": "1", "name": "bad_request", "errors": []any{words}}
		},
	}
}

// ElevenLabs answers with the sound itself; the voice is in the path, and the format in the query.
func ElevenLabs() Service {
	return Service{
		Name: "elevenlabs", BaseURL: "https://api.elevenlabs.io", Header: map[string]string{"Xi-Api-Key": Key},
		Takes: map[string]string{
			"POST /v1/text-to-speech/{voice}": `{"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string"}, "model_id": {"enum": ["eleven_multilingual_v2", "eleven_v3"]}, "language_code": {"type": "string"}, "seed": {"type": "integer"}}}`,
			"POST /v1/sound-generation":       `{"type": "object", "required": ["text"], "additionalProperties": false, "properties": {"text": {"type": "string"}, "duration_seconds": {"type": "number", "minimum": 0.5, "maximum": 30}, "prompt_influence": {"type": "number", "minimum": 0, "maximum": 1}}}`,
		},
		Accepted: func(_ *Server, j *Job) (int, any) {
			return http.StatusOK, Bytes{Type: "audio/mpeg", Data: "made " + j.ID}
		},
		Wrong: func(_ int, words string) any {
			return map[string]any{"detail": map[string]any{"status": "invalid", "message": words}}
		},
	}
}
