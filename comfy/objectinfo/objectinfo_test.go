package objectinfo_test

import (
	"testing"

	"github.com/signalbox/signalbox/comfy/graph/graphtest"
	"github.com/signalbox/signalbox/comfy/objectinfo"
)

func TestParse(t *testing.T) {
	t.Parallel()
	info := graphtest.Mini(t)
	sampler, ok := info.Class("Sampler")
	if !ok || sampler.Inputs[1].Max != "18446744073709551615" || sampler.Inputs[4].Type != "COMBO" || len(sampler.Inputs[4].Options) != 3 {
		t.Errorf("Sampler is %+v", sampler)
	}
	if _, ok := (*objectinfo.Info)(nil).Class("x"); ok || (*objectinfo.Info)(nil).Len() != 0 {
		t.Error("a nil Info is not empty")
	}
	for _, bad := range []string{``, `[]`, `{}`, `{"a": 1}`, `{"a": {"input": `} {
		if _, err := objectinfo.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if full := graphtest.ObjectInfo(t); full.Len() != 768 {
		t.Errorf("%d classes", full.Len())
	}
}
