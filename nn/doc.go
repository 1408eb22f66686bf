// Package nn holds layers, networks and losses whose forward and backward passes are written by
// hand and run on the kernels of internal/kernel. It knows training and nothing of theory.
//
// Everything is generic over float32 (training) and float64 (gradient checks, parity). All
// activations and gradients live in arenas sized once for the largest batch, so a training step
// allocates nothing:
//
//	net, err := nn.NewArch[float32](arch, team, 512, seed)
//	loss, err := nn.NewLoss[float32](nn.LossConfig{Kind: "ce"}, net.Classes())
//	out := net.Forward(x, batch, nn.Train)              // x is batch×Inputs, kept until Backward
//	value := loss.Gradient(out.Logits, labels, dlogits) // mean loss; dlogits is batch×Classes
//	net.Backward(dlogits)                               // overwrites Grad of every parameter
//
// Image networks (ResNet18, VGG13) appear here as one layer, a trunk: rows of pixels go in, rows of features come out,
// and inside it the batch is the innermost dimension (docs/internal/decisions/0006).
//
// Read arch.go first, then kinds.go and network.go; trunk.go, conv.go and resnet.go for images, mlp.go for MLPs, loss.go.
package nn
