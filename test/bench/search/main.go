// Command search measures whether a request in plain words finds the tool it asks for, on requests and a catalogue
// in a folder, and how long that takes when there are many tools.
//
//	go run ./test/bench/search [-misses] [-half developed|held] [-embeddings-url URL -embeddings-model NAME] FOLDER
//
// With the address and the model of an embedding service, or EMBEDDINGS_URL, EMBEDDINGS_MODEL and EMBEDDINGS_API_KEY, requests
// are searched by words and vectors, as a house that is connected to it does.
//
// The folder has catalogue.json, with definitions of tools, and requests.json: for each request its text, the kinds
// of its attachments, for each needed step the ids that would do, and tempting ids that would be wrong. Recall@k is
// the share of steps with an id that would do among the first k; tempted the share of requests where a tempting one
// stands before all that would do. A request that asks for no tool is well met when nothing is found, or nothing
// better than what nine in ten of the others find. Requests with odd numbers are those that the search was developed on.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/agent/toolsearch"
	"github.com/signalbox/signalbox/internal/upstream/embeddings"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
	"github.com/signalbox/signalbox/registry/registrytest"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	misses := flags.Bool("misses", false, "print the requests that went wrong")
	half := flags.String("half", "", "developed or held: only requests with odd, or even, numbers")
	service := embeddings.Config{Key: os.Getenv("EMBEDDINGS_API_KEY")}
	flags.StringVar(&service.URL, "embeddings-url", os.Getenv("EMBEDDINGS_URL"), "service with OpenAI's API, with its version, that makes vectors; empty: words alone")
	flags.StringVar(&service.Model, "embeddings-model", os.Getenv("EMBEDDINGS_MODEL"), "its model")
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
	search, err := newSearch(ctx, tools, service)
	if err != nil {
		return err
	}
	answers := answers(ctx, search, requests)
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

// newSearch searches tools as a house does: by words, and by vectors where the service has an address.
func newSearch(ctx context.Context, tools []registry.Tool, service embeddings.Config) (catalog.Searcher, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)) // a search that went by words alone says so
	reg, err := catalog.New(catalog.Config{Loaders: []registry.Loader{registrytest.NewLoader("catalogue", tools...)}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if _, err := reg.Reload(ctx); err != nil {
		return nil, err
	}
	if service.URL == "" {
		return reg.Search, nil
	}
	client, err := embeddings.New(service)
	if err != nil {
		return nil, err
	}
	vectors := toolsearch.New(client, reg, log)
	return vectors.Find, vectors.Refresh(ctx)
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
