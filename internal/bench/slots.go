package bench

import (
	"time"

	"collapse.example/collapse/internal/kernel/isa"
	"collapse.example/collapse/internal/version"
	"collapse.example/collapse/nn"
	"collapse.example/collapse/parallel"
)

// SlotsReport says how many runs side by side get the most work done.
type SlotsReport struct {
	CPU     string     `json:"cpu"`
	Kernel  string     `json:"kernel"`
	Threads int        `json:"threads"` // to share out
	Nets    []SlotsNet `json:"nets"`
	Slots   int        `json:"slots"` // recommended for a worker that trains small networks: the best for the smaller two
}

// SlotsNet is the work of one network for each way to divide the threads.
type SlotsNet struct {
	Net   string      `json:"net"`
	Batch int         `json:"batch"`
	Ways  []SlotsRate `json:"ways"`
	Best  int         `json:"best"` // slots of the way with the most work
}

// SlotsRate is one way to divide the threads: slots runs side by side, each with an equal share.
type SlotsRate struct {
	Slots         int     `json:"slots"`
	ThreadsEach   int     `json:"threads_each"`
	ImagesPerHour float64 `json:"images_per_hour"` // all runs together
}

// slotNets are the networks that studies train: the demo's MLP, the ResNet of quick recipes, the papers' own.
func slotNets() []TrainConfig {
	small := nn.Arch{Kind: nn.KindMLP, Channels: 1, Height: 28, Width: 28, Classes: 2, FeatureDim: 2, HiddenWidth: 128, HiddenLayers: 3, BatchNorm: true}
	list := []TrainConfig{{Name: "mlp, 3 layers of 128", Arch: small, Batch: 64}}
	for _, name := range []string{"resnet18-adapt", "resnet18"} {
		arch, batch, err := Net(name, 0)
		if err != nil {
			panic("bench: a network of slotNets is not in the list")
		}
		list = append(list, TrainConfig{Name: name, Arch: arch, Batch: batch})
	}
	return list
}

// Slots measures, for each network and each even division of the threads, how much work all runs together do, for about d each.
func Slots(threads int, d time.Duration) (SlotsReport, error) { return slotsOf(slotNets(), threads, d) }

func slotsOf(nets []TrainConfig, threads int, d time.Duration) (SlotsReport, error) {
	team := parallel.NewTeam(threads)
	threads = team.Threads()
	team.Close()
	r := SlotsReport{CPU: version.CPU(), Kernel: isa.Name(), Threads: threads}
	for _, c := range nets {
		n := SlotsNet{Net: c.Name, Batch: c.Batch}
		most := 0.0
		for slots := 1; slots <= threads; slots++ {
			if threads%slots != 0 {
				continue
			}
			rate, err := Rate(c, slots, threads/slots, d)
			if err != nil {
				return r, err
			}
			way := SlotsRate{Slots: slots, ThreadsEach: threads / slots, ImagesPerHour: 3600 * rate * float64(slots*c.Batch)}
			n.Ways = append(n.Ways, way)
			if way.ImagesPerHour > most {
				most, n.Best = way.ImagesPerHour, slots
			}
		}
		r.Nets = append(r.Nets, n)
	}
	r.Slots = min(r.Nets[0].Best, r.Nets[1].Best)
	return r, nil
}
