// Package results has what people do with existing runs: confirm, stop, show, explain, report, repeat, vary, edit, and go on with a
// result. Each command and each press is a function of a turn; the router has the tables that name them.
package results
