// Package upstreamtest is what the simulators of services have in common: a server that meets requests with the faults a
// test asks for, the jobs that it keeps, and the reports (webhooks) of a service with all that can happen to them on their way.
package upstreamtest
