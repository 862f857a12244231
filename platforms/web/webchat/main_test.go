package webchat_test

import (
	"image/color"

	"github.com/signalbox/signalbox/platforms/chat/chattest"
)

var onePixel = chattest.Picture(1, 1, color.NRGBA{R: 255, A: 255})
