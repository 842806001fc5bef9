import { ClusterError } from './cluster.js'
import type { Status } from './words.js'

/** The exit code in the last message of a stream; a `ClusterError` if the command could not be run or watched to its end. */
export function exitCodeOf(bytes: Uint8Array, pod: string): number {
  const status = parseStatus(bytes)
  if (status.status === 'Success') return 0
  if (status.reason === 'NonZeroExitCode') {
    const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
    if (code !== undefined && /^\d+$/.test(code)) return Number(code)
  }
  throw new ClusterError(
    `A command in the pod ${pod} could not be run to its end: ${status.message ?? status.reason ?? 'the cluster does not say why'}`,
    status.code
  )
}

function parseStatus(bytes: Uint8Array): Status {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  try {
    return JSON.parse(text) as Status
  } catch {
    return { message: text }
  }
}
