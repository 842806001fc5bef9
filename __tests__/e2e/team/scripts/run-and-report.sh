#!/bin/sh
# As public scripts for such services do it: create a run, poll until it has finished, read its report, download every CSV and archive.
# BASE is the address with or without /api, WORD the service's own word, TOKEN the token; plan.jmx and users.csv are in this folder.
set -eu
api() { curl -sS --fail-with-body -u "$TOKEN:x" "$@"; }

echo 'creating'
uuid=$(api -X POST "$BASE/${WORD}s" \
  -F "${WORD}[tool]=jmeter-5.4" \
  -F "${WORD}[name]=From a script" \
  -F "${WORD}[tag_list]=nightly, shop" \
  -F "${WORD}[project]=Shop" \
  -F "${WORD}[privacy]=public" \
  -F "${WORD}[threads]=10" \
  -F "${WORD}[rampup]=1" \
  -F "${WORD}[duration]=5" \
  -F "${WORD}_files[]=@users.csv" \
  -F "${WORD}_files[]=@plan.jmx" \
  -F "${WORD}[grids][][infrastructure]=demand" \
  -F "${WORD}[grids][][instance_quantity]=1" \
  -F "${WORD}[grids][][region]=us-east-1" \
  -F "${WORD}[grids][][instance_type]=m5.xlarge" \
  -F "${WORD}[grids][][stop_after]=6.0" \
  -F "${WORD}[grids][][infrastructure]=demand" \
  -F "${WORD}[grids][][instance_quantity]=2" \
  -F "${WORD}[grids][][region]=eu-west-1" \
  -F "${WORD}[grids][][instance_type]=m5.xlarge" \
  -F "${WORD}[grids][][stop_after]=6.0" | jq -r .uuid)
echo "waiting for $uuid"
while [ "$(api "$BASE/${WORD}s/$uuid" | jq -r '.status == "finished"')" = "false" ]; do sleep 0.2; done
api "$BASE/${WORD}s/$uuid" | jq -r '.tool, .apdex'
api "$BASE/${WORD}s/$uuid/report" | jq -r .summary
api "$BASE/${WORD}s/$uuid" | jq -r '._embedded.results[] | .region + " " + .href' | while read -r region href; do
  api "$href" >"$region.csv"
  echo "$region: $(head -n 1 "$region.csv" | cut -d , -f 1-3)"
done
api "$BASE/${WORD}s/$uuid/result.csv" >all.csv
api "$BASE/${WORD}s/$uuid/archives" | jq -r '._embedded.archives[].href' | while read -r href; do
  api -o archive.tar.gz "$href"
  tar -tzf archive.tar.gz | grep -c report.json
done
