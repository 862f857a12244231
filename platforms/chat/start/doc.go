// Package start begins runs: it makes a draft of what came with a command and asks for what is missing. Then it shows the status
// message and has the run accepted, or tells the person why not.
package start
