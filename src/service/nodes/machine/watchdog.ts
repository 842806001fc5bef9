import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import type { ProcessGroup } from '../../../contract/records.js'
import { MARKER_VARIABLE } from './leftovers.js'

/**
 * Ends a tool's processes, and removes its temporary files (the argument), if this process dies without doing so itself. It reads from a
 * pipe held open by this process: first the group's id, the marker and the user of what the tool has started, then a word that dismisses
 * it. If the pipe ends without that word: TERM to the group, 3 s, KILL. A leader that has exited is fine; one with another start time is
 * not: then the id belongs to someone else. What has left the group is found by its marker or its user, and killed until none is left.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
readStart() {
  if [ -r "/proc/$group/stat" ]; then
    stat=$(cat "/proc/$group/stat" 2>/dev/null)
    set -- \${stat##*) }
    echo "\${20}"
  else
    ps -o lstart= -p "$group" 2>/dev/null
  fi
}
send() {
  now=$(readStart)
  if [ -n "$now" ] && [ "$now" != "$start" ]; then return 1; fi
  kill -s "$1" -- "-$group" 2>/dev/null
}
find_marked() {
  found=$(
    [ -n "$marker" ] && grep -lsF -- "${MARKER_VARIABLE}=$marker" /proc/[0-9]*/environ 2>/dev/null
    [ -n "$uid" ] && grep -ls "^Uid:[[:space:]]*$uid[[:space:]]" /proc/[0-9]*/status 2>/dev/null
  )
}
end_marked() {
  first=TERM
  for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    find_marked
    [ -n "$found" ] || return 0
    for each in $found; do
      each=\${each#/proc/}
      kill -s "$first" "\${each%%/*}" 2>/dev/null
    done
    sleep 0.2 || sleep 1
    first=KILL
  done
}
finish() {
  end_marked
  for look in 1 2 3 4 5; do
    [ -n "$folder" ] && [ -e "$folder" ] || exit 0
    rm -rf -- "$folder" 2>/dev/null || sleep 0.2 || sleep 1
  done
  exit 0
}
folder=$1 marker= uid=
read -r group marker uid || finish
case $group in *[!0-9]* | '') exit 0 ;; esac
start=$(readStart)
read -r word && exit 0
send TERM || finish
for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  sleep 0.2 || sleep 1
  send 0 || finish
done
send KILL
finish
`

/** Started before the tool, so that there is no gap; in its own session, which no terminal signal reaches. */
export function startWatchdog(tempDir = '') {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'watchdog', tempDir], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore']
  })
  // Without it the tool still runs, and is still registered for the next command to find.
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  // It must not keep this process alive: it waits for this process to end.
  child.unref()
  const pipe = child.stdin as Socket
  pipe.unref()
  return {
    watch: ({ pid, marker = '', uid }: Pick<ProcessGroup, 'pid' | 'marker' | 'uid'>) =>
      pipe.write(`${pid} ${marker} ${uid ?? ''}\n`),
    /** Everything has ended. */
    dismiss: () => pipe.end('done\n')
  }
}
