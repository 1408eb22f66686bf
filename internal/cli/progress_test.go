package cli

import "testing"

func TestAFailureIsOneLine(t *testing.T) {
	for failure, want := range map[string]string{
		"out of memory": "out of memory",
		"the script ended with exit status 1; its last words:\nTraceback (most recent call last):\n  File \"train.py\", line 7\nModuleNotFoundError: No module named 'numpy'\n": "the script ended with exit status 1; its last words: ModuleNotFoundError: No module named 'numpy'",
	} {
		if got := briefly(failure); got != want {
			t.Errorf("%q, wanted %q", got, want)
		}
	}
}
