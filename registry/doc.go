// Package registry describes tools and serves them to everybody else.
//
// A Tool is data: one operation a person or an agent can start, such as a ComfyUI workflow or a call
// of a provider's API. Loaders produce tools, the Registry validates them and publishes immutable
// Snapshots, and chat commands, forms, price lists, menus, agents and documents are drawn from those.
//
// The JSON form of a Tool is the ToolDefinition. Its field names are a contract with the outside.
// Numbers inside it are kept as json.Number, so that a 64-bit seed never passes through a float, and
// the order of inputs and outputs survives every round trip.
//
// # A tool's way
//
// DecodeTool and DecodeTools read definitions strictly, Validate judges them, Seal gives them their
// version. Registry.Reload does all that with what the Loaders give, keeps the last good set of a
// Loader that fails, and swaps in a new Snapshot, which answers every question about tools: ByID,
// ByCommand, ByAPIPath, Search, Offered and the like. Compare tells two Snapshots apart; History keeps
// that in Postgres. Flash writes a Snapshot to files, from which FlashLoader serves it with no network.
//
// A value for an input is checked by CheckValue or ParseText before any provider sees it.
//
// # Who may see and run what
//
// Visibility and status are enforced by the lists (Public, Listed, Offered, Commands, Search), and for
// runs by Tool.Refusal, which everybody who starts a run asks first: ByID and ByCommand find every
// tool.
package registry
