package recipe

// Theory holds the sections of recipes that need no training.
type Theory struct {
	Model     Model      `toml:"model"`
	Cases     []Model    `toml:"case"`
	Descent   Descent    `toml:"descent"`
	Noise     Noise      `toml:"noise"`
	Landscape Landscape  `toml:"landscape"`
	Dilation  Dilation   `toml:"dilation"`
	Curve     Curve      `toml:"curve"`
	Clusters  []Clusters `toml:"nc1"`
	ReLU      ReLU       `toml:"relu"`
	Imbalance Imbalance  `toml:"imbalance"`
	Sphere    Sphere     `toml:"sphere"`
	Depth     Depth      `toml:"depth"`
}

// Model is ufm.Config, with the names of the flags.
type Model struct {
	Model     string  `toml:"model"`
	Loss      string  `toml:"loss"`
	K         int     `toml:"k"`
	D         int     `toml:"d"`
	N         int     `toml:"n"`
	LW        float64 `toml:"lw"`
	LH        float64 `toml:"lh"`
	LB        any     `toml:"lb"` // a number or "none"
	L2        float64 `toml:"l2"`
	L1        float64 `toml:"l1"`
	LH1       float64 `toml:"lh1"`
	Alpha     float64 `toml:"alpha"`
	M         float64 `toml:"m"`
	Smoothing float64 `toml:"smoothing"`
	Sigma     float64 `toml:"sigma"`
	Layers    int     `toml:"layers"`
}

type Descent struct {
	Iterations int       `toml:"iterations"`
	Quick      int       `toml:"quick_iterations"` // at --scale quick; 0: the same
	Step       float64   `toml:"step"`
	Init       []float64 `toml:"init"` // for W and H, or W2, W1, H1
	Every      int       `toml:"every"`
	Frame      string    `toml:"frame"`  // which NC2 the figure shows: "of" or "etf"
	Seeds      int       `toml:"seeds"`  // try this many and show the first that ends in the optimum
	Expect     string    `toml:"expect"` // "collapse" (also ""), "doomed" or "no-collapse"

	// How fast the two layers of a model of three factors collapse is judged over so many seeds that end in the optimum, each for so many
	// iterations; not at --scale quick.
	PaceSeeds      int `toml:"pace_seeds"`
	PaceIterations int `toml:"pace_iterations"`
}

type Noise struct {
	Samples []int `toml:"samples"` // n per class
}

type Landscape struct {
	K      int     `toml:"k"`
	SMax   float64 `toml:"s_max"`
	Theta  float64 `toml:"theta_max"`
	Losses []Loss  `toml:"loss"`
}

type Loss struct {
	Kind  string  `toml:"kind"` // "mse" or "ce"
	Alpha float64 `toml:"alpha"`
	M     float64 `toml:"m"`
}

type Dilation struct {
	LW    float64   `toml:"lw"`
	LH    float64   `toml:"lh"`
	Alpha float64   `toml:"alpha"`
	CMD   float64   `toml:"c_md"`
	Eta   float64   `toml:"eta"`
	Law   string    `toml:"law"`
	Etas  []float64 `toml:"etas"`
	CMDs  []float64 `toml:"c_mds"`
}

type Curve struct {
	N      int       `toml:"n"`
	K      []int     `toml:"k"`
	Lambda []float64 `toml:"lambda"`
}

// Clusters is one feature set of tb-appD.
type Clusters struct {
	K    int    `toml:"k"`
	N    int    `toml:"n"`
	D    int    `toml:"d"`
	Seed uint64 `toml:"seed"`
}

// ReLU is the range that a recipe of kind relu scans.
type ReLU struct {
	KMax        int        `toml:"k_max"`
	Q           [2]float64 `toml:"q"`
	Steps       int        `toml:"steps"`
	Lines       []int      `toml:"lines"` // classes drawn as curves
	Safe        []int      `toml:"safe"`
	SafeQ       []float64  `toml:"safe_q"`
	Starts      int        `toml:"starts"`
	QuickStarts int        `toml:"quick_starts"`
}

// Imbalance is the range of ratios that a recipe of kind imbalance scans.
type Imbalance struct {
	Loss      string    `toml:"loss"` // "ce", "ls" or "mse"
	Smoothing float64   `toml:"smoothing"`
	K         int       `toml:"k"`
	N         int       `toml:"n"`        // samples of a large class
	Minority  int       `toml:"minority"` // small classes
	LW        float64   `toml:"lw"`
	LH        float64   `toml:"lh"`
	Ratio     float64   `toml:"ratio_max"`
	Steps     int       `toml:"steps"`
	Limits    []float64 `toml:"limits"` // λ_W = λ_H that tend to 0, at the geometric mean of the ratios
}

// Sphere is the range of widths that a recipe of kind sphere scans.
type Sphere struct {
	K            int       `toml:"k"`
	Temperature  float64   `toml:"temperature"`
	Starts       int       `toml:"starts"`
	Codes        [][2]int  `toml:"codes"`        // K and d of known codes to be found
	Temperatures []float64 `toml:"temperatures"` // falling, for K classes in the first code's width
}

// Depth is the range of depths and penalties that a recipe of kind depth scans.
type Depth struct {
	K      []int      `toml:"k"`
	Layers []int      `toml:"layers"`
	Q      [2]float64 `toml:"q"` // of K·(nΠλ)^{1/(L+1)}, as shares of the threshold of zero
	Steps  int        `toml:"steps"`
	Starts int        `toml:"starts"`
	Safe   []int      `toml:"safe"`   // numbers of classes for which a search finds no lower point
	Beaten []int      `toml:"beaten"` // few classes for which it does
}
