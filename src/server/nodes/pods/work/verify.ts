import { NodeError } from '../../load-node.js'
import type { LocalCopy } from './local-copy.js'
import type { PodContact } from './pod-contact.js'

/** The size of a file, and the SHA-256 of its first bytes or of all of them. */
const DIGEST = `
[ -e "$1" ] || { echo '- -'; exit; }
size=$(wc -c <"$1")
if [ -n "$2" ]; then hash=$(head -c "$2" "$1" | sha256sum); else hash=$(sha256sum <"$1"); fi
echo $size $hash
`

/** The slowest pod that is waited for: a tenth of a core. */
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
