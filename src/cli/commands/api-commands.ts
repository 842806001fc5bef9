import { join, resolve } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import { readGridList, SERVICE_RULES } from '../../gate/settings/grid-list.js'
import { requireKeys } from '../../gate/run/make-grids.js'
import { parseServiceAddress } from '../../gate/settings/target-settings.js'
import { startDeadline } from '../../gate/deadline.js'
import { fetchResults } from '../../gate/collect/fetch-results.js'
import { describeDoubt } from '../../gate/gate.js'
import { hasEnded } from '../../gate/run/run-status.js'
import { parseDurationSeconds } from '../../contract/setting-values.js'
import type { Address } from '../../client/http/address.js'
import { ServiceClient } from '../../client/client.js'
import { systemClock, type Clock } from '../../contract/clock.js'
import type { Grid, Run } from '../../contract/api.js'
import { isReference } from '../../client/documents/requests.js'
import { readRunList } from '../../client/run-list.js'
import { vocabularyOf, type Vocabulary } from '../../contract/vocabulary.js'
import { flagsOf, type Arguments, UsageError, valueOf } from '../arguments.js'
import { takeToken } from '../id-token-file.js'
import type { CommandPorts, Runnable } from '../ports.js'
import { plain, say, table } from '../screen.js'
import { createTerminalLog } from '../terminal-log.js'

const CONNECTION = {
  'base-url <address>':
    'Address of the service. The API token comes from LOADGATE_TOKEN, or an ID token from the file that LOADGATE_ID_TOKEN_FILE names. Default: LOADGATE_BASE_URL.',
  'service-name <word>': 'The name in the paths and fields of the service, if it has its own.',
  json: "Print the service's document as it sent it, without tokens."
}
const CONNECTION_FLAGS = flagsOf(CONNECTION)
const GRID_FLAGS = flagsOf({
  ...CONNECTION,
  'grids <yaml>':
    'Specification of the grid: one element of the list that `run --grids` takes. Default: what a service of loadgate chooses; another service needs five keys.'
})
const RESULTS_FLAGS = flagsOf({
  ...CONNECTION,
  'output <folder>': 'Folder for the CSVs. Default: loadgate-results/<run id>.',
  'timeout <duration>': 'How long to wait for them. Default: 10m.',
  json: 'Print the list of files as JSON.'
})

/** A service that always has another page must not keep the command busy forever. */
const MOST_PAGES = 1_000

/** Wait for a CSV that is not ready yet, but not forever. */
const RESULTS_TIMEOUT_SECONDS = 600

interface ApiCall {
  readonly client: ServiceClient
  /** The word after the command, which was checked already; empty if it takes none. */
  readonly id: string
  readonly args: Arguments
  readonly ports: CommandPorts
  readonly clock: Clock
  readonly cancelled: AbortSignal
  /** Prints the words, or the document as JSON. */
  readonly tell: (words: () => string, document?: unknown) => void
}

/** A command that opens a client, runs one operation with it, and closes it. */
function operation(act: (call: ApiCall) => Promise<void>, flags = CONNECTION_FLAGS): Runnable {
  const run: Runnable['run'] = async (args, ports) => {
    const address = takeAddress(args.text('base-url'), ports.baseUrl)
    const token = await takeToken(ports)
    const words = wordsOf(args)
    const { clock = systemClock, cancelled } = ports
    const onAddress = (api: string, doubt?: string): void => {
      if (doubt !== undefined) ports.screen.err.write(`loadgate: ${plain(describeDoubt(api, doubt))}\n`)
    }
    const onWarning = (warning: string): void => void ports.screen.err.write(`loadgate: ${plain(warning)}\n`)
    const client = new ServiceClient({ address, token, words, clock, onAddress, onWarning })
    const tell: ApiCall['tell'] = (text, document = readSent(client)) => say(ports, args, document, text)
    try {
      await act({ client, id: args.words[0] ?? '', args, ports, clock, cancelled, tell })
      return 0
    } finally {
      await client.close()
    }
  }
  return { flags, run }
}

function wordsOf(args: Arguments): Vocabulary {
  return vocabularyOf(args.text('service-name') || undefined)
}

/** Whether a service is named; not whether the name is right. */
export function namesService(args: Arguments, { baseUrl }: CommandPorts): boolean {
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

/** The latest document as the service sent it. Users' tokens are never shown, not even as JSON. */
function readSent({ latestBody }: ServiceClient): unknown {
  return latestBody.trim() === ''
    ? null
    : (JSON.parse(latestBody.replace(/^\uFEFF/, ''), (key, value: unknown) =>
        /token|secret|password|api_?key/i.test(key) && typeof value === 'string' ? '***' : value
      ) as unknown)
}

export const listRuns = operation(async ({ client, args, tell, ports, cancelled }) => {
  const pages: unknown[] = []
  const listPage: typeof client.listRuns = async (link, signal) => {
    const page = await client.listRuns(link, signal)
    pages.push(readSent(client))
    return page
  }
  const { runs, isWhole } = await readRunList(
    { listRuns: listPage },
    { signal: cancelled, mostPages: MOST_PAGES }
  )
  if (!isWhole)
    ports.screen.err.write(
      `loadgate: the list is longer; these are the ${runs.length} runs of its first ${MOST_PAGES} pages\n`
    )
  tell(
    () =>
      table(
        ['run', 'status', 'apdex', 'tool', 'name'],
        runs.map((run) => [run.id, run.status, run.apdex, run.tool, run.name].map(orDash))
      ),
    joinPages(pages as ListDocument[], wordsOf(args).runs)
  )
})

interface ListDocument {
  readonly _links?: Readonly<Record<string, unknown>> | null
  readonly _embedded: Readonly<Record<string, readonly ({ readonly uuid?: unknown } | null)[] | null>>
}

/** The first page's document, with the runs of all pages, each once; it has a next page if the last one has. */
function joinPages(pages: readonly ListDocument[], key: string): unknown {
  const all = pages.flatMap(({ _embedded }) => _embedded[key] ?? [])
  const runs = [...new Map(all.map((run) => [run?.uuid ?? run, run])).values()]
  const [first] = pages
  const _links = { ...first?._links, next: pages.at(-1)?._links?.next }
  return { ...first, _links, _embedded: { ...first?._embedded, [key]: runs } }
}

function runOperation(name: 'showRun' | 'stopRun' | 'repeatRun' | 'pinRun' | 'unpinRun'): Runnable {
  return operation(async ({ client, id, cancelled, tell }) => {
    const run = await client[name](id, cancelled)
    tell(() => describeRun(run))
  })
}

export const showRun = runOperation('showRun')
export const stopRun = runOperation('stopRun')
export const repeatRun = runOperation('repeatRun')
export const pinRun = runOperation('pinRun')
export const unpinRun = runOperation('unpinRun')

export const showReport = operation(async ({ client, id, tell, cancelled }) => {
  const report = await client.report(id, cancelled)
  const means = Object.entries(report.means).map(([name, value]) => `${name}: ${value}`)
  tell(() => [report.summary ?? 'The report has no summary.', ...means].join('\n'))
})

export const downloadResults = operation(async ({ client, id, args, tell, ports, clock, cancelled }) => {
  const run = await client.showRun(id, cancelled)
  const folder = resolve(ports.workspace, args.text('output') || join('loadgate-results', run.id))
  makeFolder(folder)
  const { log } = createTerminalLog(ports.screen.err, undefined)
  if (!hasEnded(run.status))
    log.warning(`Run ${run.id} is ${run.status}: its CSVs have the samples so far, if any.`)
  const seconds = valueOf(args, 'timeout', (text) => parseDurationSeconds(text, 1)) ?? RESULTS_TIMEOUT_SECONDS
  const error = new Error('it timed out; --timeout allows more time')
  const deadline = startDeadline(clock, seconds * 1000, { error, others: [cancelled] })
  const place = { resultsDir: folder, signal: deadline.signal }
  const grids = await fetchResults({ client, clock, log }, run, place)
  deadline.release()
  const results = grids.map(({ result }) => result)
  const describeResults = (): string =>
    table(
      ['grid', 'region', 'bytes', 'file'],
      results.map(({ gridId, region, bytes, path, problem = '' }) =>
        [gridId, region, bytes, path ?? `missing: ${problem}`].map(String)
      )
    )
  tell(describeResults, results)
  if (results.some(({ path }) => path === undefined)) throw new Error('not every CSV could be downloaded')
}, RESULTS_FLAGS)

export const createGrid = operation(async ({ client, args, tell, cancelled }) => {
  const text = args.text('grids')
  const list = text.startsWith('-') || text.startsWith('[') ? text : `[${text || '{}'}]`
  const { grids, problems } = await readGridList(list, SERVICE_RULES)
  const [specification] = grids
  if (problems.length > 0) throw new UsageError(`--grids: ${problems.join('; ')}`)
  if (specification === undefined || isReference(specification) || grids.length > 1)
    throw new UsageError('--grids takes one specification here, not a reference')
  await requireKeys(client, grids, () => client.findApi('reading the account', cancelled))
  const grid = await client.createGrid(specification, cancelled)
  tell(() => describeGrid(grid))
}, GRID_FLAGS)

function gridOperation(name: 'showGrid' | 'terminateGrid'): Runnable {
  return operation(async ({ client, id, tell, cancelled }) => {
    const grid = await client[name](id, cancelled)
    tell(() => (grid === undefined ? `Grid ${id} was terminated.` : describeGrid(grid)))
  })
}

export const showGrid = gridOperation('showGrid')
export const terminateGrid = gridOperation('terminateGrid')

export const showAccount = operation(async ({ client, tell, cancelled }) => {
  const account = await client.account(cancelled)
  tell(() =>
    [
      `Account ${account.email ?? '–'}`,
      table(
        ['user', 'email', 'sign-ins', 'last'],
        account.users.map((user) => [user.id, user.email, user.signInCount, user.lastSignIn].map(orDash))
      ),
      table(
        ['credential', 'provider', 'description'],
        account.credentials.map(({ id, provider, description }) => [id, provider, description].map(orDash))
      )
    ].join('\n\n')
  )
})

type Fact = string | number | null | undefined

function orDash(fact: Fact): string {
  return String(fact ?? '–')
}

function describeRun({ id, name, status, apdex, tool, threads, grids, ...run }: Run): string {
  return describe({
    ...{ run: id, name, status, apdex, tool, threads, duration: run.durationSeconds, page: run.permalink },
    grids: grids.map((grid) => `${grid.id} (${grid.region}, ${grid.status})`).join(', '),
    errors: run.remoteErrors
  })
}

function describeGrid({ id, region, status, nodeCount, instanceType, stopAfterMinutes }: Grid): string {
  return describe({
    ...{ grid: id, region, status, nodes: nodeCount, type: instanceType },
    'stop after': stopAfterMinutes === undefined ? undefined : `${stopAfterMinutes} min`
  })
}

function describe(facts: Readonly<Record<string, Fact>>): string {
  return Object.entries(facts)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => `${name.padEnd(11)}${String(value)}`)
    .join('\n')
}
