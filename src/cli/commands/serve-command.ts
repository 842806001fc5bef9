import { resolve } from 'node:path'
import { type ServiceConfig, ConfigError, ConfigProblem } from '../../service/config/config.js'
import { readServiceConfig } from '../../service/config/parse-config.js'
import { flagsOf, type Arguments, UsageError, valueOf } from '../arguments.js'
import { parseInteger } from '../../contract/setting-values.js'
import { INPUTS } from '../../contract/inputs.js'
import type { CommandPorts, ServedService, ServeRequest } from '../ports.js'
import { plain } from '../screen.js'
import { ABOUT_REGIONS, readRegions } from '../output-folder.js'

type SingleUser = Exclude<ServeRequest['setUp'], ServiceConfig>

const DATA_FOLDER = '.loadgate'
/** The config file decides these. */
const DECIDED = { port: 'listen', data: 'data', regions: 'regions' } as const

export const flags = flagsOf({
  'config <file>':
    'YAML file of a service for a team: address, TLS, who may use it, limits. Default: none, and the service is for one person on this machine.',
  'port <number>': 'Port on 127.0.0.1. Default: any free port.',
  'data <folder>': `Folder for runs, grids and results. Default: ${DATA_FOLDER}.`,
  rehearse: 'Generate synthetic samples from a fixed seed instead of load.',
  'service-name <word>': 'The name in the paths and fields of the API, instead of `run`. Default: none.',
  'regions <file|yaml>': ABOUT_REGIONS,
  json: 'Print address, token and page as JSON; with --config, url and listening.'
})

/** `loadgate serve`: the service until a signal. Prints once how it is reached. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const setUp = args.has('config') ? await readTeam(args, ports) : await readSingle(args, ports)
  const { out, err } = ports.screen
  const options: ServeRequest = {
    setUp,
    rehearse: args.has('rehearse'),
    serviceName: readServiceName(args),
    log: (line) => err.write(`${plain(line)}\n`),
    signal: ports.cancelled
  }
  const service = await ports.serve(options).catch((thrown: unknown) => {
    // Stopped before it had started: there is nothing to close.
    if (thrown === ports.cancelled.reason) return undefined
    throw thrown instanceof ConfigProblem ? inFile(configFile(args, ports), thrown) : thrown
  })
  if (service === undefined) return 0
  out.write(args.has('json') ? describeAsJson(service) : describe(service, args.text('config')))
  if (!ports.cancelled.aborted)
    await new Promise((resolve) => ports.cancelled.addEventListener('abort', resolve, { once: true }))
  await service.close()
  return 0
}

/** Words whose plural is a path of the service itself. */
const TAKEN_NAMES = ['event', 'grid', 'user']

function readServiceName(args: Arguments): string | undefined {
  const name = valueOf(args, 'service-name', (text) => INPUTS['service-name'].kind.parse(text))
  if (name !== undefined && TAKEN_NAMES.includes(name))
    throw new UsageError(`--service-name: ${name} is a word of the API itself; choose another one`)
  return name
}

function requirePlatform({ platform }: CommandPorts): void {
  if (platform === 'win32')
    throw new UsageError(
      'the embedded service needs Linux or macOS; on Windows, give the address of a service'
    )
}

async function readSingle(args: Arguments, ports: CommandPorts): Promise<SingleUser> {
  const port = valueOf(args, 'port', (text) => parseInteger(text, { least: 0, most: 65_535 })) ?? 0
  requirePlatform(ports)
  return {
    dataDir: resolve(ports.workspace, args.text('data') || DATA_FOLDER),
    port,
    token: ports.token || undefined,
    regions: await readRegions(args, ports.workspace)
  }
}

async function readTeam(args: Arguments, ports: CommandPorts): Promise<ServiceConfig> {
  for (const [flag, key] of Object.entries(DECIDED))
    if (args.has(flag))
      throw new UsageError(`--${flag} cannot be combined with --config: set ${key} in the file instead`)
  requirePlatform(ports)
  const config = await readServiceConfig(configFile(args, ports))
  if (config.regions && args.has('rehearse'))
    throw new UsageError(
      '--rehearse generates no load, so the regions of the config file would have no effect; remove one of the two'
    )
  return config
}

function configFile(args: Arguments, { workspace }: CommandPorts): string {
  return resolve(workspace, args.text('config'))
}

function inFile(file: string, problem: ConfigProblem): ConfigError {
  return new ConfigError(file, [problem.message], { cause: problem })
}

function describeAsJson(service: ServedService): string {
  const { url, token, listening } = service
  return `${JSON.stringify(token === undefined ? { url, listening } : { url, token, page: pageOf(url, token) })}\n`
}

function describe({ url, token, listening, hasNoUsers }: ServedService, file: string): string {
  if (token !== undefined)
    return `Address: ${url}\nToken:   ${token}\nPage:    ${pageOf(url, token)}\nStop it with Ctrl-C.\n`
  const first = `There are no users yet. Add the first one: loadgate user add NAME --role admin --config ${quote(file)}\n`
  return `Address: ${url}\nListens: ${listening ?? ''}\n${hasNoUsers ? first : ''}Stop it with Ctrl-C.\n`
}

/** For a shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** For a browser's first visit; it gets a cookie there and continues without the token. */
function pageOf(url: string, token: string): string {
  return `${url}/?token=${encodeURIComponent(token)}`
}
