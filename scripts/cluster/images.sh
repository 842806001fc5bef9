# Images for pods, made without a registry or a daemon: Debian's packages, unpacked into a folder, and the project's own tools.
# Each is kept in the cache as an archive, under a name that changes with its content.
# shellcheck shell=bash disable=SC2154

# archive_of <name> <what it is made of>: the archive of this content; those of earlier contents are deleted
archive_of() {
  local archive
  archive=$cache/$1-$(printf '%s\n' "$2" | sha256sum | cut -c1-12).tar
  find "$cache" -maxdepth 1 -name "$1-*.tar" ! -path "$archive" -delete
  echo "$archive"
}

# import <image> <archive>
import() {
  local mark=$data/imported/$(basename "$2")
  [ -e "$mark" ] && return
  ctr images import "$2" >"$data/log/import.log" 2>&1 || die "import of $1: see $data/log/import.log"
  touch "$mark"
}

# unpack_packages <root> <package…>: with everything that they depend on, whatever this machine has installed
unpack_packages() {
  local root=$1 debs
  shift
  debs=$(mktemp -d)
  mkdir "$debs/partial"
  : >"$debs/status"
  apt-get -o Dir::State::status="$debs/status" -o Dir::Cache::archives="$debs" -o APT::Keep-Downloaded-Packages=true \
    -o APT::Sandbox::User=root install -y -d --no-install-recommends "$@" >"$data/log/image-packages.log" 2>&1 ||
    die "packages of the image ($*): see $data/log/image-packages.log"
  for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$root"; done
  rm -rf "$debs" "$root"/usr/share/{doc,man,locale,i18n}
}

# finish_root <root>: what the packages' scripts would have done
finish_root() {
  ln -sf bash "$1/bin/sh"
  ln -sf ../lib/jvm/java-17-openjdk-amd64/bin/java "$1/usr/bin/java"
  mkdir -p "$1"/{tmp,proc,sys,dev,work,etc,opt,root,usr/local/bin}
  chmod 1777 "$1/tmp" "$1/work"
  printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' >"$1/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$1/etc/group"
}

JAVA_ENV=JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64

make_pause() {
  pause_archive=$(archive_of pause "$(cat "$here/pause/main.go" "$here/make-image.mjs")")
  [ -s "$pause_archive" ] && return
  local root
  root=$(mktemp -d)
  (cd "$here/pause" && CGO_ENABLED=0 GO111MODULE=off go build -ldflags '-s -w' -o "$root/pause" main.go)
  node "$here/make-image.mjs" "$pause_image" "$root" "$pause_archive" '["/pause"]'
  rm -rf "$root"
}

make_jmeter() {
  local jmeter root
  jmeter=$(tool_home jmeter)
  jmeter_archive=$(archive_of jmeter "$jmeter $(cat "$here/images.sh" "$here/make-image.mjs")")
  [ -s "$jmeter_archive" ] && return
  say "making $jmeter_image"
  root=$(mktemp -d)
  unpack_packages "$root" openjdk-17-jre-headless bash coreutils tar
  finish_root "$root"
  cp -a "$jmeter" "$root/opt/jmeter"
  node "$here/make-image.mjs" "$jmeter_image" "$root" "$jmeter_archive" '[]' "$JAVA_ENV"
  rm -rf "$root"
}

# Everything that any tool needs: Node, JMeter, Gatling, k6, Chromium, Firefox and their drivers.
make_tools() {
  local jmeter gatling geckodriver k6 node root
  jmeter=$(tool_home jmeter)
  gatling=$(tool_home gatling)
  geckodriver=$(find_geckodriver)
  k6=$(find_k6)
  node=$(realpath "$here/../../node_modules/node/bin/node")
  tools_archive=$(archive_of tools "$jmeter $gatling $("$node" --version) $("$k6" version) $(cat "$here/images.sh" "$here/make-image.mjs")")
  [ -s "$tools_archive" ] && return
  say "making $tools_image"
  root=$(mktemp -d)
  unpack_packages "$root" openjdk-17-jre-headless bash coreutils tar sed grep findutils procps debianutils \
    chromium chromium-driver firefox-esr fonts-liberation libstdc++6
  finish_root "$root"
  cp -a "$jmeter" "$root/opt/jmeter"
  mkdir "$root/opt/gatling"
  cp -a "$gatling" "$root/opt/gatling/lib"
  cp "$geckodriver" "$node" "$root/usr/local/bin/"
  cp "$k6" "$root/usr/local/bin/k6"
  node "$here/make-image.mjs" "$tools_image" "$root" "$tools_archive" '[]' "$JAVA_ENV"
  rm -rf "$root"
}

# tool_home <name>: where the project's own installer keeps the tool; installs it first
tool_home() {
  local home
  home=$(cd "$here/../.." && node_modules/.bin/node --experimental-transform-types --no-warnings \
    --import ./__tests__/support/typescript-hooks.mjs scripts/install-tool.mjs "$1") ||
    die "$1 could not be installed; has npm ci been run? Java 17 and Maven are needed too"
  echo "$home"
}

# Debian has no geckodriver.
find_geckodriver() {
  local root=${XDG_CACHE_HOME:-$HOME/.cache}/loadgate-geckodriver
  command -v geckodriver && return
  if [ ! -x "$root/bin/geckodriver" ]; then
    command -v cargo >/dev/null || die 'building geckodriver needs cargo: install Rust'
    cargo install --quiet geckodriver --version 0.37.1 --root "$root" >&2 || die 'geckodriver could not be built'
  fi
  echo "$root/bin/geckodriver"
}

find_k6() {
  local root=${XDG_CACHE_HOME:-$HOME/.cache}/loadgate-k6
  [ -n "${K6:-}" ] && realpath "$K6" && return
  command -v k6 && return
  if [ ! -x "$root/k6" ]; then
    command -v go >/dev/null || die 'building k6 needs Go'
    GOBIN=$root CGO_ENABLED=0 go install go.k6.io/k6@v1.8.1 >&2 || die 'k6 could not be built'
  fi
  echo "$root/k6"
}
