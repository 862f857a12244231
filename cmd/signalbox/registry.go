package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/registry"
)

// rate is the price of a second of engine time as tools carry it.
func rate(c Config) json.Number { return json.Number(c.ComfyUIUSDPerSecond) }

// onSwap are the things that happen when the catalogue changes.
func (a *app) onSwap() []func(context.Context, registry.Swap) { return nil }

func (a *app) startSchedules() error { return nil }

type flashCommand struct {
	Out string `required:"" placeholder:"DIR" help:"Folder to write to."`
}

// Run writes the registry's files.
func (f flashCommand) Run(e env) error {
	c, err := e.settings.check()
	if err != nil {
		return err
	}
	_ = time.Now
	_ = c
	return fmt.Errorf("flash")
}
