import { NodeError } from '../../load-node.js'
import type { PodContact } from './pod-contact.js'
import { NAP, END_DESCENDANTS } from './supervisor.js'
import { readTurnState } from './pod-record.js'
import type { LocalCopy } from './follow-file.js'

const INSPECT = `${NAP}
home=$1 turn=$2 rounds=0
until [ -p "$home/go" ] && [ -e "$home/pid" ]; do
  rounds=$((rounds + 1))
  [ "$rounds" -le 50 ] || { echo missing; exit; }
  nap 0.2
done
rounds=0
while [ -e "$turn/running" ] && [ ! -e "$turn/started" ] && [ ! -e "$turn/ended" ] && [ "$rounds" -lt 50 ]; do
  rounds=$((rounds + 1))
  nap 0.1
done
started= ended=
[ -e "$turn/started" ] && read -r started <"$turn/started"
[ -e "$turn/ended" ] && read -r ended <"$turn/ended"
copy=0
[ -e "$home/copy" ] && read -r copy <"$home/copy"
echo "turn;$started;$ended;$copy"
`

/** How far a turn is. A pod that is not ready for it is a `NodeError`. */
export async function inspectTurn(contact: PodContact, turn: string, signal: AbortSignal) {
  const { pod, home } = contact.parts
  const reply = await contact.ask(INSPECT, [home, turn], { signal })
  const [word, started = '', ended = '', lastCopy = '0'] = reply.stdout.trim().split(';')
  if (word !== 'turn')
    throw new NodeError(
      `The pod ${pod} is not ready: "${reply.stderr.trim() || reply.stdout.trim() || `exit code ${reply.code}`}"; ` +
        'its image needs sh, tail, tar, sha256sum and the other basic commands of coreutils or busybox.'
    )
  return { ...readTurnState(started, ended), lastCopy: Number(lastCopy) }
}

/** Ends a turn's tool, or makes sure that it never starts: whoever moves `command` decides. The supervisor notes when all has ended. */
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

/** Returns whether the tool had started. A stop has no time to wait for permissions. */
export async function stopTool(
  contact: PodContact,
  { turn, canBeKilled }: { turn: string; canBeKilled: boolean },
  signal?: AbortSignal
): Promise<boolean> {
  const args = [contact.parts.home, turn, canBeKilled ? 'KILL' : 'TERM']
  const reply = await contact.ask(STOP, args, { signal, refusedMs: 0 })
  return reply.stdout.trim() !== 'never'
}

/** The size of a file, and the SHA-256 of its first bytes or of all of them. */
const DIGEST = `
{ [ -f "$1" ] && [ ! -L "$1" ]; } || { echo '- -'; exit; }
size=$(wc -c <"$1")
if [ -n "$2" ]; then hash=$(head -c "$2" "$1" | sha256sum); else hash=$(sha256sum <"$1"); fi
echo $size $hash
`

/** The slowest supported pod: a tenth of a core. */
export const HASHED_BYTES_PER_MS = 5_000

/** Compares what arrived with what the pod has. With `isPart`, the pod's file may go on. */
export async function verifyCopy(
  contact: PodContact,
  { file, copy, isPart = false }: { file: string; copy: LocalCopy; isPart?: boolean },
  signal?: AbortSignal
): Promise<void> {
  const { pod, timings } = contact.parts
  const args = isPart ? [file, String(copy.size)] : [file, '']
  const limitMs = timings.askMs + copy.size / HASHED_BYTES_PER_MS
  const reply = await contact.ask(DIGEST, args, { signal, limitMs })
  const [size, sha256] = reply.stdout.trim().split(/\s+/)
  if (size === '-' && copy.size === 0) return
  if (reply.code !== 0 || size === undefined || sha256 === undefined)
    throw new NodeError(
      `The checksum of ${file} in the pod ${pod} could not be computed: "${reply.stderr.trim() || reply.stdout.trim()}".`
    )
  const isSizeRight = isPart ? Number(size) >= copy.size : Number(size) === copy.size
  if (isSizeRight && sha256 === copy.sha256) return
  throw new NodeError(
    `${copy.file} is not what the pod ${pod} has in ${file}: ${copy.size} bytes with the SHA-256 ${copy.sha256} here, ` +
      `${size} bytes with ${sha256}${isPart ? ` (of the first ${copy.size} bytes)` : ''} there. These results cannot be used.`
  )
}
