package graph

import (
	"errors"
	"fmt"
)

// Format is the form a workflow file has. The values are those of the corpus.
type Format string

// The forms. FormatUI is the graph an editor saves, FormatAPI the prompt a server takes, the other two are
// prompts inside the envelopes {"prompt": ...} and {"input": {"workflow": ...}}.
const (
	FormatUI         Format = "ui"
	FormatAPI        Format = "api"
	FormatAPIWrapped Format = "api-wrapped"
	FormatRunpod     Format = "runpod-wrapped"
)

// Short is "ui" or "api".
func (f Format) Short() string {
	if f == FormatUI {
		return "ui"
	}
	return "api"
}

// ErrNotWorkflow is in the chain of every error Parse returns.
var ErrNotWorkflow = errors.New("not a ComfyUI workflow")

// refuse makes such an error. The format may use %w.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrNotWorkflow}, args...)...)
}

// Workflow is a parsed file. It is not modified after Parse and may be read from many goroutines.
type Workflow struct {
	Format Format
	Graph  *Graph // of the graph form, else nil
	Prompt Prompt // of the prompt form, else nil

	// Subgraphs holds all subgraph definitions, nested ones right after the one that holds them.
	Subgraphs []*Subgraph

	defs map[string]*Subgraph
}

// Graph is one level of the graph form: the root or the inside of a subgraph.
type Graph struct {
	Nodes []*Node
	Links []*Link

	nodes map[string]*Node
	links map[string]*Link
	extra *object
	raw   *object
}

// Node is one node of a graph.
type Node struct {
	ID      string
	Type    string // the class, also of nodes whose class is missing; for an instance the subgraph's id
	Title   string // set by the author, or empty
	Mode    int    // see the Mode constants
	X, Y    float64
	Inputs  []Slot
	Outputs []Slot

	values any // widgets_values: []any, *object or nil
	props  *object
	raw    *object
}

// Node modes. All other values are active.
const (
	ModeMuted    = 2
	ModeBypassed = 4
)

// Active says whether the node is neither muted nor bypassed.
func (n *Node) Active() bool { return n.Mode != ModeMuted && n.Mode != ModeBypassed }

// Slot is an input or output socket.
type Slot struct {
	Name   string
	Label  string // what the editor shows in place of Name, or empty
	Type   string // empty where the file has no usable one
	Link   string // id of the link into an input, or empty
	Widget string // name of the widget the input stands for, or empty
}

// Input finds an input socket by its name, or gives nil.
func (n *Node) Input(name string) *Slot {
	for i := range n.Inputs {
		if n.Inputs[i].Name == name {
			return &n.Inputs[i]
		}
	}
	return nil
}

// Link connects an output with an input of the same level.
type Link struct {
	ID, Origin, Target     string
	OriginSlot, TargetSlot int
	Type                   string
}

// Subgraph is a definition that instances refer to by its id.
type Subgraph struct {
	Graph
	ID, Name, Description string
	In, Out               []Port

	inputNode, outputNode string
}

// Port is one input or output of a Subgraph.
type Port struct {
	Name, Label, Type string

	links  []string
	widget bool // leads to a widget inside
}
