#!/bin/sh
# Makes a grid of its own, runs on it, stops, repeats, and ends the grid. BASE, WORD and TOKEN as in run-and-report.sh.
set -eu
api() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" "$@"; }
status_of() { api "$BASE/$1" | jq -r .status; }

grid=$(api "$BASE/grids" -F 'grid[region]=us-east-1' -F 'grid[instance_quantity]=1' -F 'grid[stop_after]=5' \
  -F 'grid[infrastructure]=hosted' -F 'grid[instance_type]=m5.large' -F 'grid[credential_id]=1' | jq -r .uuid)
until [ "$(status_of "grids/$grid")" = started ]; do sleep 0.2; done
uuid=$(api "$BASE/${WORD}s" -F "${WORD}[tool]=jmeter" -F "${WORD}[duration]=600" -F "${WORD}_files=@plan.jmx" \
  -F "${WORD}[override_parameters]=-Jrehearsal.realtime=true" -F "${WORD}[grids][][uuid]=$grid" | jq -r .uuid)
until [ "$(status_of "${WORD}s/$uuid")" = running ]; do sleep 0.2; done
api -X POST "$BASE/${WORD}s/$uuid/stop" | jq -r .status
again=$(api -X POST "$BASE/${WORD}s/$uuid/repeat" | jq -r .uuid)
api "$BASE/${WORD}s/$again/stop" | jq -r .status
api -X DELETE "$BASE/grids/$grid" | jq -r .status
