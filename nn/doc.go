// Package nn holds layers, networks and losses whose forward and backward passes are written by
// hand and run on the kernels of internal/kernel. It knows training and nothing of theory.
//
// Everything is generic over float32 (training) and float64 (gradient checks, parity). All
// activations and gradients live in arenas sized once for the largest batch, so a training step
// allocates nothing:
//
//	net, err := nn.NewMLP[float32](cfg, team, 512, seed)
//	loss, err := nn.NewLoss[float32](nn.LossConfig{Kind: "ce"}, cfg.Classes)
//	out := net.Forward(x, batch, nn.Train)              // x is batch×Inputs, kept until Backward
//	value := loss.Gradient(out.Logits, labels, dlogits) // mean loss; dlogits is batch×Classes
//	net.Backward(dlogits)                               // overwrites Grad of every parameter
//
// Open network.go first, then mlp.go and loss.go.
package nn
