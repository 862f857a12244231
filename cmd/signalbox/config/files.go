package config

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/agent"
	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/comfy/loras"
	"github.com/signalbox/signalbox/comfy/tag"
	"github.com/signalbox/signalbox/internal/errs"
	"github.com/signalbox/signalbox/internal/modelhub"
	"github.com/signalbox/signalbox/internal/outbound"
	"github.com/signalbox/signalbox/payments"
)

// fromFile reads the file that a variable names.
func fromFile[T any](variable, file string, parse func([]byte) (T, error)) (read T, err error) {
	data, err := os.ReadFile(file)
	if err == nil {
		read, err = parse(data)
	}
	return read, errs.Wrap(err, "%s", variable)
}

// ServiceMargins are what the operator adds to the prices of services; without a file nothing.
func (c *Config) ServiceMargins() (billing.Margins, error) {
	if c.ServiceMarginsFile == "" {
		return billing.Margins{}, nil
	}
	return fromFile("SERVICE_MARGINS_FILE", c.ServiceMarginsFile, billing.ParseMargins)
}

// RateCard is what seconds of machines cost; without a file they are not told apart.
func (c *Config) RateCard() (billing.RateCard, error) {
	if c.GPURatesFile == "" {
		return billing.DefaultRateCard(), nil
	}
	return fromFile("GPU_RATES_FILE", c.GPURatesFile, billing.ParseRateCard)
}

// ByMachine tells whether seconds cost what the machine that ran costs: by its kind of GPU, or by the rate of an engine.
func (c *Config) ByMachine() bool {
	return c.GPURatesFile != "" || slices.ContainsFunc(c.Engines, func(u *url.URL) bool {
		tags, _ := tag.Read(u) // which were checked
		return tags.Rate != ""
	})
}

// UsualRate is what a second costs on engines without a rate where others have one; empty: by the kind of GPU, or all cost the same.
func (c *Config) UsualRate() string {
	if c.GPURatesFile == "" && c.ByMachine() {
		return c.ComfyUIUSDPerSecond
	}
	return ""
}

// MachineRate is what a second of a machine costs, where they differ; nil: all cost the same.
func (c *Config) MachineRate() (func(machine string) float64, error) {
	if !c.ByMachine() {
		return nil, nil
	}
	card, err := c.RateCard()
	if err != nil {
		return nil, err
	}
	return func(machine string) float64 {
		text, known := card.Rate(machine)
		if !known {
			text = c.ComfyUIUSDPerSecond
		}
		rate, _ := strconv.ParseFloat(text, 64) // both were read at the start
		return rate
	}, nil
}

// readLoras reads what is known of LoRAs; without a file nothing.
func (c *Config) readLoras() (map[string]loras.Lora, error) {
	if c.LorasFile == "" {
		return nil, nil
	}
	return fromFile("LORAS_FILE", c.LorasFile, loras.Parse)
}

// SoldProducts are what is sold; without a file nothing.
func (c *Config) SoldProducts() (payments.Products, error) {
	if c.ProductsFile == "" {
		return nil, nil
	}
	return fromFile("PRODUCTS_FILE", c.ProductsFile, payments.ParseProducts)
}

// ToolGuidance are the lines for tools of TOOL_GUIDANCE_FILE, or those that come with the program.
func (c *Config) ToolGuidance() (agent.Guidance, error) {
	if c.ToolGuidanceFile == "" {
		return agent.DefaultGuidance()
	}
	data, err := os.ReadFile(c.ToolGuidanceFile)
	if err != nil {
		return nil, err
	}
	return agent.ParseGuidance(data)
}

// ModelPrices are those of the file, or those that come with the program.
func (c *Config) ModelPrices() (modelhub.Prices, error) {
	if c.ModelPricesFile == "" {
		return modelhub.DefaultPrices()
	}
	data, err := os.ReadFile(c.ModelPricesFile)
	if err != nil {
		return modelhub.Prices{}, err
	}
	return modelhub.ParsePrices(data)
}

// EngineHeaders reads COMFYUI_HEADERS_FILE: what goes along with requests to engines, by their names. An error shows no header.
func (c *Config) EngineHeaders() (map[string]http.Header, error) {
	if c.ComfyUIHeaders == "" {
		return nil, nil
	}
	data, err := os.ReadFile(c.ComfyUIHeaders)
	if err != nil {
		return nil, fmt.Errorf("COMFYUI_HEADERS_FILE: %w", err)
	}
	var byAddress map[string]map[string]string
	if json.Unmarshal(data, &byAddress) != nil {
		return nil, fmt.Errorf(`COMFYUI_HEADERS_FILE: %s is not as in {"https://gpu.example": {"Authorization": "Bearer ..."}}`, c.ComfyUIHeaders)
	}
	var servers, wakes []string
	for _, u := range c.Engines {
		servers = append(servers, comfy.EngineName(u))
		if wake, ok := HTTPURL(c.wakeOf(u)); ok {
			wakes = append(wakes, comfy.EngineName(wake))
		}
	}
	headers := map[string]http.Header{}
	for address, fields := range byAddress {
		u, ok := HTTPURL(address)
		if !ok || !slices.Contains(servers, comfy.EngineName(u)) && !slices.Contains(wakes, comfy.EngineName(u)) {
			return nil, fmt.Errorf("COMFYUI_HEADERS_FILE: %s is none of COMFYUI_URLS (%s), and wakes none", Redact(address), strings.Join(servers, ", "))
		}
		h := http.Header{}
		for name, value := range fields {
			h.Set(name, value)
		}
		headers[comfy.EngineName(u)] = h
	}
	return headers, nil
}

// wakeOf is the address that wakes a server; empty: it has none.
func (c *Config) wakeOf(u *url.URL) string {
	tags, _ := tag.Read(u) // which were checked
	return tags.Wake
}

// Wakes reports whether there are servers that can be woken.
func (c *Config) Wakes() bool {
	return slices.ContainsFunc(c.Engines, func(u *url.URL) bool { return c.wakeOf(u) != "" })
}

// readEndpoints reads COMFYUI_SERVERLESS_FILE. Results come from addresses that the endpoints give, which must not lead inside.
func (c *Config) readEndpoints() ([]*comfy.Endpoint, error) {
	if c.ComfyUIServerless == "" {
		return nil, nil
	}
	list, err := comfy.ReadEndpoints(c.ComfyUIServerless, nil, outbound.NewClient(List(c.OutboundAllow)))
	if err != nil {
		return nil, fmt.Errorf("COMFYUI_SERVERLESS_FILE: %w", err)
	}
	return list, nil
}
