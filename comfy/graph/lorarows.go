package graph

import "strconv"

// loraRows is the class of a loader whose editor keeps a row for each LoRA among the values and sends them as lora_1,
// lora_2 ... No server declares them.
const loraRows = "Power Lora Loader (rgthree)"

// readLoraRows takes the rows: the other values are headings, gaps and a button. A second strength counts only where
// the author asked for one.
func (n *FlatNode) readLoraRows(values []any) bool {
	if n.Class != loraRows {
		return false
	}
	separate := asString(n.Node.props.Get("Show Strengths")) == "Separate Model & Clip"
	for _, v := range values {
		row := asObject(v)
		if !row.Has("lora") || len(n.Inputs) == maxNodeInputs {
			continue
		}
		sent := new(object)
		for _, m := range row.Members() {
			if m.Name != "strengthTwo" || separate && m.Value != nil {
				sent.Add(m.Name, m.Value)
			}
		}
		n.Inputs = append(n.Inputs, Input{Name: "lora_" + strconv.Itoa(len(n.Inputs)+1), Value: sent})
	}
	return true
}
