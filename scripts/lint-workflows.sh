#!/usr/bin/env bash
# Checks the workflows, and those in the documentation, with pinned versions of actionlint and zizmor, cached in .cache/.
# Go and Python install them; without these the check is skipped with a notice, but fails in CI. `--install` does no more than that.
set -euo pipefail
cd "$(dirname "$0")/.."

ACTIONLINT_VERSION=v1.7.12
ZIZMOR_VERSION=1.32.0
tools=$PWD/.cache/workflow-tools
actionlint=$tools/actionlint-$ACTIONLINT_VERSION/actionlint
zizmor=$tools/zizmor-$ZIZMOR_VERSION/bin/zizmor

for needed in go python3; do
  if ! command -v "$needed" >/dev/null; then
    echo "lint:workflows needs $needed, which is not installed" >&2
    [ "${CI:-}" = true ] && exit 1 || exit 0
  fi
done

if [ ! -x "$actionlint" ]; then
  GOBIN=$(dirname "$actionlint") go install "github.com/rhysd/actionlint/cmd/actionlint@$ACTIONLINT_VERSION"
fi
if [ ! -x "$zizmor" ]; then
  python3 -m venv "$tools/zizmor-$ZIZMOR_VERSION"
  "$tools/zizmor-$ZIZMOR_VERSION/bin/pip" install --quiet --disable-pip-version-check "zizmor==$ZIZMOR_VERSION"
fi

[ "${1:-}" = --install ] && exit 0
"$actionlint"
"$actionlint" examples/workflows/*.yml
examples=$PWD/.cache/doc-workflows
node scripts/doc-examples.mjs --workflows "$examples"
(cd "$examples" && "$actionlint")
"$zizmor" --offline --quiet .github action.yml grid-start/action.yml grid-stop/action.yml examples/workflows/*.yml
echo 'actionlint and zizmor: no findings.'
