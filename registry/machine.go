package registry

import (
	"encoding/json"
	"strings"

	"github.com/signalbox/signalbox/internal/decimal"
)

// ownRate stands in a machine's name before what a second of it costs.
const ownRate = " at $"

// MachineAt names a machine whose second costs what its owner says, in US dollars as an exact decimal, whatever its kind costs elsewhere:
// "NVIDIA L4 at $0.0004". The rate is in the name because a run keeps that: it pays what the machine cost when it ran.
func MachineAt(name, rate string) string { return strings.TrimSpace(name + ownRate + rate) }

// OwnRate is the rate in a machine's name, see MachineAt.
func OwnRate(machine string) (rate string, ok bool) {
	at := strings.LastIndex(" "+machine, ownRate)
	if at < 0 {
		return "", false
	}
	rate = (" " + machine)[at+len(ownRate):]
	exact, err := decimal.Parse(json.Number(rate))
	return rate, err == nil && exact.Sign() >= 0
}
