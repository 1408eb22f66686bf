package featurefiles

import (
	"slices"
	"strings"
)

// Role is what an array is for.
type Role uint8

// The roles.
const (
	Features Role = iota
	Labels
	Weights
	Bias
	TestFeatures
	TestLabels
	TrueLabels
	Corrupted
	OOD
	roleCount
)

// roles says for every role what people call it, its flag, and the names under which files hold it.
var roles = [roleCount]struct {
	word, flag string
	usual      []string
	base       Role     // files given by the role's own flag may use this role's names as well
	otherwise  []string // names that may mean something else, too: taken where no array has a usual one
}{
	Features:     {"features", "--features", []string{"features", "feats", "feature", "embeddings", "embedding", "h", "penultimate", "train_features", "train_embeddings", "train_h"}, Features, featureNames},
	Labels:       {"labels", "--labels", []string{"labels", "label", "y", "targets", "target", "train_labels", "train_targets", "train_y", "y_train", "train_observed"}, Labels, []string{"gt", "gts", "ground_truth", "groundtruth", "label_list", "label_id", "label_ids", "class", "class_id", "class_name", "category"}},
	Weights:      {"classifier weight", "--weights", []string{"weight", "weights", "w", "fc.weight", "classifier.weight", "head.weight", "linear.weight"}, Weights, nil},
	Bias:         {"classifier bias", "--bias", []string{"bias", "b", "fc.bias", "classifier.bias", "head.bias", "linear.bias"}, Bias, nil},
	TestFeatures: {"test features", "--test-features", []string{"test_features", "test_feats", "test_embeddings", "test_h"}, Features, []string{"test_x", "x_test"}},
	TestLabels:   {"test labels", "--test-labels", []string{"test_labels", "test_targets", "test_y", "y_test", "test_true"}, Labels, nil},
	TrueLabels:   {"true labels", "--true-labels", []string{"true_labels", "y_true", "clean_labels", "train_true"}, Labels, nil},
	Corrupted:    {"mask of redrawn labels", "--corrupted", []string{"corrupted", "redrawn", "train_redrawn", "mask"}, Corrupted, nil},
	OOD:          {"out-of-distribution features", "--ood", []string{"ood", "ood_features", "ood_h"}, Features, nil},
}

// featureNames are names that other libraries use for features, and that may mean something else.
var featureNames = []string{"x", "train_x", "x_train", "z", "feat", "emb", "embs", "hidden", "hidden_states", "activations", "representation", "representations", "latents", "feat_list", "feature_list", "embeds", "vector", "vectors", "pooler_output"}

// String returns what people call the role.
func (r Role) String() string { return roles[r].word }

// keyFlag is the flag that names the role's array within its file; the test features have none of their own.
func (r Role) keyFlag() string { return roles[r].flag + "-key" }

// HasKeyFlag reports whether a user can name the role's array; the others go by their usual names.
func (r Role) HasKeyFlag() bool { return r <= Bias }

// recognises reports whether an array's name says that it has this role. own is set for a file that
// the role's own flag names. A classifier may lie deeper in a model ("module.fc.weight").
func (r Role) recognises(name string, own bool) bool {
	name = strings.ToLower(name)
	flat := strings.ReplaceAll(name, ".", "_") // "train.features" of a group is "train_features"
	for _, name := range []string{name, flat} {
		if slices.Contains(roles[r].usual, name) || own && slices.Contains(roles[roles[r].base].usual, name) {
			return true
		}
	}
	if r != Weights && r != Bias {
		return false
	}
	return slices.ContainsFunc(roles[r].usual, func(usual string) bool {
		return strings.Contains(usual, ".") && strings.HasSuffix(name, "."+usual)
	})
}

// mayBe reports whether an array has this role if no other does by its name, as X has in a file of X and y.
func (r Role) mayBe(name string, own bool) bool {
	name = strings.ReplaceAll(strings.ToLower(name), ".", "_")
	return slices.Contains(roles[r].otherwise, name) || own && slices.Contains(roles[roles[r].base].otherwise, name)
}
