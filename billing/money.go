// Package billing is money: exact arithmetic of costs, and a double-entry ledger in Postgres.
package billing

// NanoUSD is an amount of money in nano-dollars (1e-9 US dollars). It is exact and never a float.
type NanoUSD int64

// Dollar is one US dollar.
const Dollar NanoUSD = 1_000_000_000
