package main

import (
	"context"

	"github.com/signalbox/signalbox/cmd/signalbox/versions"
	"github.com/signalbox/signalbox/registry/history"
)

type toolsCommand struct {
	Versions listVersionsCommand `cmd:"" help:"List the versions of a tool."`
	Rollback rollbackCommand     `cmd:"" help:"Serve a former version in the place of the present one."`
	Keep     keepVersionCommand  `cmd:"" help:"Serve a former version beside the present one, such as /paint_v3."`
	Release  releaseCommand      `cmd:"" help:"Serve a tool as its file says again."`
}

// ofTool is a tool that a command is about.
type ofTool struct {
	Tool string `arg:"" help:"Id of the tool, such as wallpaper."`
}

type listVersionsCommand struct{ ofTool }

// Run lists the versions of a tool.
func (c listVersionsCommand) Run(e env) error {
	return withHistory(e, func(ctx context.Context, store *history.Store) error {
		return versions.Print(ctx, e.stdout, store, c.Tool)
	})
}

type rollbackCommand struct {
	ofTool
	Number int `arg:"" help:"Number of the version, as tools versions lists it."`
}

// Run goes back to a version. A running program follows within seconds.
func (c rollbackCommand) Run(e env) error {
	return withHistory(e, func(ctx context.Context, store *history.Store) error {
		return versions.Pin(ctx, e.stdout, store, c.Tool, c.Number, true)
	})
}

type keepVersionCommand struct {
	ofTool
	Number int `arg:"" help:"Number of the version, as tools versions lists it."`
}

// Run keeps a version beside the present one. A running program follows within seconds.
func (c keepVersionCommand) Run(e env) error {
	return withHistory(e, func(ctx context.Context, store *history.Store) error {
		return versions.Pin(ctx, e.stdout, store, c.Tool, c.Number, false)
	})
}

type releaseCommand struct {
	ofTool
	Number int `arg:"" optional:"" help:"Number of the version. None: all of the tool."`
}

// Run lets go of versions. A running program follows within seconds.
func (c releaseCommand) Run(e env) error {
	return withHistory(e, func(ctx context.Context, store *history.Store) error {
		return versions.Release(ctx, e.stdout, store, c.Tool, c.Number)
	})
}
