// Package registry is the contract between those who offer tools and those who use them.
//
// A Tool is data: one operation that a person or an agent can start, such as a ComfyUI workflow or a call of a provider's API.
// Loaders produce tools, registry/catalog publishes them, and chat commands, forms, price lists, menus, agents and documents are
// drawn from them. A Caller or a Submitter runs them.
//
// The JSON form of a Tool is the ToolDefinition. Its member names are a contract with the outside. Numbers inside it are kept as
// json.Number, so that a 64-bit seed never passes through a float, and the order of inputs and outputs survives every round trip.
// A new member is a field with its tag; package validate gets its rule.
//
// DecodeTool and DecodeTools read definitions strictly, validate.Tool judges them, Seal gives them their version. CheckValue or ParseText
// checks a value for an input before any provider sees it. Tool.Refusal says whether somebody may run a tool.
//
// The package needs the standard library, a JSON Schema compiler, internal/ordered, internal/said, internal/edit and internal/decimal,
// so that a provider links nothing else.
package registry
