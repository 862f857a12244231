package words

import (
	"cmp"

	"github.com/signalbox/signalbox/billing"
	"github.com/signalbox/signalbox/internal/i18n"
	"github.com/signalbox/signalbox/registry"
)

// PartPrice tells the most that a part of a call may cost.
func PartPrice(v i18n.Voice, part registry.Part) string {
	most, err := billing.ParseUSD(part.CostUSD)
	switch {
	case err != nil: // it is ours, and a number
		return "$" + part.CostUSD
	case most == 0:
		return v.Line("price.free")
	}
	return v.Line("price.exact", "price", v.Between(most, most))
}

// PartValue tells a value that a part of a call was given; of a file that we store, what kind it is.
func PartValue(v i18n.Voice, in registry.PartInput) string {
	if in.From > 0 {
		return v.Line("asked.stepFrom", "n", in.From)
	}
	return cmp.Or(in.Value, string(in.Type))
}
