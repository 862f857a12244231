package siteeditor_test

import (
	"os"
	"testing"

	"github.com/signalbox/signalbox/internal/browsertest"
)

// TestMain gives all tests one browser.
func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }
