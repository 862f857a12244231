// Package registrytest helps other packages test against the registry: tools to start from, a Loader
// and a service that do as the test says, and the conformance suites that every Loader and every
// Submitter passes.
package registrytest
