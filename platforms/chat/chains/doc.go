// Package chains lets people in chats do again, do many times and keep what they have done: /again runs the last run of a chat once more,
// /batch runs a tool over many inputs under one confirmation, and /save makes a command of one's own of a line of runs. All of it goes
// through package missions: a batch is a mission whose legs are independent, a chain is a mission that was written down.
package chains
