// Package nodes holds the node classes of the CPU engine.
package nodes

import (
	"slices"

	"github.com/signalbox/signalbox/comfy/cpu/node"
)

// All is the one list of every class the engine knows.
func All() []node.Node {
	return slices.Concat(
		imageLoadNodes(), imageSaveNodes(), imagePreviewNodes(), imageMakeNodes(), imageScaleNodes(), imageCropNodes(), imageTurnNodes(), imageFilterNodes(),
		imageColorNodes(), imageBatchNodes(), imageTileNodes(), imageDatasetNodes(), imageCompositeNodes(), imageBoxNodes(), maskNodes(), maskEditNodes(),
		audioNodes(), socketNodes(), latentNodes(),
		primitiveNodes(), textNodes(), regexNodes(), textDatasetNodes(), textPreviewNodes(),
		logicNodes(), numberNodes(), listNodes(),
	)
}
