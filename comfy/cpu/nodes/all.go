// Package nodes holds the node classes of the CPU engine.
package nodes

import "github.com/signalbox/signalbox/comfy/cpu/node"

// All is the one list of every class the engine knows.
func All() []node.Node {
	groups := [][]node.Node{
		imageNodes(),
		audioNodes(), socketNodes(), latentNodes(),
		primitiveNodes(), textNodes(), textDatasetNodes(), textPreviewNodes(),
		logicNodes(), numberNodes(), listNodes(),
	}
	var all []node.Node
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}
