package cpu

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

func (e *Engine) getQueue(w http.ResponseWriter, _ *http.Request) error {
	now, waiting := e.queue.snapshot()
	running, pending := []any{}, []any{}
	if now != nil {
		running = append(running, now.list())
	}
	for _, it := range waiting {
		pending = append(pending, it.list())
	}
	return reply.JSON(w, http.StatusOK, pyval.D("queue_running", running, "queue_pending", pending))
}

// ids reads the "delete" member: a list of ids, of which only texts can match, or a text, walked letter by letter.
func ids(d *pyval.Dict) ([]string, error) {
	switch v := d.At("delete").(type) {
	case []any:
		return texts(v), nil
	case string:
		return strings.Split(v, ""), nil
	case *pyval.Dict:
		return v.Keys(), nil
	}
	if _, given := d.Get("delete"); given {
		return nil, errors.New("delete is not a list")
	}
	return nil, nil
}

// clearAndDelete is the common form of POST /queue and POST /history.
func clearAndDelete(w http.ResponseWriter, r *http.Request, clear func(), drop func(id string)) error {
	v, err := reply.Body(r)
	if err != nil {
		return err
	}
	d, err := bodyWith(v, "clear", "delete")
	if err != nil {
		return err
	}
	if pyval.Truth(d.At("clear")) {
		clear()
	}
	list, err := ids(d)
	if err != nil {
		return err
	}
	for _, id := range list {
		drop(id)
	}
	reply.Empty(w, http.StatusOK)
	return nil
}

func (e *Engine) postQueue(w http.ResponseWriter, r *http.Request) error {
	return clearAndDelete(w, r, e.queue.clear, e.queue.drop)
}

func (e *Engine) postHistory(w http.ResponseWriter, r *http.Request) error {
	if e.cfg.Transient {
		defer e.sweep(spareFor)
	}
	return clearAndDelete(w, r, e.queue.forgetAll, e.forget)
}

// postInterrupt stops what runs, or only the prompt it names. A body that is not JSON counts as none.
func (e *Engine) postInterrupt(w http.ResponseWriter, r *http.Request) error {
	v, err := reply.Body(r)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	d := &pyval.Dict{}
	if err == nil {
		var ok bool
		if d, ok = v.(*pyval.Dict); !ok {
			return errors.New("the body is not a JSON object")
		}
	}
	if id := d.At("prompt_id"); pyval.Truth(id) {
		if text, ok := id.(string); ok {
			e.queue.interrupt(text)
		}
	} else {
		e.queue.interrupt("")
	}
	reply.Empty(w, http.StatusOK)
	return nil
}

func (e *Engine) postFree(w http.ResponseWriter, r *http.Request) error {
	d, err := reply.DictBody(r)
	if err != nil {
		return err
	}
	if pyval.Truth(d.At("free_memory")) {
		e.queue.askFree()
	}
	reply.Empty(w, http.StatusOK)
	return nil
}

// show is the history entry as clients see it.
func (en *entry) show() *pyval.Dict {
	status := "error"
	if en.end.success {
		status = "success"
	}
	return pyval.D(
		"prompt", en.item.list(),
		"outputs", en.end.outputs,
		"status", pyval.D("status_str", status, "completed", en.end.success, "messages", en.end.messages),
		"meta", en.end.meta,
	)
}

func (e *Engine) getHistoryEntry(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	d := &pyval.Dict{}
	if en := e.queue.entry(id); en != nil {
		d.Set(id, en.show())
	}
	return reply.JSON(w, http.StatusOK, d)
}

func (e *Engine) getHistory(w http.ResponseWriter, r *http.Request) error {
	limit, hasLimit, err := queryInt(r, "max_items")
	if err != nil {
		return err
	}
	offset, hasOffset, err := queryInt(r, "offset")
	if err != nil {
		return err
	}
	if !hasOffset {
		offset = -1
	}
	entries := e.queue.entries()
	if offset < 0 && hasLimit {
		offset = len(entries) - limit
	}
	d := &pyval.Dict{}
	for i, en := range entries {
		if i < offset {
			continue
		}
		d.Set(en.item.id, en.show())
		if hasLimit && d.Len() >= limit {
			break
		}
	}
	return reply.JSON(w, http.StatusOK, d)
}

// queryInt reads a query value by the rules of int(); an absent one is no error.
func queryInt(r *http.Request, name string) (n int, given bool, err error) {
	if !r.URL.Query().Has(name) {
		return 0, false, nil
	}
	v, err := pyval.ToInt(r.URL.Query().Get(name))
	if err != nil {
		return 0, true, err
	}
	n, err = strconv.Atoi(pyval.Str(v))
	return n, true, err
}
