// Package remote runs tools that live behind an HTTP endpoint of somebody else's.
//
// A remote tool is a manifest (what it takes, gives and promises), an endpoint and headers to send with each
// call. Tools come from a file that the operator names, and at run time from Register, which keeps them in
// Postgres; a registered tool goes before the file's one of the same name. Names are told apart without regard
// to case.
//
// A call is one POST of JSON:
//
//	{"toolName": "pim.getProduct", "arguments": {"sku": "A-1"},
//	 "context": {"siteId": "...", "sessionId": "...", "userId": "...", "traceId": "...", "plannerProvider": "..."}}
//
// and its answer is {"data": ...}, which must conform to the manifest's outputSchema. Any status but 2xx is an
// error. Timeouts are ours; attempts and the waits between them are those of runs, by the manifest's policy.
//
// The answer of an idempotent tool is remembered: an identical call of the same account in the same trace gets it again without
// being made, also after a restart.
package remote
