import { quote } from '../../../../contract/regions/regions.js'
import type { NodeCommand } from '../../load-node.js'

/**
 * Sets `figures`: the control group's CPU periods, those in which it was throttled, and the processes killed because memory ran out; `-`
 * if unknown. The files are those of both versions of Linux's control groups, as a container sees them.
 */
export const READ_FIGURES = `
read_figures() {
  periods=- throttled=- kills=-
  for stat in /sys/fs/cgroup/cpu.stat /sys/fs/cgroup/cpu/cpu.stat; do
    [ -r "$stat" ] || continue
    while read -r key value; do
      case $key in nr_periods) periods=$value ;; nr_throttled) throttled=$value ;; esac
    done <"$stat"
  done
  for stat in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$stat" ] || continue
    while read -r key value; do
      case $key in oom_kill) kills=$value ;; esac
    done <"$stat"
  done
  figures="$periods $throttled $kills"
}
`

/** Not every `sleep` knows parts of a second. */
export const NAP = `
nap() { sleep "$1" 2>/dev/null || sleep 1; }
`

/**
 * Ends every process of the tool: the descendants of the supervisor, whose id is the argument. What is run by exec is not among them.
 * The signal that is the second argument first, KILL after 3 s, and no more waiting 3 s later.
 */
export const END_DESCENDANTS = `
list_descendants() {
  family=" $1 " found= more=1
  while [ -n "$more" ]; do
    more=
    for stat in /proc/[0-9]*/stat; do
      { read -r line <"$stat"; } 2>/dev/null || continue
      pid=\${stat#/proc/}; pid=\${pid%/stat}
      set -- \${line##*) }
      case $family in *" $pid "*) continue ;; esac
      case $family in *" $2 "*) ;; *) continue ;; esac
      family="$family$pid " more=1
      case $1 in Z | X) ;; *) found="$found $pid" ;; esac
    done
  done
}
end_descendants() {
  began=$(date +%s) told=' ' first=\${2:-TERM}
  while :; do
    list_descendants "$1"
    [ -n "$found" ] || return 0
    seconds=$(($(date +%s) - began))
    [ "$seconds" -lt 6 ] || return 0
    for pid in $found; do
      case $told in *" $pid "*) [ "$seconds" -gt 3 ] && kill -KILL "$pid" 2>/dev/null; continue ;; esac
      told="$told$pid "
      kill -"$first" "$pid" 2>/dev/null
    done
    nap 0.2
  done
}
`

/** How the supervisor ends if it cannot record how its work ended: with the pod, the node is lost, and nobody waits for it. */
export const CANNOT_NOTE = 74

/**
 * The pod's only command: `sh -c SUPERVISOR`. A turn is one piece of work in a folder of its own under `turns`. Its name comes through
 * the pipe `go`; its `command` becomes `running`, which can happen only once. Then there are `started` and `ended`, each with the time
 * and figures, and `output`. It is pid 1, and little but the end of the pod ends it: exec works only while it runs.
 * The tool may fill the disk. The bytes of `ended` are there before the start, and are written over in place; after its figures it says
 * why nothing more can be written, if that is so.
 * Kubernetes replaces two dollar signs by one, and `$(NAME)` by a variable: neither is in here.
 */
export const SUPERVISOR = `
umask 077
home=\${1:-/loadgate}
mkdir -p "$home/turns" "$home/files" "$home/home" || exit 1
trap 'exit 0' TERM INT
rm -f "$home/go"
mkfifo "$home/go" || exit 1
exec 3<>"$home/go"
read -r self rest </proc/self/stat
echo "$self" >"$home/pid.new" && mv "$home/pid.new" "$home/pid"
${READ_FIGURES}${NAP}${END_DESCENDANTS}
look_for_space() {
  full=
  why=$( { head -c 65536 /dev/zero >"$home/probe"; } 2>&1) || case $why in *[Ss]pace* | *quota*) full=\${why##*: } ;; esac
  rm -f "$home/probe"
}
cannot_note() {
  words=$*
  look_for_space
  words="the result of the work could not be recorded: $words\${full:+; the disk is full: $full}"
  [ -f /dev/termination-log ] && echo "$words" >/dev/termination-log
  echo "$words" >&2
  exit ${CANNOT_NOTE}
}
reserve() {
  why=$( { printf '%511s\\n' '' >"$turn/$1.new"; } 2>&1) || cannot_note "$why"
}
note() {
  read_figures
  line="$2$(date +%s%N) $figures $3"
  why=$( { exec 4<>"$turn/$1.new" && echo "$line" >&4 && mv "$turn/$1.new" "$turn/$1"; } 2>&1) || cannot_note "$why"
  [ -f "$turn/$1" ] || cannot_note "$turn/$1 is not a file"
}
while read -r id <&3; do
  turn=$home/turns/$id
  mv "$turn/command" "$turn/running" 2>/dev/null || continue
  reserve ended
  note started '' ''
  sh "$turn/running" >"$turn/output" 2>&1 </dev/null 3>&- &
  wait $!
  code=$?
  end_descendants "$self"
  look_for_space
  note ended "$code " "$full"
done
`.trim()

/** Java and others use the locale's encoding, which without one is ASCII. Where this one does not exist either, some shells complain. */
const UTF8 = `case "\${LC_ALL:-\${LC_CTYPE:-\${LANG:-}}}" in
  *UTF-8* | *utf-8* | *UTF8* | *utf8*) ;;
  *) [ -n "$(LC_ALL=C.UTF-8 sh -c : 2>&1)" ] || export LC_ALL=C.UTF-8 ;;
esac
`

/** Lines of sh that set variables: those of the image stay unless they are named. */
export function exportLines(env: NodeJS.ProcessEnv): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (value === undefined) return ''
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new Error(
        `The environment variable ${name} cannot be set in a pod: its name is not one that sh accepts.`
      )
    return `export ${name}=${quote(value)}\n`
  })
  return `${UTF8}${lines.join('')}`
}

/** The script of a turn, which becomes the tool. */
export function commandScript({ file, args, cwd, env }: NodeCommand): string {
  const words = [file, ...args].map(quote).join(' ')
  // In blocks of 512 bytes, 64 GiB: a file with a hole of any size would be copied with all of it.
  return `${exportLines(env)}cd ${quote(cwd)} || exit 126\nulimit -f 134217728 2>/dev/null\nexec ${words}\n`
}
