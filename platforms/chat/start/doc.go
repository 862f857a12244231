// Package start brings runs on their way: what came with a command becomes a draft, what is missing is asked for, the status
// message is shown and the run accepted, or the person is told why not.
package start
