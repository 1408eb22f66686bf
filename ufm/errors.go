package ufm

import "errors"

// errNoisy says that the noisy-features model is a regression, not a joint problem.
var errNoisy = errors.New("ufm: noisy-features keeps its features fixed: use Attenuation and FitNoisy")
