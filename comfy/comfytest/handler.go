package comfytest

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
)

// ServeHTTP remembers and checks a call, and lets a scripted fault or the engine answer it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, err := readCall(r)
	if err != nil {
		return // the client went away
	}
	do := s.note(call)
	s.check(r, call)
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, call) })
	if do != nil {
		do(w, r, next)
		return
	}
	next.ServeHTTP(w, r)
}

// answer lets the engine answer.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, call Call) {
	if call.Path == "/ws" {
		s.serveSocket(w, r)
		return
	}
	if strings.HasPrefix(call.Path, "/view_metadata/") {
		s.serveMetadata(w, r)
		return
	}
	if folder, is := strings.CutPrefix(call.Path, "/models/"); is && len(s.models(folder)) > 0 {
		if err := json.NewEncoder(w).Encode(s.models(folder)); err != nil {
			s.t.Logf("comfytest: answering %s: %v", call.Path, err)
		}
		return
	}
	engine, life := s.process()
	rec := httptest.NewRecorder()
	engine.ServeHTTP(rec, r)
	if life.Err() != nil { // a process that is killed answers nothing, and shows nobody how its runs ended by that
		panic(http.ErrAbortHandler)
	}
	s.judge(call, rec, engine)
	body := rec.Body.Bytes()
	if call.Is("GET /system_stats") {
		body = s.stats(body)
	}
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	if _, err := w.Write(body); err != nil && !errors.Is(err, net.ErrClosed) && r.Context().Err() == nil {
		s.t.Logf("comfytest: answering %s %s: %v", call.Method, call.Path, err)
	}
}
