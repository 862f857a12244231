// Package imagegentest imitates the image APIs of OpenAI and of Google Gemini, strictly: requests that the
// services would refuse are refused, as they word it. Faults make answers go wrong.
package imagegentest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/upstream/upstreamtest"
)

// The keys the services accept.
const (
	OpenAIKey = "sk-test-openai-key"
	GeminiKey = "test-gemini-key"
)

// Call is a request that was accepted.
type Call struct {
	Path   string
	Fields map[string]string // of OpenAI's requests
	Text   string            // of Gemini's
	Images int
}

// Server is both services at one address.
type Server struct {
	*upstreamtest.Server
	t     testing.TB
	mu    sync.Mutex
	calls []Call
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/images/generations", s.generation)
	mux.HandleFunc("POST /v1/images/edits", s.edit)
	mux.HandleFunc("POST /v1beta/models/gemini-2.5-flash-image:generateContent", s.generateContent)
	s.Server = upstreamtest.New(t, mux, 64<<20, guard)
	return s
}

// Calls lists what was accepted.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) note(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

// guard asks for the key of the service that is meant.
func guard(w http.ResponseWriter, r *http.Request) bool {
	header, key, refuse := "Authorization", "Bearer "+OpenAIKey, openAIError
	if strings.HasPrefix(r.URL.Path, "/v1beta/") {
		header, key, refuse = "X-Goog-Api-Key", GeminiKey, geminiError
	}
	if sent := r.Header.Get(header); sent != key {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "", "Incorrect API key provided: "+sent)
		return false
	}
	return true
}

func openAIError(w http.ResponseWriter, status int, code, param, message string) {
	upstreamtest.WriteJSON(w, status, map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": param, "code": code}})
}

func geminiError(w http.ResponseWriter, status int, code, _, message string) {
	upstreamtest.WriteJSON(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": strings.ToUpper(code)}})
}

func (s *Server) generation(w http.ResponseWriter, r *http.Request) {
	fields := map[string]string{}
	d := json.NewDecoder(r.Body)
	if err := d.Decode(&fields); err != nil {
		openAIError(w, http.StatusBadRequest, "", "", "We could not parse the JSON body of your request.")
		return
	}
	s.openAI(w, Call{Path: r.URL.Path, Fields: fields})
}

func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(64 << 20); err != nil {
		openAIError(w, http.StatusBadRequest, "", "", "could not parse the form")
		return
	}
	fields := map[string]string{}
	for name, values := range r.MultipartForm.Value {
		fields[name] = values[0]
	}
	files := r.MultipartForm.File["image[]"]
	if len(files) == 0 || len(files) > 16 {
		openAIError(w, http.StatusBadRequest, "", "image", "1 to 16 images are needed")
		return
	}
	for _, f := range files {
		opened, err := f.Open()
		if err != nil {
			s.t.Error(err)
			return
		}
		data, err := io.ReadAll(opened)
		opened.Close()
		if kind := http.DetectContentType(data); err != nil || kind != f.Header.Get("Content-Type") {
			openAIError(w, http.StatusBadRequest, "", "image", "Invalid file "+f.Filename+": unsupported mimetype")
			return
		}
	}
	s.openAI(w, Call{Path: r.URL.Path, Fields: fields, Images: len(files)})
}

// allowed are the values that GPT image models take; response_format is not among the fields.
var allowed = map[string][]string{
	"model": {"gpt-image-1"}, "size": {"auto", "1024x1024", "1536x1024", "1024x1536"}, "quality": {"auto", "low", "medium", "high"},
	"background": {"auto", "transparent", "opaque"}, "output_format": {"png", "jpeg", "webp"}, "moderation": {"auto", "low"},
}

func (s *Server) openAI(w http.ResponseWriter, c Call) {
	for name, value := range c.Fields {
		values, known := allowed[name]
		switch {
		case name == "prompt" && value != "" && utf8.RuneCountInString(value) <= 32_000:
		case !known:
			openAIError(w, http.StatusBadRequest, "unknown_parameter", name, "Unknown parameter: '"+name+"'.")
			return
		case !slices.Contains(values, value):
			openAIError(w, http.StatusBadRequest, "invalid_value", name, "Invalid value: '"+value+"'.")
			return
		}
	}
	if c.Fields["prompt"] == "" || c.Fields["model"] == "" || c.Fields["background"] == "transparent" && c.Fields["output_format"] == "jpeg" {
		openAIError(w, http.StatusBadRequest, "", "prompt", "missing or contradicting parameters")
		return
	}
	s.note(c)
	size := c.Fields["size"]
	output := map[string][2]int64{"low": {272, 408}, "medium": {1056, 1584}, "high": {4160, 6240}}[c.Fields["quality"]]
	tokens := output[0]
	if size != "1024x1024" {
		tokens = output[1]
	}
	var width, height int
	if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
		width, height = 1024, 1024
	}
	text, images := int64(len(strings.Fields(c.Fields["prompt"]))), int64(c.Images*323)
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{
		"created": 1_700_000_000, "size": size, "output_format": c.Fields["output_format"],
		"data": []any{map[string]any{"b64_json": base64.StdEncoding.EncodeToString(Picture(width, height, c.Fields["output_format"]))}},
		"usage": map[string]any{
			"total_tokens": text + images + tokens, "input_tokens": text + images, "output_tokens": tokens,
			"input_tokens_details": map[string]any{"text_tokens": text, "image_tokens": images},
		},
	})
}

func (s *Server) generateContent(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Text       string `json:"text"`
				InlineData *struct {
					MIMEType string `json:"mimeType"`
					Data     []byte `json:"data"`
				} `json:"inlineData"`
			} `json:"parts"`
		} `json:"contents"`
		Config struct {
			Modalities []string `json:"responseModalities"`
			Image      struct {
				AspectRatio string `json:"aspectRatio"`
			} `json:"imageConfig"`
		} `json:"generationConfig"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil || len(body.Contents) == 0 || !slices.Contains(body.Config.Modalities, "IMAGE") {
		geminiError(w, http.StatusBadRequest, "invalid_argument", "", fmt.Sprint("Invalid JSON payload received. ", err))
		return
	}
	width, height := 1024, 1024
	switch body.Config.Image.AspectRatio {
	case "1:1":
	case "3:2":
		width, height = 1248, 832
	case "2:3":
		width, height = 832, 1248
	default:
		geminiError(w, http.StatusBadRequest, "invalid_argument", "", "unknown aspect ratio")
		return
	}
	call := Call{Path: r.URL.Path}
	for _, part := range body.Contents[0].Parts {
		call.Text += part.Text
		if part.InlineData != nil {
			call.Images++
		}
	}
	s.note(call)
	upstreamtest.WriteJSON(w, http.StatusOK, map[string]any{
		"candidates": []any{map[string]any{"finishReason": "STOP", "content": map[string]any{"role": "model", "parts": []any{
			map[string]any{"text": "Here is your picture."},
			map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": Picture(width, height, "png")}},
		}}}},
		"usageMetadata": map[string]any{"promptTokenCount": 10, "candidatesTokenCount": 1290, "totalTokenCount": 1300},
	})
}

// Picture is a picture of one colour. A WebP can't be made here; PNG stands for it.
func Picture(width, height int, format string) []byte {
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.NRGBA{R: 200, G: 80, B: 40, A: 255}})
	var b bytes.Buffer
	var err error
	if format == "jpeg" {
		err = jpeg.Encode(&b, img, nil)
	} else {
		err = png.Encode(&b, img)
	}
	if err != nil {
		panic(err) // of memory only
	}
	return b.Bytes()
}
