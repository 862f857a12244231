// Package webhooks is the house's post: the Inbox takes the callbacks of services, and the Outbox tells the
// programs of our users what became of their runs.
//
// A callback is verified over its raw bytes, stored, answered, and only then worked on. What it says is not
// believed: it makes the run ask its provider, and that answer counts. Only of a service that can't be asked are the
// callbacks themselves, which Reports gives, the answer. So a callback that is lost, doubled, late or
// out of order can't do harm.
//
// Every event is a row that is its own job: no second table can disagree with it, and it costs one write to accept.
package webhooks
