package webchat_test

import (
	"image/color"
	"os"
	"testing"

	"github.com/signalbox/signalbox/internal/browsertest"
	"github.com/signalbox/signalbox/platforms/chat/chattest"
)

// TestMain gives all tests one browser.
func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

var onePixel = chattest.Picture(1, 1, color.NRGBA{R: 255, A: 255})
