package chattest

import "testing"

func TestFake(t *testing.T) {
	t.Parallel()
	Suite(t, func(t testing.TB) Harness { return NewFake(t) })
}

func TestFakeWithForms(t *testing.T) {
	t.Parallel()
	Suite(t, func(t testing.TB) Harness { return NewFake(t, WithForms) })
}
