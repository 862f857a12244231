// Package registry describes tools and serves them to everybody else.
//
// A Tool is data: one operation a person or an agent can start, such as a ComfyUI workflow or a call
// of a provider's API. Loaders produce tools, the Registry validates them and publishes immutable
// Snapshots, and chat commands, forms, price lists, menus, agents and documents are drawn from those.
//
// The JSON form of a Tool is the ToolDefinition. Its field names are a contract with the outside.
// Numbers inside it are kept as json.Number, so that a 64-bit seed never passes through a float, and
// the order of inputs and outputs survives every round trip.
package registry
