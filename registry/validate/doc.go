// Package validate judges tools: whether what a definition says can be served, shown and run.
package validate
