package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/comfy"
	"github.com/signalbox/signalbox/internal/outbound"
)

// engineHeaders reads COMFYUI_HEADERS_FILE: what goes along with requests to engines, by their names. An error shows no header.
func engineHeaders(c Config) (map[string]http.Header, error) {
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
	known := make([]string, len(c.Engines))
	for i, u := range c.Engines {
		known[i] = comfy.EngineName(u)
	}
	headers := map[string]http.Header{}
	for address, fields := range byAddress {
		u, ok := httpURL(address)
		if !ok || !slices.Contains(known, comfy.EngineName(u)) {
			return nil, fmt.Errorf("COMFYUI_HEADERS_FILE: %s is none of COMFYUI_URLS (%s)", redactURL(address), strings.Join(known, ", "))
		}
		h := http.Header{}
		for name, value := range fields {
			h.Set(name, value)
		}
		headers[comfy.EngineName(u)] = h
	}
	return headers, nil
}

// endpoints reads COMFYUI_SERVERLESS_FILE. Results come from addresses that the endpoints give, which must not lead inside.
func endpoints(c Config) ([]*comfy.Endpoint, error) {
	if c.ComfyUIServerless == "" {
		return nil, nil
	}
	list, err := comfy.ReadEndpoints(c.ComfyUIServerless, nil, outbound.NewClient(splitList(c.OutboundAllow)))
	if err != nil {
		return nil, fmt.Errorf("COMFYUI_SERVERLESS_FILE: %w", err)
	}
	return list, nil
}
