package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetCode lets go of the pages of the program's own file that are mapped for reading: most of the code only
// the start has needed, and it is a third of what the program holds. Pages that are needed come back from the
// file by themselves (madvise(2), MADV_DONTNEED on a private mapping that was never written). Where that
// can't be, nothing happens.
func forgetCode() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		var start, end uintptr
		var access string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &start, &end, &access); err != nil || !strings.HasSuffix(lines.Text(), " "+own) {
			continue
		}
		if access == "r-xp" || access == "r--p" && start < fixedBelow {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_DONTNEED)
		}
	}
}

// fixedBelow bounds the addresses of programs that are linked to fixed ones. In others, data that is only read
// has been written once, by the loader.
const fixedBelow = 1 << 32
