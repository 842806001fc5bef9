import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { isAddress } from '../../analysis/baseline/document/fingerprint.js'
import type { RunRecord } from '../../contract/records.js'
import { count, joinWords, shorten, when } from '../../contract/text.js'
import { isSecretProperty, REDACTED, redactLog } from '../engines/redact-log.js'
import { saysLoss } from './findings.js'
import { listNames, readRunSecrets, SECRET_FILES } from './row-secrets.js'
import type { RunData } from '../store/store.js'

/** Files of a run are compared by content up to this many bytes in all, the others by size. */
const MOST_READ_BYTES = 1024 ** 2
const LONGEST_VALUE = 60
const MOST_NAMED = 12

/** Redacting takes as long as there are secrets times parameters; beyond this, parameters are compared by their names. */
const MOST_REDACTIONS = 2000

/**
 * What two runs of the same test have in common, by name. All of it is what everyone who sees the run can read: a comparison with a run that
 * somebody has made up must not tell whether a secret was guessed.
 */
interface Parts {
  readonly settings: ReadonlyMap<string, string>
  /** Their values as they are shown. */
  readonly parameters: ReadonlyMap<string, string>
  /** The size and, if it was read, a hash; undefined if it has been deleted. */
  readonly files: ReadonlyMap<string, string | undefined>
}

export async function partsOf(run: RunRecord, store: RunData): Promise<Parts> {
  const { request, report } = run
  const hosts = request.hosts.map(({ host, address }) => `${host}/${address}`)
  return {
    settings: new Map([
      ['the kind of run (one is a rehearsal)', String(report?.rehearsal ?? false)],
      ['the tool', request.tool],
      ['the threads', String(request.threads)],
      ['the ramp-up', String(request.rampupSec)],
      ['the duration', String(request.durationSec)],
      ['the nodes', describeNodes(run, store)],
      [HOSTS, hosts.sort().join(' ')]
    ]),
    parameters: await readParameters(run, store),
    files: await readFiles(run, store)
  }
}

/** By the secrets of their own run only. */
async function readParameters(run: RunRecord, store: RunData): Promise<Parts['parameters']> {
  const { properties } = run.request
  const secrets = await readRunSecrets(run, store)
  const isTooMuch = secrets.length * properties.length > MOST_REDACTIONS
  return new Map(
    properties.map((each) => [
      `-${each.kind}${each.name}`,
      isTooMuch || isSecretProperty(each) ? REDACTED : redactLog(each.value, secrets)
    ])
  )
}

const HOSTS = 'the addresses of hosts'

export function describeNodes(run: RunRecord, store: RunData): string {
  const grids = store
    .gridsOf(run)
    .map(({ spec }) => `${count(spec.instanceQuantity, 'node')} in ${spec.region}`)
  return grids.sort().join(', ') || '–'
}

async function readFiles({ id, files }: RunRecord, store: RunData): Promise<Parts['files']> {
  const read = new Map<string, string | undefined>()
  let room = MOST_READ_BYTES
  for (const [index, { name }] of files.entries()) {
    const path = store.folder.uploadedFile(id, name)
    const isSecret = SECRET_FILES.includes(name)
    const names = isSecret ? await listNames(path).catch(() => undefined) : undefined
    const size = isSecret ? names?.length : (await stat(path).catch(() => undefined))?.size
    const isRead = size !== undefined && size <= room
    const content = names ?? (isRead ? await readFile(path).catch(() => '') : '')
    room -= content.length
    const hash = content.length === 0 ? '' : createHash('sha256').update(content).digest('hex')
    read.set(
      index === 0 ? 'the plan' : `the file ${name}`,
      size === undefined ? undefined : `${size} ${hash}`
    )
  }
  return read
}

/** Where the target is, and secrets that are renewed, make no difference to what was run; a baseline has the same rule. */
export function isAfterChange(before: Parts | undefined, after: Parts | undefined): boolean {
  if (before === undefined || after === undefined) return false
  return (
    changedKeys(before.settings, after.settings).some((name) => name !== HOSTS) ||
    changedKeys(before.parameters, after.parameters).some(
      (key) => !isAddress(key.slice(2)) && !isHidden(key, before, after)
    ) ||
    changedKeys(before.files, after.files, isSameFile).length > 0
  )
}

function changedKeys<T>(
  one: ReadonlyMap<string, T>,
  other: ReadonlyMap<string, T>,
  isSame = (a: T, b: T): boolean => a === b
): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((key) => {
    if (!one.has(key) || !other.has(key)) return true
    return !isSame(one.get(key) as T, other.get(key) as T)
  })
}

function isHidden(parameter: string, ...runs: readonly Parts[]): boolean {
  return runs.some(({ parameters }) => parameters.get(parameter) === REDACTED)
}

/** By what is known of both. */
function isSameFile(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one.startsWith(other) || other.startsWith(one)
}

/** What to know before the figures of A, the other one, and B are compared. */
export async function warnOfDifferences(run: RunRecord, other: RunRecord, store: RunData): Promise<string[]> {
  if (run.id === other.id) return ['This is one run, compared with itself.']
  const differences = await findDifferences(run, other, store)
  const words = joinWords(differences, MOST_NAMED)
  return [
    ...when(differences.length > 0, `These are not runs of the same test: they differ in ${words}.`),
    ...[other, run].flatMap((each, index) => describeUnusable(each, index === 0 ? 'A' : 'B'))
  ]
}

/** A run that failed or lost load says nothing about what was tested. */
export function isUsable({ status, samples, remoteErrors }: RunRecord): boolean {
  return status === 'finished' && (samples ?? 0) > 0 && !saysLoss(remoteErrors)
}

function describeUnusable(run: RunRecord, name: string): string[] {
  if (isUsable(run)) return []
  const [reason = ''] = (run.remoteErrors ?? '').split('\n')
  return [
    `${name} is not a complete run${reason === '' ? '' : ` (${shorten(reason, 300)})`}: its figures cannot be compared with those of another one.`
  ]
}

async function findDifferences(run: RunRecord, other: RunRecord, store: RunData): Promise<string[]> {
  const [was, is] = [await partsOf(other, store), await partsOf(run, store)]
  const show = ({ parameters }: Parts, key: string): string =>
    shorten(parameters.get(key) ?? 'none', LONGEST_VALUE)
  return [
    ...when(run.request.project !== other.request.project, 'the project'),
    ...changedKeys(was.files, is.files, isSameFile),
    ...changedKeys(was.settings, is.settings),
    ...when((run.thresholds?.warmUpSec ?? 0) !== (other.thresholds?.warmUpSec ?? 0), 'the warm-up'),
    ...changedKeys(was.parameters, is.parameters).map((key) => {
      const values = isHidden(key, was, is) ? '' : ` (A: ${show(was, key)}, B: ${show(is, key)})`
      return `the parameter ${shorten(key, LONGEST_VALUE)}${values}`
    })
  ]
}
