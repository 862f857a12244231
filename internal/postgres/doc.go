// Package postgres connects the program to its database: the one that
// DATABASE_URL names (Connect), or a real Postgres server of its own that
// starts and ends with it (Start).
//
// The server of our own listens on a unix socket that only its user and root
// can reach, keeps its files in one folder (see package cluster for what is in
// it), and is safe against what happens in practice: root, a home folder that
// is closed to others, two programs on one folder, kill -9 at any moment,
// process ids used again, and data written by another version. It never
// deletes data.
package postgres
