// Package show writes what people see in chats: messages within a platform's limits, the status of a run while it goes on
// (Progress), and its result (Deliverer). It decides nothing: who may do what, and what a message asks for, is decided above it.
package show
