// Package loader makes tools of workflow files and keeps the templates by which they are run. What engines have, which decides on
// inputs and on what can be run, it is told by Engines.
package loader
