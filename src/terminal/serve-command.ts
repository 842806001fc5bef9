import { resolve } from 'node:path'
import type { Regions } from '../regions/regions.js'
import type { LocalService } from '../gate/ports.js'
import type { Arguments, Flag } from './arguments.js'
import { UsageError } from './arguments.js'
import { plain } from './screen.js'
import type { Screen } from './screen.js'
import { REGIONS_FLAG, readRegions } from './typed-regions.js'

export interface ServePorts {
  readonly screen: Screen
  readonly cancelled: AbortSignal
  readonly workspace: string
  readonly token: string
  readonly platform: string
  serve(options: ServeOptions): Promise<LocalService>
}

export interface ServeOptions {
  readonly dataDir: string
  readonly port: number
  readonly token: string | undefined
  readonly rehearse: boolean
  readonly serviceName: string | undefined
  /** Where nodes run; undefined if every region is this machine. */
  readonly regions: Regions | undefined
  readonly log: (line: string) => void
  /** Ends the start, with its reason: clusters may take their time. */
  readonly signal: AbortSignal
}

const DATA_FOLDER = '.loadgate'

export const SERVE_FLAGS: readonly Flag[] = [
  { name: 'port', value: 'number', about: 'Port on 127.0.0.1. Default: any free port.' },
  { name: 'data', value: 'folder', about: `Folder for runs, grids and results. Default: ${DATA_FOLDER}.` },
  { name: 'rehearse', about: 'Generate synthetic samples from a fixed seed instead of load.' },
  {
    name: 'service-name',
    value: 'word',
    about: "The service's own word in paths and parameters. Default: none."
  },
  REGIONS_FLAG,
  { name: 'json', about: 'Print address, token and page as JSON.' }
]

/** `loadgate serve`: the embedded service until a signal. Prints address, token and the page to open once. */
export async function runServeCommand(args: Arguments, ports: ServePorts): Promise<number> {
  const port = args.text('port') || '0'
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    throw new UsageError('--port takes a number from 0 to 65535')
  if (ports.platform === 'win32')
    throw new UsageError(
      'the embedded service needs Linux or macOS; on Windows, give the address of a service'
    )
  const regions = await readRegions(args, ports.workspace)
  const { out, err } = ports.screen
  const options: ServeOptions = {
    dataDir: resolve(ports.workspace, args.text('data') || DATA_FOLDER),
    port: Number(port),
    token: ports.token || undefined,
    rehearse: args.has('rehearse'),
    serviceName: args.text('service-name') || undefined,
    regions,
    log: (line) => err.write(`${plain(line)}\n`),
    signal: ports.cancelled
  }
  const service = await ports.serve(options).catch((thrown: unknown) => {
    // Stopped before it had started: there is nothing to close.
    if (thrown === ports.cancelled.reason) return undefined
    throw thrown
  })
  if (service === undefined) return 0
  const { url, token } = service
  // For a browser's first visit; it gets a cookie there and continues without the token.
  const page = `${url}/?token=${encodeURIComponent(token)}`
  out.write(
    args.has('json')
      ? `${JSON.stringify({ url, token, page })}\n`
      : `Address: ${url}\nToken:   ${token}\nPage:    ${page}\nStop it with Ctrl-C.\n`
  )
  if (!ports.cancelled.aborted)
    await new Promise((resolve) => ports.cancelled.addEventListener('abort', resolve, { once: true }))
  await service.close()
  return 0
}
