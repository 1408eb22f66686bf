package demo

import "testing"

func TestCollapseIsSinceThenAndToTheEnd(t *testing.T) {
	for states, want := range map[string]int{"": 0, "00": 0, "0011": 3, "0110": 0, "1011": 3, "11": 1} {
		var moments []Moment
		for i, s := range states {
			moments = append(moments, Moment{Epoch: i + 1, Collapsed: s == '1'})
		}
		if got := since(moments); got != want {
			t.Errorf("%s: %d, wanted %d", states, got, want)
		}
	}
}

// TestJackknifeLeavesOutEveryTenth counts who is left out.
func TestJackknifeLeavesOutEveryTenth(t *testing.T) {
	labels := make([]int32, 40)
	for i := range labels {
		labels[i] = int32(i % 2)
	}
	left := make([]int, len(labels))
	for group := range jackknifeGroups {
		count := [2]int{}
		for i, kept := range without(labels, group) {
			if !kept {
				left[i]++
				count[labels[i]]++
			}
		}
		if count != [2]int{2, 2} {
			t.Errorf("group %d leaves out %v", group, count)
		}
	}
	for i, n := range left {
		if n != 1 {
			t.Errorf("sample %d is left out %d times", i, n)
		}
	}
}
