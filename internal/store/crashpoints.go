package store

// atStep is called between the steps of changes that reach beyond one transaction. Tests end the process there.
var atStep = func(name string) {}
