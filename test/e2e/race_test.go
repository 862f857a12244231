//go:build race

package e2e

// race tells that these tests, and with them the binary, are built with the race detector.
const race = true
