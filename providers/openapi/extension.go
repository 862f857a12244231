package openapi

// annotated reports whether any operation says whether it is a tool.
func (d *document) annotated() bool {
	for _, op := range d.operations() {
		if op.object.has(extTool) {
			return true
		}
	}
	return false
}

const extTool = "x-orchet-tool"

// exposed reports whether an operation is to be a tool.
func (d *document) exposed(op operation, annotated bool, allow []string, findings *[]Finding) bool {
	if annotated {
		return op.object.truth(extTool)
	}
	return allowed(allow, op.id())
}

func (b *builder) extensions() {}
