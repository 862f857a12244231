// Package knowledge answers questions with passages of documents: each source of documents is a tool that finds them.
package knowledge
