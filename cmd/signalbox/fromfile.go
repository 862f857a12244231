package main

import (
	"fmt"
	"os"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy"
)

// fromFile reads the file that a variable names.
func fromFile[T any](variable, file string, parse func([]byte) (T, error)) (read T, err error) {
	data, err := os.ReadFile(file)
	if err == nil {
		read, err = parse(data)
	}
	if err != nil {
		return read, fmt.Errorf("%s: %w", variable, err)
	}
	return read, nil
}

// serviceMargins are what the operator adds to the prices of services; without a file nothing.
func serviceMargins(c Config) (billing.Margins, error) {
	if c.ServiceMarginsFile == "" {
		return billing.Margins{}, nil
	}
	return fromFile("SERVICE_MARGINS_FILE", c.ServiceMarginsFile, billing.ParseMargins)
}

// rateCard is what seconds of machines cost; without a file they are not told apart.
func rateCard(c Config) (billing.RateCard, error) {
	if c.GPURatesFile == "" {
		return billing.DefaultRateCard(), nil
	}
	return fromFile("GPU_RATES_FILE", c.GPURatesFile, billing.ParseRateCard)
}

// loras is what is known of LoRAs; without a file nothing.
func loras(c Config) (map[string]comfy.Lora, error) {
	if c.LorasFile == "" {
		return nil, nil
	}
	return fromFile("LORAS_FILE", c.LorasFile, comfy.ParseLoras)
}
