// Command darkroom is a service to practise with: it develops pictures, which takes a moment, and tells what that cost.
// darkroom.tool.yaml beside it makes a tool of it, without Go; docs/providers.md goes through it step by step.
//
//	DARKROOM_KEY=anything go run ./examples/darkroom [-listen 127.0.0.1:9090]
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9090", "address to listen on")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := serve(ctx, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "darkroom:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, listen string) error {
	key := os.Getenv("DARKROOM_KEY")
	if key == "" {
		return errors.New("DARKROOM_KEY is not set: choose any text, and give it to signalbox, too")
	}
	server := &http.Server{Addr: listen, Handler: newDarkroom(key, 2*time.Second, time.Now), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Printf("The darkroom is open at http://%s\n", listen)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// darkroom keeps its jobs in memory.
type darkroom struct {
	key  string
	time time.Duration // for a picture
	now  func() time.Time

	mu   sync.Mutex
	jobs []*job
}

type job struct {
	side     int
	hue      uint8
	began    time.Time
	canceled bool
}

func newDarkroom(key string, took time.Duration, now func() time.Time) http.Handler {
	d := &darkroom{key: key, time: took, now: now}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs", d.guard(d.create))
	mux.HandleFunc("GET /jobs/{id}", d.guard(d.show))
	mux.HandleFunc("DELETE /jobs/{id}", d.guard(d.cancel))
	mux.HandleFunc("GET /pictures/{id}", d.picture)
	return mux
}

func (d *darkroom) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+d.key {
			answer(w, http.StatusUnauthorized, map[string]any{"error": "who are you?"})
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		next(w, r)
	}
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (d *darkroom) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Subject string `json:"subject"`
		Side    int    `json:"side"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&body); err != nil || body.Subject == "" || body.Side < 0 || body.Side > 1024 {
		answer(w, http.StatusBadRequest, map[string]any{"error": "a subject and a side of 1 to 1024 pixels are needed"})
		return
	}
	var hue uint8
	for _, c := range []byte(body.Subject) {
		hue = hue*31 + c
	}
	d.jobs = append(d.jobs, &job{side: cmp.Or(body.Side, 512), hue: hue, began: d.now()})
	answer(w, http.StatusCreated, map[string]any{"job": map[string]any{"id": len(d.jobs)}})
}

// find gives the job that a request names, or nil.
func (d *darkroom) find(r *http.Request) *job {
	n, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || n < 1 || n > len(d.jobs) {
		return nil
	}
	return d.jobs[n-1]
}

func (d *darkroom) show(w http.ResponseWriter, r *http.Request) {
	j := d.find(r)
	switch {
	case j == nil:
		answer(w, http.StatusNotFound, map[string]any{"error": "there is no such job"})
	case j.canceled:
		answer(w, http.StatusOK, map[string]any{"state": "canceled"})
	case d.now().Sub(j.began) < d.time:
		answer(w, http.StatusOK, map[string]any{"state": "developing"})
	default:
		address := "http://" + r.Host + "/pictures/" + r.PathValue("id")
		answer(w, http.StatusOK, map[string]any{"state": "done", "pictures": []any{map[string]any{"url": address}}, "credits": j.side / 128})
	}
}

func (d *darkroom) cancel(w http.ResponseWriter, r *http.Request) {
	j := d.find(r)
	if j == nil {
		answer(w, http.StatusNotFound, map[string]any{"error": "there is no such job"})
		return
	}
	j.canceled = true
	answer(w, http.StatusOK, map[string]any{"state": "canceled"})
}

// picture needs no key: its address is the secret, as with most services.
func (d *darkroom) picture(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	j := d.find(r)
	d.mu.Unlock()
	if j == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	_ = png.Encode(w, j.develop())
}

// develop makes a picture in which light comes from a corner.
func (j *job) develop() image.Image {
	img := image.NewRGBA(image.Rect(0, 0, j.side, j.side))
	for y := range j.side {
		for x := range j.side {
			light := uint8(255 * (x + y) / (2 * j.side)) // below 256
			img.SetRGBA(x, y, color.RGBA{R: light, G: light ^ j.hue, B: j.hue, A: 255})
		}
	}
	return img
}
