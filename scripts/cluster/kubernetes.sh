# The programs of the cluster: containerd, runc, etcd and the network plugins from Debian, Kubernetes built from its Go modules.
# shellcheck shell=bash disable=SC2154

install_packages() {
  local need=()
  command -v containerd >/dev/null || need+=(containerd)
  command -v runc >/dev/null || need+=(runc)
  command -v etcd >/dev/null || need+=(etcd-server)
  command -v openssl >/dev/null || need+=(openssl)
  command -v ip >/dev/null || need+=(iproute2)
  command -v sysctl >/dev/null || need+=(procps)
  [ -x /usr/lib/cni/bridge ] || need+=(containernetworking-plugins)
  [ ${#need[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || die "install these first, there is no apt-get to do it: ${need[*]}"
  apt-get update -qq >"$data/log/apt.log" 2>&1 || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${need[@]}" >>"$data/log/apt.log" 2>&1 ||
    die "apt-get install ${need[*]}: see $data/log/apt.log"
  say "installed ${need[*]}"
}

build_kubernetes() {
  local hyperkube=$cache/bin/hyperkube-$version package flags=
  if [ ! -x "$hyperkube" ]; then
    command -v go >/dev/null || die 'building Kubernetes needs Go: install it'
    say "building Kubernetes $version, once; this takes minutes"
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
      flags="$flags -X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
    done
    (cd "$here/hyperkube" && CGO_ENABLED=0 GOFLAGS='-mod=readonly -buildvcs=false' \
      go build -trimpath -ldflags "-s -w$flags" -o "$hyperkube.$$" .) >"$data/log/build.log" 2>&1 || die "build: see $data/log/build.log"
    mv "$hyperkube.$$" "$hyperkube"
    say "built $hyperkube ($(($(stat -c %s "$hyperkube") / 1000000)) MB)"
  fi
  for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do
    ln -sf "hyperkube-$version" "$cache/bin/$name"
  done
}
