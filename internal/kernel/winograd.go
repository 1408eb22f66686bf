package kernel

// The points at which Winograd's algorithm interpolates are 0, ±p, ±q and ∞.
const (
	winogradP  = 3. / 4
	winogradQ  = 3. / 2
	winogradNP = 2 * winogradP * winogradP * (winogradP*winogradP - winogradQ*winogradQ)
	winogradNQ = 2 * winogradQ * winogradQ * (winogradQ*winogradQ - winogradP*winogradP)
)
