import { join, resolve } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import { readGridList } from '../../gate/settings/grid-list.js'
import { parseServiceAddress } from '../../gate/settings/service-values.js'
import { startDeadline } from '../../gate/deadline.js'
import { fetchResults } from '../../gate/collect/fetch-results.js'
import { hasEnded } from '../../gate/run/run-status.js'
import { parseDurationSeconds } from '../../contract/setting-values.js'
import type { Address } from '../../client/http/address.js'
import { ServiceClient } from '../../client/client.js'
import { systemClock } from '../../contract/clock.js'
import type { Account, Grid, Run } from '../../contract/api.js'
import { isReference } from '../../client/documents/requests.js'
import { readRunList } from '../../client/run-list.js'
import { vocabularyOf } from '../../contract/vocabulary.js'
import { type Arguments, type Flag, UsageError } from '../arguments.js'
import { plain, strikeOut, table, type Screen } from '../screen.js'
import { createTerminalLog } from '../terminal-log.js'

export interface ApiPorts {
  readonly screen: Screen
  readonly cancelled: AbortSignal
  readonly workspace: string
  readonly token: string
  /** Of the service, as LOADGATE_BASE_URL says it; empty if that is not set. */
  readonly baseUrl: string
}

export const CONNECTION_FLAGS: readonly Flag[] = [
  {
    name: 'base-url',
    value: 'address',
    about:
      'Address of the service, with or without `/api`. The API token comes from LOADGATE_TOKEN. Default: LOADGATE_BASE_URL.'
  },
  {
    name: 'service-name',
    value: 'word',
    about: "The service's own word, where its identifiers contain one."
  },
  { name: 'json', about: 'Print JSON.' }
]

export const GRID_FLAGS: readonly Flag[] = [
  {
    name: 'grids',
    value: 'yaml',
    about: 'Specification of the grid: one element of the list that `run --grids` takes.'
  }
]

/** A service that always has another page must not keep the command busy forever. */
const MOST_PAGES = 1_000

/** Wait for a CSV that is not ready yet, but not forever. */
const RESULTS_TIMEOUT = '10m'

export const RESULTS_FLAGS: readonly Flag[] = [
  { name: 'output', value: 'folder', about: 'Folder for the CSVs. Default: loadgate-results/<run id>.' },
  { name: 'timeout', value: 'duration', about: `How long to wait for them. Default: ${RESULTS_TIMEOUT}.` }
]

interface ApiCall {
  readonly client: ServiceClient
  readonly args: Arguments
  readonly ports: ApiPorts
  /** Prints JSON if requested, else text. */
  readonly tell: (document: unknown, words: () => string) => void
}

type ApiCommand = (call: ApiCall) => Promise<void>

/** Opens a client, runs one operation with it, and closes it. */
export async function runApiCommand(command: ApiCommand, args: Arguments, ports: ApiPorts): Promise<number> {
  const address = takeAddress(args.text('base-url'), ports.baseUrl)
  if (ports.token === '') throw new UsageError("LOADGATE_TOKEN is not set; set it to the service's API token")
  const client = new ServiceClient({
    address,
    token: ports.token,
    words: vocabularyOf(args.text('service-name') || undefined),
    clock: systemClock
  })
  const { out } = ports.screen
  const tell = (document: unknown, words: () => string): void => {
    const text = args.has('json') ? JSON.stringify(document, null, 2) : plain(words())
    out.write(`${strikeOut(text, [ports.token])}\n`)
  }
  try {
    await command({ client, args, ports, tell })
    return 0
  } finally {
    await client.close()
  }
}

/** Whether a service is named; not whether the name is right. */
export function namesService(args: Arguments, { baseUrl }: ApiPorts): boolean {
  return !['', 'local'].includes(args.text('base-url') || baseUrl)
}

function takeAddress(flag: string, variable: string): Address {
  const baseUrl = flag || variable
  if (baseUrl === '' || baseUrl === 'local')
    throw new UsageError(
      'there is no service: give its address, or the one that `loadgate serve` prints, with --base-url or LOADGATE_BASE_URL'
    )
  const parsed = parseServiceAddress(baseUrl)
  if ('address' in parsed) return parsed.address
  throw new UsageError(`${flag === '' ? 'LOADGATE_BASE_URL' : '--base-url'}: ${parsed.problem}`)
}

export async function listRuns({ client, tell, ports }: ApiCall): Promise<void> {
  const { runs, total, isWhole } = await readRunList(client, {
    signal: ports.cancelled,
    mostPages: MOST_PAGES
  })
  if (!isWhole)
    ports.screen.err.write(
      `loadgate: the list is longer; these are the ${runs.length} runs of its first ${MOST_PAGES} pages\n`
    )
  tell({ total: total ?? runs.length, runs }, () =>
    table(
      ['run', 'status', 'apdex', 'tool', 'name'],
      runs.map((run) => [run.id, run.status, run.apdex ?? '–', run.tool ?? '–', run.name ?? '–'])
    )
  )
}

export async function showRun({ client, args, tell, ports }: ApiCall): Promise<void> {
  const run = await client.showRun(oneId(args), ports.cancelled)
  tell(run, () => describeRun(run))
}

export async function stopRun({ client, args, tell, ports }: ApiCall): Promise<void> {
  const run = await client.stopRun(oneId(args), ports.cancelled)
  tell(run, () => describeRun(run))
}

export async function repeatRun({ client, args, tell, ports }: ApiCall): Promise<void> {
  const run = await client.repeatRun(oneId(args), ports.cancelled)
  tell(run, () => describeRun(run))
}

export async function showReport({ client, args, tell, ports }: ApiCall): Promise<void> {
  const report = await client.report(oneId(args), ports.cancelled)
  const means = Object.entries(report.means).map(([name, value]) => `${name}: ${value}`)
  tell(report, () => [report.summary ?? 'The report has no summary.', ...means].join('\n'))
}

export async function downloadResults({ client, args, tell, ports }: ApiCall): Promise<void> {
  const run = await client.showRun(oneId(args), ports.cancelled)
  const folder = resolve(ports.workspace, args.text('output') || join('loadgate-results', run.id))
  makeFolder(folder)
  const { log } = createTerminalLog(ports.screen.err, undefined)
  if (!hasEnded(run.status))
    log.warning(`Run ${run.id} is ${run.status}: its CSVs have the samples so far, if any.`)
  const deadline = startDeadline(systemClock, takeTimeoutMs(args.text('timeout') || RESULTS_TIMEOUT), {
    error: new Error('it timed out; --timeout allows more time'),
    others: [ports.cancelled]
  })
  const place = { resultsDir: folder, signal: deadline.signal }
  const grids = await fetchResults({ client, clock: systemClock, log }, run, place)
  deadline.release()
  const results = grids.map(({ result }) => result)
  tell(results, () =>
    table(
      ['grid', 'region', 'bytes', 'file'],
      results.map(({ gridId, region, bytes, path, problem }) => [
        gridId,
        region,
        String(bytes),
        path ?? `missing: ${problem ?? ''}`
      ])
    )
  )
  if (results.some(({ path }) => path === undefined)) throw new Error('not every CSV could be downloaded')
}

function takeTimeoutMs(text: string): number {
  const parsed = parseDurationSeconds(text, 1)
  if (!parsed.ok) throw new UsageError(`--timeout: "${text}" is invalid; expected ${parsed.accepted}`)
  return parsed.value * 1000
}

export async function createGrid({ client, args, tell, ports }: ApiCall): Promise<void> {
  const text = args.text('grids')
  if (text === '') throw new UsageError('--grids is missing: give one specification')
  const { grids, problems } = readGridList(
    text.startsWith('-') || text.startsWith('[') ? text : `[${text}]`,
    {
      defaults: {},
      durationSeconds: undefined
    }
  )
  const [specification] = grids
  if (problems.length > 0) throw new UsageError(`--grids: ${problems.join('; ')}`)
  if (specification === undefined || isReference(specification) || grids.length > 1)
    throw new UsageError('--grids takes one specification here, not a reference')
  const grid = await client.createGrid(specification, ports.cancelled)
  tell(grid, () => describeGrid(grid))
}

export async function showGrid({ client, args, tell, ports }: ApiCall): Promise<void> {
  const grid = await client.showGrid(oneId(args), ports.cancelled)
  tell(grid, () => describeGrid(grid))
}

export async function terminateGrid({ client, args, tell, ports }: ApiCall): Promise<void> {
  const id = oneId(args)
  const grid = await client.terminateGrid(id, ports.cancelled)
  tell(grid ?? { id, status: 'stopped' }, () =>
    grid === undefined ? `Grid ${id} was terminated.` : describeGrid(grid)
  )
}

/** Users' tokens are never shown, not even as JSON. */
export async function showAccount({ client, tell, ports }: ApiCall): Promise<void> {
  const account = redact(await client.account(ports.cancelled))
  tell(account, () =>
    [
      `Account ${account.email ?? '–'}`,
      table(
        ['user', 'email', 'sign-ins', 'last'],
        account.users.map((user) => [
          String(user.id ?? '–'),
          user.email ?? '–',
          String(user.signInCount ?? '–'),
          user.lastSignIn ?? '–'
        ])
      ),
      table(
        ['credential', 'provider', 'description'],
        account.credentials.map(({ id, provider, description }) => [
          String(id ?? '–'),
          provider ?? '–',
          description ?? '–'
        ])
      )
    ].join('\n\n')
  )
}

function redact(account: Account): Account {
  const users = account.users.map((user) => ({
    ...user,
    authenticationToken: user.authenticationToken === undefined ? undefined : '***'
  }))
  return { ...account, users }
}

/** The command has already checked that there is a valid one. */
function oneId({ words }: Arguments): string {
  return words[0] ?? ''
}

function describeRun(run: Run): string {
  const facts: [string, string | number | null | undefined][] = [
    ['run', run.id],
    ['name', run.name],
    ['status', run.status],
    ['apdex', run.apdex],
    ['tool', run.tool],
    ['threads', run.threads],
    ['duration', run.durationSeconds],
    ['page', run.permalink],
    ['grids', run.grids.map(({ id, region, status }) => `${id} (${region}, ${status})`).join(', ')],
    ['errors', run.remoteErrors]
  ]
  return describe(facts)
}

function describeGrid(grid: Grid): string {
  return describe([
    ['grid', grid.id],
    ['region', grid.region],
    ['status', grid.status],
    ['nodes', grid.nodeCount],
    ['type', grid.instanceType],
    ['stop after', grid.stopAfterMinutes === undefined ? undefined : `${grid.stopAfterMinutes} min`]
  ])
}

function describe(facts: readonly (readonly [string, string | number | null | undefined])[]): string {
  return facts
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => `${name.padEnd(11)}${String(value)}`)
    .join('\n')
}
