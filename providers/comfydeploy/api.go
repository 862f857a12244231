package comfydeploy

import (
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/internal/said"
)

// deployment is a workflow that is set up to run, as GET /deployments lists it.
type deployment struct {
	ID          string  `json:"id"`
	WorkflowID  string  `json:"workflow_id"`
	VersionID   string  `json:"workflow_version_id"`
	MachineID   string  `json:"machine_id"`
	Environment string  `json:"environment"`
	Description string  `json:"description"`
	GPU         string  `json:"gpu"`
	Inputs      []input `json:"input_types"`
	Workflow    struct {
		Name string `json:"name"`
	} `json:"workflow"`
	Version struct {
		Number json.Number `json:"version"`
	} `json:"version"`
}

// input is one of a deployment's inputs, for those whose workflow can't be read.
type input struct {
	Type        string      `json:"type"`
	Class       string      `json:"class_type"`
	ID          string      `json:"input_id"`
	Default     any         `json:"default_value"`
	Min         json.Number `json:"min_value"`
	Max         json.Number `json:"max_value"`
	Name        string      `json:"display_name"`
	Description string      `json:"description"`
	Options     []string    `json:"enum_options"`
}

// listed is a workflow as GET /workflows lists it.
type listed struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// version is one state of a workflow; it never changes.
type version struct {
	Graph  json.RawMessage `json:"workflow"`
	Prompt json.RawMessage `json:"workflow_api"`
}

// machine is where deployments run.
type machine struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	GPU        string `json:"gpu"`
	Status     string `json:"status"`
	Disabled   bool   `json:"disabled"`
	Deleted    bool   `json:"deleted"`
	RunTimeout int64  `json:"run_timeout"` // seconds
}

// broken says why nothing runs on a machine, or "".
func (m machine) broken() said.Text {
	switch {
	case m.Deleted:
		return said.ReasonMachineGone.With()
	case m.Disabled:
		return said.ReasonMachineOff.With()
	case m.Status == "error" || m.Status == "building" || m.Status == "not-started":
		return said.ReasonMachineReady.With("state", m.Status)
	}
	return said.Text{}
}

// run is a run as GET /run/{id} tells of it.
type run struct {
	ID            string         `json:"id"`
	Status        string         `json:"status"`
	LiveStatus    string         `json:"live_status"`
	Progress      float64        `json:"progress"`
	QueuePosition int            `json:"queue_position"`
	GPU           string         `json:"gpu"`
	Inputs        map[string]any `json:"workflow_inputs"`
	RunDuration   json.Number    `json:"run_duration"` // seconds
	StartedAt     string         `json:"started_at"`
	EndedAt       string         `json:"ended_at"`
	Outputs       []output       `json:"outputs"`
}

// output is what one node has made: lists by kind.
type output struct {
	OutputID string                       `json:"output_id"`
	NodeID   string                       `json:"node_id"`
	Data     map[string][]json.RawMessage `json:"data"`
}

// made is a file among a node's outputs.
type made struct {
	URL      string `json:"url"`
	Type     string `json:"type"` // output, temp or input
	FileName string `json:"filename"`
}

// fraction is the progress from 0 to 1: the service has been seen to count to 1 and to 100.
func (r run) fraction() float64 {
	if r.Progress > 1 {
		return min(r.Progress/100, 1)
	}
	return max(r.Progress, 0)
}

// kindOf is the type of a file by the kind of list it is in and its name.
func kindOf(list, fileName string) string {
	dot := strings.LastIndexByte(fileName, '.')
	switch strings.ToLower(fileName[dot+1:]) {
	case "png", "jpg", "jpeg", "webp", "avif":
		return "image"
	case "mp4", "webm", "mov", "mkv", "gif":
		return "video"
	case "wav", "mp3", "flac", "ogg", "opus", "m4a":
		return "audio"
	}
	if list == "images" {
		return "image"
	}
	return "file"
}
