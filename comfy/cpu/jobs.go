package cpu

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/comfy/cpu/pyval"
	"github.com/signalbox/signalbox/comfy/cpu/reply"
)

// jobStatuses are the states of a job, in the order in which errors list them.
var jobStatuses = []string{"pending", "in_progress", "completed", "failed", "cancelled"}

// previewText bounds the text of a job's preview, in characters.
const previewText = 1024

// job is a prompt as the jobs routes show it.
type job struct {
	item   *item
	status string
	end    *outcome // nil while it is not over
}

// jobs gives all prompts: the running one, the waiting ones, the finished ones.
func (e *Engine) jobs() []job {
	now, waiting := e.queue.snapshot()
	var all []job
	if now != nil {
		all = append(all, job{item: now, status: "in_progress"})
	}
	for _, it := range waiting {
		all = append(all, job{item: it, status: "pending"})
	}
	for _, en := range e.queue.entries() {
		all = append(all, finishedJob(en))
	}
	return all
}

func finishedJob(en *entry) job {
	j := job{item: en.item, status: "failed", end: &en.end}
	if en.end.success {
		j.status = "completed"
	} else if en.end.find("execution_interrupted") != nil {
		j.status = "cancelled"
	}
	return j
}

// find gives the data of the first message of a kind, or nil.
func (o *outcome) find(event string) *pyval.Dict {
	for _, m := range o.messages {
		if pair := m.([]any); pair[0] == event {
			return pair[1].(*pyval.Dict)
		}
	}
	return nil
}

// times are start and end in milliseconds, nil when unknown.
func (j *job) times() (start, end any) {
	if j.end == nil {
		return nil, nil
	}
	if m := j.end.find("execution_start"); m != nil {
		start = m.At("timestamp")
	}
	for _, event := range []string{"execution_success", "execution_error", "execution_interrupted"} {
		if m := j.end.find(event); m != nil {
			end = m.At("timestamp")
		}
	}
	return start, end
}

func (j *job) workflowID() any {
	info, _ := j.item.extra.At("extra_pnginfo").(*pyval.Dict)
	if info == nil {
		return nil
	}
	workflow, _ := info.At("workflow").(*pyval.Dict)
	if workflow == nil {
		return nil
	}
	return workflow.At("id")
}

// show renders a job; members without a value are left out.
func (j *job) show(full bool) *pyval.Dict {
	start, end := j.times()
	d := pyval.D("id", j.item.id, "status", j.status, "priority", j.item.number, "create_time", j.item.extra.At("create_time"),
		"execution_start_time", start, "execution_end_time", end)
	count, preview := 0, (*pyval.Dict)(nil)
	if j.end != nil {
		if m := j.end.find("execution_error"); m != nil {
			d.Set("execution_error", m)
		}
		count, preview = summary(j.end.outputs)
	}
	d.Set("outputs_count", int64(count))
	if preview != nil {
		d.Set("preview_output", preview)
	}
	d.Set("workflow_id", j.workflowID())
	if full && j.end != nil {
		shown := (&entry{item: j.item, end: *j.end}).show()
		d.Set("outputs", j.end.outputs)
		d.Set("execution_status", shown.At("status"))
		d.Set("workflow", pyval.D("prompt", j.item.prompt, "extra_data", j.item.extra))
	}
	for _, key := range slices.Clone(d.Keys()) {
		if d.At(key) == nil {
			d.Delete(key)
		}
	}
	return d
}

// previewKinds are the kinds of output that a job is shown by; others are only counted.
var previewKinds = []string{"images", "video", "audio", "3d", "text"}

// summary counts the outputs of a run and picks the one to show: the first text or saved file, else the first temporary one.
func summary(outputs *pyval.Dict) (count int, preview *pyval.Dict) {
	var second *pyval.Dict
	for _, id := range outputs.Keys() {
		ui := outputs.At(id).(*pyval.Dict)
		for _, kind := range ui.Keys() {
			items, _ := ui.At(kind).([]any)
			if kind == "animated" {
				continue
			}
			for _, it := range items {
				shown, saved := previewOf(kind, it)
				if shown == nil {
					continue
				}
				count++
				shown.Set("nodeId", id)
				shown.Set("mediaType", kind)
				switch {
				case !slices.Contains(previewKinds, kind):
				case saved && preview == nil:
					preview = shown
				case !saved && second == nil:
					second = shown
				}
			}
		}
	}
	if preview == nil {
		preview = second
	}
	return count, preview
}

// previewOf shows one item of a node's output; nil when it is nothing to show. saved tells texts and files that stay.
func previewOf(kind string, it any) (shown *pyval.Dict, saved bool) {
	if kind == "text" {
		content := []rune(pyval.Str(it))
		d := pyval.D("content", string(content[:min(len(content), previewText)]))
		if len(content) > previewText {
			d.Set("truncated", true)
		}
		return d, true
	}
	parsed, err := pyval.Parse([]byte(pyval.Dumps(it)))
	d, ok := parsed.(*pyval.Dict)
	if err != nil || !ok {
		return nil, false
	}
	return d, d.At("type") == "output"
}

// jobQuery is a parsed GET /api/jobs.
type jobQuery struct {
	statuses      []string
	workflow      string
	byDuration    bool
	ascending     bool
	limit, offset int // limit 0: none
}

// parseJobQuery gives the query, or the text of the error to answer.
func parseJobQuery(r *http.Request) (q jobQuery, problem string) {
	values := r.URL.Query()
	var bad []string
	for s := range strings.SplitSeq(values.Get("status"), ",") {
		if s = strings.ToLower(strings.TrimSpace(s)); s == "" {
			continue
		}
		if !slices.Contains(jobStatuses, s) {
			bad = append(bad, s)
		}
		q.statuses = append(q.statuses, s)
	}
	if len(bad) > 0 {
		return q, fmt.Sprintf("Invalid status value(s): %s. Valid values: %s", strings.Join(bad, ", "), strings.Join(jobStatuses, ", "))
	}
	q.workflow = values.Get("workflow_id")
	switch values.Get("sort_by") {
	case "", "created_at":
	case "execution_duration":
		q.byDuration = true
	default:
		return q, "sort_by must be 'created_at' or 'execution_duration'"
	}
	switch values.Get("sort_order") {
	case "", "desc":
	case "asc":
		q.ascending = true
	default:
		return q, "sort_order must be 'asc' or 'desc'"
	}
	return q, q.page(values.Has("limit"), values.Get("limit"), values.Has("offset"), values.Get("offset"))
}

func (q *jobQuery) page(hasLimit bool, limit string, hasOffset bool, offset string) (problem string) {
	var err error
	if hasLimit {
		if q.limit, err = strconv.Atoi(limit); err != nil {
			return "limit must be an integer"
		}
		if q.limit <= 0 {
			return "limit must be a positive integer"
		}
	}
	if hasOffset {
		if q.offset, err = strconv.Atoi(offset); err != nil {
			return "offset must be an integer"
		}
		q.offset = max(q.offset, 0)
	}
	return ""
}

func (q *jobQuery) takes(j job) bool {
	if len(q.statuses) > 0 && !slices.Contains(q.statuses, j.status) {
		return false
	}
	return q.workflow == "" || j.workflowID() == q.workflow
}

func (q *jobQuery) sort(list []job) {
	key := func(j job) int64 {
		if !q.byDuration {
			created, _ := j.item.extra.At("create_time").(int64)
			return created
		}
		start, end := j.times()
		from, _ := start.(int64)
		to, _ := end.(int64)
		return to - from
	}
	slices.SortStableFunc(list, func(a, b job) int {
		order := cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.item.seq, b.item.seq))
		if q.ascending {
			return order
		}
		return -order
	})
}

func jobProblem(w http.ResponseWriter, status int, text string) error {
	return reply.JSON(w, status, pyval.D("error", text))
}

func (e *Engine) getJobs(w http.ResponseWriter, r *http.Request) error {
	q, problem := parseJobQuery(r)
	if problem != "" {
		return jobProblem(w, http.StatusBadRequest, problem)
	}
	list := slices.DeleteFunc(e.jobs(), func(j job) bool { return !q.takes(j) })
	q.sort(list)
	total := len(list)
	list = list[min(q.offset, total):]
	var limit any
	if q.limit > 0 {
		limit = int64(q.limit)
		list = list[:min(q.limit, len(list))]
	}
	shown := []any{}
	for _, j := range list {
		shown = append(shown, j.show(false))
	}
	return reply.JSON(w, http.StatusOK, pyval.D("jobs", shown, "pagination", pyval.D(
		"offset", int64(q.offset), "limit", limit, "total", int64(total), "has_more", q.offset+len(list) < total)))
}

func (e *Engine) getJob(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if en := e.queue.entry(id); en != nil { // an id that was used again shows its finished run
		j := finishedJob(en)
		return reply.JSON(w, http.StatusOK, j.show(true))
	}
	for _, j := range e.jobs() {
		if j.item.id == id {
			return reply.JSON(w, http.StatusOK, j.show(true))
		}
	}
	return jobProblem(w, http.StatusNotFound, "Job not found")
}
