//go:build !linux

package main

// forgetCode is for Linux.
func forgetCode() {}
