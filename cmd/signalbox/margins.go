package main

import (
	"fmt"
	"os"

	"github.com/signalbox/signalbox/billing"
)

// serviceMargins are what the operator adds to the prices of services; without a file nothing.
func serviceMargins(c Config) (billing.Margins, error) {
	if c.ServiceMarginsFile == "" {
		return billing.Margins{}, nil
	}
	data, err := os.ReadFile(c.ServiceMarginsFile)
	if err != nil {
		return billing.Margins{}, fmt.Errorf("SERVICE_MARGINS_FILE: %w", err)
	}
	margins, err := billing.ParseMargins(data)
	if err != nil {
		return margins, fmt.Errorf("SERVICE_MARGINS_FILE: %w", err)
	}
	return margins, nil
}
