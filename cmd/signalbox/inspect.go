package main

import (
	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/inspect"
	"github.com/signalbox/signalbox/platforms/chat/router"
	"github.com/signalbox/signalbox/providers/httptools"
	"github.com/signalbox/signalbox/providers/openapi"
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
			ok = inspect.Tool(e.stdout, file, c.JSON) && ok
		case openapi.IsFile(file):
			ok = inspect.Document(e.ctx, e.stdout, file, config.List(e.settings.OpenAPIAllow), c.JSON) && ok
		case catalog.IsDefinitions(file):
			ok = inspect.Definitions(e.stdout, file, c.JSON) && ok
		default:
			workflows = append(workflows, file)
		}
	}
	if len(workflows) > 0 {
		good, err := inspect.Workflows(e.ctx, e.stdout, workflows, inspect.Options{JSON: c.JSON, ObjectInfo: info, Reserved: router.Commands()})
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
