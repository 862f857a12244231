package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/signalbox/signalbox/comfy/workflow"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/openapi"
	"github.com/signalbox/signalbox/registry"
	"github.com/signalbox/signalbox/registry/catalog"
)

type inspectCommand struct {
	JSON       bool     `name:"json" help:"Print one JSON object a line."`
	ObjectInfo string   `name:"object-info" placeholder:"FILE" help:"Node declarations, as GET /object_info gives them. Without: what is known of the common nodes."`
	Files      []string `arg:"" name:"file" help:"Workflow files, definitions of tools in JSON, tools over HTTP (*.tool.yaml), OpenAPI documents (*.openapi.yaml)."`
}

// Run shows the tools that files would become.
func (c inspectCommand) Run(e env) error {
	info, err := declarations(c.ObjectInfo)
	if err != nil {
		return err
	}
	var workflows []string
	ok := true
	for _, file := range c.Files {
		switch {
		case httptools.IsFile(file):
			ok = inspectTool(e.stdout, file, c.JSON) && ok
		case openapi.IsFile(file):
			ok = inspectDocument(e.ctx, e.stdout, file, splitList(cmp.Or(e.settings.OpenAPIAllow, "*")), c.JSON) && ok
		case catalog.IsDefinitions(file):
			ok = inspectDefinitions(e.stdout, file, c.JSON) && ok
		default:
			workflows = append(workflows, file)
		}
	}
	if len(workflows) > 0 {
		good, err := workflow.InspectFiles(e.ctx, e.stdout, workflows, workflow.InspectOptions{JSON: c.JSON, ObjectInfo: info, Reserved: router.Commands()})
		if err != nil {
			return err
		}
		ok = ok && good
	}
	if !ok {
		return errReported
	}
	return nil
}

// inspectTool shows the tool that a description of an HTTP API becomes, or everything that is wrong with it.
func inspectTool(w io.Writer, file string, asJSON bool) (good bool) {
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

// inspectDefinitions shows the tools that a file of definitions holds, and everything that is wrong with the others.
func inspectDefinitions(w io.Writer, file string, asJSON bool) (good bool) {
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

// inspectDocument shows the tools that an OpenAPI document becomes, those of the list where it doesn't say which, and
// what is to be said about them.
func inspectDocument(ctx context.Context, w io.Writer, file string, allow []string, asJSON bool) (good bool) {
	tools, findings, err := openapi.Check(ctx, file, allow)
	if err == nil && len(tools) == 0 {
		err = fmt.Errorf("none of its operations becomes a tool (OPENAPI_ALLOW is %q)", strings.Join(allow, ","))
	}
	if err != nil {
		findings = append(findings, openapi.Finding{Document: file, Refused: true, Message: err.Error()})
	}
	good = true
	for _, f := range findings {
		good = good && !f.Refused
	}
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
		fmt.Fprintf(w, "%s: %s: %s: %s\n", file, severity, f.Operation, f.Message)
	}
	return good
}
