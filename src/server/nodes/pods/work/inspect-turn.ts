import { NodeError } from '../../load-node.js'
import type { PodContact } from './pod-contact.js'
import { NAP } from './supervisor.js'
import { readTurnState, type TurnState } from './turn-state.js'

const INSPECT = `${NAP}
home=$1 turn=$2 rounds=0
until [ -p "$home/go" ] && [ -e "$home/pid" ]; do
  rounds=$((rounds + 1))
  [ "$rounds" -le 50 ] || { echo missing; exit; }
  nap 0.2
done
for running in "$home"/turns/*/running; do
  other=\${running%/running}
  [ -e "$running" ] && [ "$other" != "$turn" ] && [ ! -e "$other/ended" ] && echo "busy;\${other##*/}"
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

/** How far a turn is. A pod that is not ready for it, or busy with another one, is a `NodeError`. */
export async function inspectTurn(
  contact: PodContact,
  { home, turn }: { home: string; turn: string },
  signal: AbortSignal
): Promise<TurnState & { lastCopy: number }> {
  const reply = await contact.ask(INSPECT, [home, turn], { signal })
  const { pod } = contact.parts
  const lines = reply.stdout.split('\n').map((line) => line.split(';'))
  const busy = lines.find(([word]) => word === 'busy')
  if (busy !== undefined) throw new NodeError(`The pod ${pod} is still busy with the work ${busy[1] ?? ''}.`)
  const [, started = '', ended = '', lastCopy = '0'] = lines.find(([word]) => word === 'turn') ?? []
  if (!lines.some(([word]) => word === 'turn'))
    throw new NodeError(
      `The pod ${pod} is not ready: "${reply.stderr.trim() || reply.stdout.trim() || `exit code ${reply.code}`}"; ` +
        'its image needs sh, tail, tar, sha256sum and the other basic commands of coreutils or busybox.'
    )
  return { ...readTurnState(started, ended), lastCopy: Number(lastCopy) }
}
