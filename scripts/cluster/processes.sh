# Processes that outlive the script that starts them, by name. The id is kept with the start time, so that no other process that
# got the same id later is taken for it.
# shellcheck shell=bash disable=SC2154

# A zombie has ended.
started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" {print $20}'; }

# alive <name>
alive() {
  local pid at
  [ -s "$data/pids/$1" ] && read -r pid at <"$data/pids/$1" && [ -n "$at" ] && [ "$(started_at "$pid")" = "$at" ]
}

# start <name> <command…>: unless it runs already
start() {
  local name=$1
  shift
  alive "$name" && return 0
  setsid "$@" >>"$data/log/$name.log" 2>&1 </dev/null &
  local pid=$!
  sleep 0.05
  echo "$pid $(started_at "$pid")" >"$data/pids/$name"
  disown "$pid" 2>/dev/null || true
}

# stop <name>: TERM, and KILL after three seconds; an API server would wait a minute for its open streams
stop() {
  local pid at
  alive "$1" || return 0
  read -r pid at <"$data/pids/$1"
  kill -TERM "$pid"
  for _ in $(seq 30); do
    alive "$1" || break
    sleep 0.1
  done
  alive "$1" && kill -KILL "$pid"
  rm -f "$data/pids/$1"
}

# until_true <seconds> <name of the process that it depends on> <command…>
until_true() {
  local end=$((SECONDS + $1)) name=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    alive "$name" || die "$name has ended: $(tail -n 3 "$data/log/$name.log")"
    [ $SECONDS -lt $end ] || die "$name took too long: see $data/log/$name.log"
    sleep 0.2
  done
}
