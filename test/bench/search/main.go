// Command search measures whether a request in plain words finds the tool it asks for, on requests and a catalogue
// in a folder, and how long that takes when there are many tools.
//
//	go run ./test/bench/search [-misses] [-half developed|held] FOLDER
//
// The folder has catalogue.json, with definitions of tools, and requests.json: for each request its text, the kinds
// of its attachments, for each needed step the ids that would do, and tempting ids that would be wrong. Recall@k is
// the share of steps with an id that would do among the first k; tempted the share of requests where a tempting one
// stands before all that would do. A request that asks for no tool is well met when nothing is found, or nothing
// better than what nine in ten of the others find. Requests with odd numbers are those that the search was developed on.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	misses := flags.Bool("misses", false, "print the requests that went wrong")
	half := flags.String("half", "", "developed or held: only requests with odd, or even, numbers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("name the folder that has catalogue.json and requests.json")
	}
	tools, requests, err := load(flags.Arg(0))
	if err != nil {
		return err
	}
	answers := answers(tools, requests)
	for _, part := range []string{"developed", "held"} {
		if *half == "" || *half == part {
			printTable(out, part, keep(answers, func(a answer) bool { return a.half() == part }))
		}
	}
	if *half == "" {
		printTable(out, "all", answers)
	}
	if *misses {
		printMisses(out, keep(answers, func(a answer) bool { return *half == "" || a.half() == *half }))
	}
	return measure(out, tools, requests)
}

// request is one line of requests.json.
type request struct {
	ID          string               `json:"id"`
	Language    string               `json:"lang"`
	Text        string               `json:"text"`
	Attachments []registry.InputType `json:"attachments"`
	Steps       [][]string           `json:"steps"`
	Tempting    []string             `json:"tempting"`
}

// half is the part of the data that a request belongs to.
func (r request) half() string {
	number, err := strconv.Atoi(r.ID[strings.LastIndexByte(r.ID, '-')+1:])
	if err == nil && number%2 == 1 {
		return "developed"
	}
	return "held"
}

func load(folder string) ([]registry.Tool, []request, error) {
	catalogue, err := os.ReadFile(filepath.Join(folder, "catalogue.json"))
	if err != nil {
		return nil, nil, err
	}
	var definitions struct{ Tools json.RawMessage }
	if err := json.Unmarshal(catalogue, &definitions); err != nil {
		return nil, nil, fmt.Errorf("catalogue.json: %w", err)
	}
	tools, err := registry.DecodeTools(definitions.Tools)
	if err != nil {
		return nil, nil, fmt.Errorf("catalogue.json: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "requests.json"))
	if err != nil {
		return nil, nil, err
	}
	var file struct{ Requests []request }
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, nil, fmt.Errorf("requests.json: %w", err)
	}
	return tools, file.Requests, nil
}

// measure asks all requests of a catalogue of ten thousand tools, copies of those given.
func measure(out io.Writer, tools []registry.Tool, requests []request) error {
	const many = 10_000
	more := make([]registry.Tool, 0, many)
	for i := 0; len(more) < many; i++ {
		t := tools[i%len(tools)].Clone()
		t.ToolID, t.CommandName, t.APIPath, t.Aliases = fmt.Sprintf("%s-%d", t.ToolID, i), "", "", nil
		more = append(more, t)
	}
	snapshot := catalog.NewSnapshot(more, time.Now())
	started := time.Now()
	snapshot.Search("warm", catalog.SearchOptions{})
	fmt.Fprintf(out, "\n%d tools: the first search builds the index in %v\n", many, time.Since(started).Round(time.Millisecond))
	var times []time.Duration
	for _, r := range requests {
		started := time.Now()
		snapshot.Search(r.Text, options(r))
		times = append(times, time.Since(started))
	}
	slices.Sort(times)
	fmt.Fprintf(out, "a search: middle %v, nine in ten below %v\n", times[len(times)/2].Round(time.Microsecond), times[len(times)*9/10].Round(time.Microsecond))
	return nil
}
