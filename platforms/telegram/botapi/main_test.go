package botapi

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the package when anything is left running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
