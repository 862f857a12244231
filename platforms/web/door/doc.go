// Package door is how requests come in: it finds out who sent one, decides what they may do, and keeps out requests that other
// sites make up. It knows no page: the packages above it say of each address what it does (Use), and get the sender's account.
package door
