// Package errs names the step that failed.
package errs

import "fmt"

// Wrap puts what was being done before an error, with a colon: as fmt.Errorf does, but nil stays nil.
func Wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), err)
}
