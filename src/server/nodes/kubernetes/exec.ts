import type { ExecStreams } from './cluster.js'
import type { Access, Credentials } from './credentials.js'
import { ExecConnection, UpgradeRefused } from './exec-connection.js'
import type { ExecLimits } from './exec-connection.js'
import type { Openings } from './openings.js'
import { refusal } from './words.js'

export interface ExecParts {
  readonly server: string
  readonly credentials: Credentials
  readonly namespace: string
  readonly pod: string
  readonly command: readonly string[]
  readonly streams: ExecStreams
  readonly signal: AbortSignal
  readonly limits?: ExecLimits
  readonly openings?: Openings
}

/** The only container of our pods. */
const CONTAINER = 'node'

/** Runs a command in a pod. The package's own way has no backpressure and loses errors. */
export async function execInPod(parts: ExecParts): Promise<{ code: number }> {
  const { credentials, signal, pod } = parts
  signal.throwIfAborted()
  const access = await credentials.access(signal)
  signal.throwIfAborted()
  try {
    return await connect(parts, access)
  } catch (error) {
    if (!(error instanceof UpgradeRefused)) throw error
    // Refused before anything was started or read, so this is no second start.
    if (error.status === 401)
      return await connect(parts, await credentials.renew(access, signal)).catch((again: unknown) => {
        throw again instanceof UpgradeRefused ? tell(pod, again) : again
      })
    throw tell(pod, error)
  }
}

async function connect(parts: ExecParts, access: Access): Promise<{ code: number }> {
  const { server, streams, signal, pod, limits, openings } = parts
  const onOpened = await openings?.enter(signal)
  if (signal.aborted) onOpened?.()
  signal.throwIfAborted()
  const connection = { server, url: urlOf(parts), access, streams, signal, pod, limits, onOpened }
  return new ExecConnection(connection).done.finally(onOpened)
}

function tell(pod: string, { status, body }: UpgradeRefused): Error {
  return refusal(`Running a command in the pod ${pod}`, { status, text: body })
}

function urlOf({ server, namespace, pod, command, streams }: ExecParts): string {
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]))
  query.set('container', CONTAINER)
  query.set('stdin', String(streams.stdin !== undefined))
  query.set('stdout', 'true')
  query.set('stderr', 'true')
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec`
  return `${server.replace(/^http/, 'ws')}${path}?${query.toString()}`
}
