// Package cluster knows how to lay out, create and launch one Postgres data
// directory with the programs found on the machine. It decides nothing about
// lifetimes: package postgres ties a server to the running program, package
// postgrestest shares one among test processes.
//
// A cluster lives in one folder:
//
//	data/          Postgres' own files, mode 0700, owned by the server's user
//	data.tmp/      a data/ that initdb has not finished; never started
//	run/           the unix socket, mode 0700; elsewhere when the path is long
//	postgres.log   what the server said, kept for the next look
//	lock           held by the program that owns the cluster
//
// Postgres refuses to run as root, so root hands it to a user without rights
// (see User). That user may be unable to enter the folders above the cluster,
// say a home folder with mode 0700; the server then reaches its files through
// open directory handles instead of paths (see Cluster.Command).
package cluster
