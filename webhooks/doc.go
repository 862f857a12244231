// Package webhooks receives callbacks of services (Inbox) and sends programs of our users the states of their
// runs (Outbox).
//
// A callback is verified over its raw bytes, stored, answered, and only then worked on. What it says is not
// believed: it makes the run ask its provider, and that answer counts. Only of a service that can't be asked are the
// callbacks themselves, which Reports gives, the answer. So a callback that is lost, doubled, late or
// out of order can't do harm.
//
// Every event is a row that is its own job: no second table can disagree with it, and it costs one write to accept.
package webhooks
