import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/** Ends a tool's process group, and removes its temporary files, if this process dies without doing so itself. */
export interface Watchdog {
  /** Start watching the group. */
  watch(groupId: number): void
  /** The group has ended; stop watching. */
  dismiss(): void
}

/**
 * It reads from a pipe held open by this process: first the group's id, then a word that dismisses it. If the pipe ends
 * without that word, this process is gone, however it died: TERM to the group, 3 s, KILL.
 *
 * An id is not reused while a group has it, so a leader that has exited is fine; a leader with another start time is
 * not: then the group has ended and the id belongs to someone else.
 *
 * Its argument is the folder of the tool's temporary files, or nothing.
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
finish() {
  for look in 1 2 3 4 5; do
    [ -n "$folder" ] && [ -e "$folder" ] || exit 0
    rm -rf -- "$folder" 2>/dev/null || sleep 0.2 || sleep 1
  done
  exit 0
}
folder=$1
read -r group || finish
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
export function startWatchdog(tempDir = ''): Watchdog {
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
    watch: (groupId) => pipe.write(`${groupId}\n`),
    dismiss: () => pipe.end('done\n')
  }
}
