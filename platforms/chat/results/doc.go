// Package results is what people do with runs that are there: confirmed or stopped while they are under way, then shown, explained,
// reported, done again, varied, edited and gone on with. Each command and each press is a function of a turn; the router has the
// tables that name them.
package results
