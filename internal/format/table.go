package format

// Table is a grid of words and numbers.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Tile is a number that stands large on a page, with its name.
type Tile struct{ Value, Name string }
