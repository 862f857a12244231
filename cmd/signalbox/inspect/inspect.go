// Package inspect shows what files of tools become, and what is wrong with them: as lines, or as one JSON object for each file.
package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

// Tool shows the tool that a description of an HTTP API becomes, or everything that is wrong with it.
func Tool(w io.Writer, file string, asJSON bool) (good bool) {
	tools, warnings, err := httptools.Check(file)
	if asJSON {
		line := struct {
			File     string          `json:"file"`
			Tool     *registry.Tool  `json:"tool,omitempty"`
			Tools    []registry.Tool `json:"tools,omitempty"` // of a file with several
			Warnings []string        `json:"warnings,omitempty"`
			Error    string          `json:"error,omitempty"`
		}{File: file, Warnings: warnings}
		switch {
		case err != nil:
			line.Error = err.Error()
		case len(tools) == 1:
			line.Tool = &tools[0]
		default:
			line.Tools = tools
		}
		return json.NewEncoder(w).Encode(line) == nil && err == nil
	}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(w, "%s: error: %s\n", file, line)
		}
		return false
	}
	for _, tool := range tools {
		printTool(w, file, tool)
	}
	for _, warning := range warnings {
		fmt.Fprintf(w, "%s: warning: %s\n", file, warning)
	}
	return true
}

func printTool(w io.Writer, file string, tool registry.Tool) {
	fmt.Fprintf(w, "%s: %s, %s\n", file, tool.ToolID, tool.DisplayName)
	for _, f := range tool.InputSchema {
		fmt.Fprintf(w, "  %s (%s)\n", f.Name, f.Type)
	}
}

// Definitions shows the tools that a file of definitions holds, and everything that is wrong with the others.
func Definitions(w io.Writer, file string, asJSON bool) (good bool) {
	tools, err := catalog.CheckFile(file)
	if asJSON {
		line := struct {
			File  string          `json:"file"`
			Tools []registry.Tool `json:"tools"`
			Error string          `json:"error,omitempty"`
		}{File: file, Tools: tools}
		if err != nil {
			line.Error = err.Error()
		}
		return json.NewEncoder(w).Encode(line) == nil && err == nil
	}
	for _, tool := range tools {
		printTool(w, file, tool)
	}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(w, "%s: error: %s\n", file, line)
		}
	}
	return err == nil
}

// Document shows the tools that an OpenAPI document becomes, those of the list where it doesn't say which, and
// what is to be said about them.
func Document(ctx context.Context, w io.Writer, file string, allow []string, asJSON bool) (good bool) {
	tools, findings, err := openapi.Check(ctx, file, allow)
	if err == nil && len(tools) == 0 && !slices.ContainsFunc(findings, refused) {
		err = errors.New("none of its operations becomes a tool")
	}
	if err != nil {
		findings = append(findings, openapi.Finding{Document: file, Refused: true, Message: err.Error()})
	}
	good = !slices.ContainsFunc(findings, refused)
	if asJSON {
		line := struct {
			File     string            `json:"file"`
			Tools    []registry.Tool   `json:"tools"`
			Findings []openapi.Finding `json:"findings"`
		}{file, append([]registry.Tool{}, tools...), findings}
		return json.NewEncoder(w).Encode(line) == nil && good
	}
	for _, tool := range tools {
		fmt.Fprintf(w, "%s: %s, %s\n", file, tool.ToolID, tool.DisplayName)
	}
	for _, f := range findings {
		severity := "warning"
		if f.Refused {
			severity = "error"
		}
		at := ""
		if f.Operation != "" {
			at = f.Operation + ": "
		}
		fmt.Fprintf(w, "%s: %s: %s%s\n", file, severity, at, f.Message)
	}
	return good
}

func refused(f openapi.Finding) bool { return f.Refused }
