//go:build unix && !linux

package postgrestest

// memoryDir finds none: only Linux has one by default.
func memoryDir() (string, bool) { return "", false }
