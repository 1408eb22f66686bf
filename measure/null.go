package measure

// Null is what a measure comes to when labels are shuffled: the smallest, middle and largest of several shuffles.
type Null struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}
