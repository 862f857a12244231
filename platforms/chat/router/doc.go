// Package router answers what comes in from chat platforms: commands, presses, questions, results.
package router
