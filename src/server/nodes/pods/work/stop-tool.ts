import { END_DESCENDANTS, NAP } from './supervisor.js'
import type { PodContact } from './pod-contact.js'

/**
 * Ends the tool of a turn, or makes sure that it never starts: whoever moves \`command\` decides. The supervisor notes the end, once
 * everything has ended.
 */
const STOP = `${NAP}${END_DESCENDANTS}
home=$1 turn=$2 signal=$3
mv "$turn/command" "$turn/stopped" 2>/dev/null
[ -e "$turn/running" ] || { echo never; exit; }
rounds=0
while [ ! -e "$turn/ended" ] && [ "$rounds" -lt 3 ]; do
  [ -e "$turn/started" ] && end_descendants "$(cat "$home/pid")" "$signal"
  [ -e "$turn/ended" ] || nap 0.2
  [ -e "$turn/ended" ] || nap 0.5
  rounds=$((rounds + 1))
done
echo stopped
`

/** Returns whether the tool had started. Whoever stops it has no time to wait for permissions. */
export async function stopTool(
  contact: PodContact,
  { home, turn, canBeKilled }: { home: string; turn: string; canBeKilled: boolean },
  signal?: AbortSignal
): Promise<boolean> {
  const reply = await contact.ask(STOP, [home, turn, canBeKilled ? 'KILL' : 'TERM'], {
    signal,
    refusedMs: 0
  })
  return reply.stdout.trim() !== 'never'
}
