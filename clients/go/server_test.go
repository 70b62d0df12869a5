package tokencount_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// start runs a server with an empty store until the test ends, and gives its address.
func start(t *testing.T) string {
	command := os.Getenv("TOKENCOUNTD")
	if command == "" {
		command = "../../.venv/bin/tokencountd"
	}
	arguments := append(strings.Fields(command),
		"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir())
	server := exec.Command(arguments[0], arguments[1:]...)
	server.Stderr = os.Stderr
	output, err := server.StdoutPipe()
	expect(t, err == nil, "stdout: %v", err)
	err = server.Start()
	expect(t, err == nil, "%s: %v", command, err)
	line, err := bufio.NewReader(output).ReadString('\n')
	expect(t, err == nil, "the server printed no address: %v", err)
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		if err := server.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	words := strings.Fields(line)
	return words[len(words)-1]
}
