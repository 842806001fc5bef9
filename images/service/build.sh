#!/usr/bin/env bash
# Makes what the service's image has beyond its base, as a tree of files: build.sh ROOT.
#   ROOT/opt/loadgate             the npm package of this folder, as it would be published
#   ROOT/opt/loadgate-tools       the tools, installed as the service itself would: nothing is downloaded in a container
#   ROOT/usr/local/bin/loadgate   the command
# The Dockerfile runs it, and so does a test of the tools, on a machine without Docker. It needs Node 24 with npm, Java and Maven.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=${1:?usage: build.sh ROOT}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm pack --silent --ignore-scripts --pack-destination "$work" >&2
mkdir -p "$root/opt/loadgate" "$root/opt/loadgate-tools" "$root/usr/local/bin"
tar -xzf "$work"/loadgate-*.tgz -C "$root/opt/loadgate" --strip-components=1 --no-same-owner
ln -sf ../../../opt/loadgate/dist/cli/index.js "$root/usr/local/bin/loadgate"

# A JMeter of the machine's own is not what the image is meant to have.
unset JMETER_HOME
for tool in jmeter gatling scala-compiler kotlin-compiler selenium-4 selenium-3 browser; do
  home=$(node --experimental-transform-types --no-warnings --import ./__tests__/support/typescript-hooks.mjs \
    scripts/install-tool.mjs "$tool")
  kind=$(basename "$(dirname "$home")")
  case $kind in
    loadgate-*) ;;
    *) echo "build.sh: $tool was found in $home, outside the cache: take it off the PATH" >&2 && exit 1 ;;
  esac
  mkdir -p "$root/opt/loadgate-tools/$kind"
  cp -a --no-preserve=ownership "$home" "$root/opt/loadgate-tools/$kind/"
done
chmod -R a+rX,go-w "$root/opt"
