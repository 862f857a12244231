package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/cmd/signalbox/config"
	"github.com/signalbox/signalbox/cmd/signalbox/logs"
)

func TestQuietPartsKeepToTheLogLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{"info": "WARN", "error": ""} {
		var c config.Config
		c.LogLevel = level
		var out bytes.Buffer
		log := logs.Quiet(logs.New(c, &out))
		log.Info("a step")
		log.Warn("trouble")
		if got := out.String(); strings.Contains(got, "step") || strings.Contains(got, "WARN") != (want != "") {
			t.Errorf("%s: %s", level, got)
		}
	}
}
