// Package e2e holds the tests that run the program as its users do: the binary is built once and started
// as a process, with its own Postgres, and spoken to through the page's address, the chat platforms'
// servers, files and signals.
package e2e
