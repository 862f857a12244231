package api

import "testing"

func TestGPUName(t *testing.T) {
	t.Parallel()
	for device, want := range map[string]string{
		"cuda:0 NVIDIA GeForce RTX 4090 : cudaMallocAsync": "NVIDIA GeForce RTX 4090", "cuda:1 NVIDIA A100-SXM4-80GB : native": "NVIDIA A100-SXM4-80GB",
		"cpu": "cpu", "mps": "mps", "AMD Radeon RX 7900": "AMD Radeon RX 7900", "": "",
	} {
		if got := gpuName(device); got != want {
			t.Errorf("%q gives %q", device, got)
		}
	}
}
