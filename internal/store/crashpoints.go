package store

// atStep is called between the steps of changes that need more than one transaction. Tests kill the process there.
var atStep = func(name string) {}
