# What runs pods on this machine: containerd with a network of its own, and the kubelet.
# shellcheck shell=bash disable=SC2154

start_containerd() {
  # No gateway on the bridge: pods see one another and nothing beyond, and the machine's forwarding and iptables stay as they were.
  # Who gives the bridge the first address of the range, as a test may, is seen by pods, and is their way to addresses of services.
  cat >"$data/cni/10-pods.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "$bridge",
 "ipam": {"type": "host-local", "dataDir": "$data/cni-ipam", "ranges": [[{"subnet": "$pod_range.0/24"}]],
  "routes": [{"dst": "$service_range.0/24"}]}}]}
JSON
  cat >"$data/containerd.toml" <<TOML
version = 2
root = "$data/containerd"
state = "$data/containerd-run"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "$data/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$data/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause_image"
  # Where root has no CAP_SYS_RESOURCE, every pod's sandbox (oom_score_adj -998) fails in runc without this.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$data/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
TOML
  start containerd containerd -c "$data/containerd.toml"
}

start_kubelet() {
  make_cgroup
  cat >"$data/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: 127.0.0.1
port: $kubelet_port
healthzBindAddress: 127.0.0.1
healthzPort: $health_port
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/kubelet-server.crt
tlsPrivateKeyFile: $pki/kubelet-server.key
containerRuntimeEndpoint: unix://$data/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup
failSwapOn: false
oomScoreAdj: 0
makeIPTablesUtilChains: false
podLogsDir: $data/pod-logs
volumePluginDir: $data/kubelet/volume-plugins
# An image that is only here cannot be pulled again: never collect one.
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
YAML
  # The kubelet sets these for the whole machine; `down` puts them back.
  [ -s "$data/sysctl.before" ] || sysctl vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops \
    kernel.keys.root_maxkeys kernel.keys.root_maxbytes >"$data/sysctl.before"
  [ -e /var/lib/kubelet ] || touch "$data/made-var-lib-kubelet"
  [ -e /var/log/containers ] || touch "$data/made-var-log-containers"
  start kubelet "$cache/bin/kubelet" --config "$data/kubelet.yaml" --kubeconfig "$data/kubelet.kubeconfig" \
    --hostname-override "$node" --root-dir "$data/kubelet" --cert-dir "$pki"
}

# Its own, so that the kubelets of two clusters do not clear away each other's pods. In version 1 there is one tree per controller.
make_cgroup() {
  local tree
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    sed 's/\(^\| \)/\1+/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || true
    mkdir -p "/sys/fs/cgroup/$cgroup"
  else
    for tree in /sys/fs/cgroup/*/; do mkdir -p "$tree$cgroup" 2>/dev/null || true; done
  fi
}

remove_cgroup() {
  local tree
  for tree in /sys/fs/cgroup/"$cgroup" /sys/fs/cgroup/*/"$cgroup"; do
    [ -d "$tree" ] && find "$tree" -depth -type d -exec rmdir {} + 2>/dev/null
  done
}
