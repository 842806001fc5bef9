#!/bin/sh
# Walks through all pages of the runs, as public scripts do, and through the lists beside them. VENDOR is the word in the media type, the rest as in run-and-report.sh.
set -eu
host=${BASE%/api}
api() { curl -sS --fail-with-body -u "$TOKEN:" -H "Accept: application/vnd.$VENDOR.v2+json" "$@"; }

next="/api/${WORD}s?page=1"
while [ "$next" != null ]; do
  page=$(api "$host$next")
  echo "$page" | jq -r "._embedded.${WORD}s[] | .uuid + \" \" + .status"
  next=$(echo "$page" | jq -r ._links.next.href)
done
api "$BASE/grids" | jq -r '"\(.total) grids"'
api "$BASE/projects" | jq -r '._embedded.projects[] | "project \(.name): \(.total)"'
api "$BASE/account" | jq -r "._embedded.users[0].authentication_token == \"$TOKEN\""
api -I "$BASE/${WORD}s" | head -n 1 | cut -d ' ' -f 2
