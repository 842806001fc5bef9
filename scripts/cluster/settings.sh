# Where a cluster of these scripts lives, for `up`, `down` and `restart`, which source this file.
#
#   K8S_CLUSTER  0 unless set: another number is another cluster beside it, with its own ports, network and cgroup
#   K8S_DATA     where the cluster lives: etcd, containers, logs, kubeconfigs
#   K8S_CACHE    where the built binary and the images are kept
# shellcheck shell=bash disable=SC2034
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
number=${K8S_CLUSTER:-0}
suffix=
[ "$number" = 0 ] || suffix=-$number
cache=${K8S_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/loadgate-k8s}
data=${K8S_DATA:-/tmp/loadgate-k8s$suffix}
version=$(sed -n 's#^\s*k8s.io/kubernetes v##p' "$here/hyperkube/go.mod")

node=localhost
api_port=$((16443 + 10 * number)) etcd_port=$((12379 + 10 * number)) etcd_peer_port=$((12380 + 10 * number))
kubelet_port=$((20250 + 10 * number)) health_port=$((20248 + 10 * number))
bridge=lgk8s$number
pod_range=10.244.$((77 + number)) service_range=10.96.$number
cgroup=loadgate-k8s$suffix
pki=$data/pki

pause_image=localhost/loadgate/pause:1
jmeter_image=localhost/loadgate/jmeter:5.6.3
tools_image=localhost/loadgate/tools:1

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }
die() {
  say "FAILED: $*" >&2
  exit 1
}
kubectl() { "$cache/bin/kubectl" --kubeconfig "$data/admin.kubeconfig" "$@"; }
ctr() { command ctr -a "$data/containerd.sock" -n k8s.io "$@"; }
