import { execFile } from 'node:child_process'
import type { BaselineDocument } from '../../contract/baseline.js'
import { decodeBaseline } from '../../analysis/baseline/document/baseline-document.js'
import type { Fingerprint } from '../../analysis/baseline/document/fingerprint.js'
import { withDeadline } from '../deadline.js'
import { messageOf } from '../../contract/text.js'
import type { Gate } from '../gate.js'
import type { BaselinePlace, BaselineRequest, BaselineStore, FoundBaseline, Ports } from '../ports.js'
import { defaultName, type Settings } from '../settings/settings.js'
import { readBaselineFile } from './baseline-file.js'
import { readMachine, fingerprintOf } from './run-fingerprint.js'

export interface Search {
  readonly place: BaselinePlace
  readonly fingerprint: Fingerprint | undefined
  readonly found: Found
}

/** Without a history, any run of the document will do. */
type Found =
  | FoundBaseline
  | { document: BaselineDocument; baseCommit: undefined; ancestors: readonly string[] | undefined }

/** With what is recorded afterwards, a gate never takes 90 s longer. */
const LONGEST_SEARCH_MS = 60_000
const NOWHERE: BaselinePlace = { branch: undefined, recordedUnder: undefined }

type SearchGate = Pick<Gate, 'ports' | 'settings' | 'asideGroups'>

/** One search per step, however often it is asked for. */
const searches = new WeakMap<Ports, Promise<Search>>()

/** Looks for the runs to compare with, or continues to; started while the load runs. */
export function findBaseline({ ports, settings, asideGroups }: SearchGate): Promise<Search> {
  const search =
    searches.get(ports) ??
    find(ports, settings, asideGroups).catch((thrown: unknown) => ({
      place: NOWHERE,
      fingerprint: undefined,
      found: { reason: messageOf(thrown) }
    }))
  searches.set(ports, search)
  return search
}

/** Whether there is anything to look for: not with runs of others, and not if nobody waits for the end. */
export function isSearched({ baseline, origin, wait }: Settings): boolean {
  return ['auto', 'file'].includes(baseline.source.kind) && origin.kind !== 'existing' && wait
}

async function find(ports: Ports, settings: Settings, asideGroups: Gate['asideGroups']): Promise<Search> {
  // At once: the files may change while the load runs.
  const hashing = fingerprintOf(settings, readMachine(), asideGroups)
  const { source } = settings.baseline
  const store = await ports.openBaselines?.()
  const place = (await store?.locate(settings.baseline.branch)) ?? NOWHERE
  const found =
    source.kind === 'file'
      ? await findInFile(ports, source.path, store !== undefined)
      : await findInStore(ports, settings, { store, place })
  return { place, found, fingerprint: await hashing }
}

/** Only a gate in a workflow records runs by itself. */
async function findInFile({ clock, log }: Ports, path: string, isRecorded: boolean): Promise<Found> {
  try {
    const warn = (words: string): void => log.warning(words)
    const document = await readBaselineFile(path, { nowMs: clock.now(), warn })
    if (document === undefined) {
      const creator = isRecorded ? 'a push, a schedule or a manual start' : '`loadgate baseline record`'
      return { reason: `there is no file ${path} yet; ${creator} creates it` }
    }
    return { document, baseCommit: undefined, ancestors: await readHistory(document) }
  } catch (thrown) {
    return { reason: `${path} cannot be used: ${messageOf(thrown)}` }
  }
}

const MOST_COMMITS = 1000

/** The commits that are checked out, newest first, by git; undefined if no recorded run is of one of them, as in a shallow clone. */
export function readHistory({ runs }: BaselineDocument): Promise<readonly string[] | undefined> {
  return new Promise((done) => {
    execFile('git', ['rev-list', `--max-count=${MOST_COMMITS}`, 'HEAD'], (_, out) => {
      const commits = out.split('\n')
      done(runs.some(({ commit }) => commits.includes(commit)) ? commits : undefined)
    })
  })
}

async function findInStore(
  ports: Ports,
  settings: Settings,
  { store, place: { branch } }: { store: BaselineStore | undefined; place: BaselinePlace }
): Promise<Found> {
  if (store === undefined)
    return { reason: 'no earlier runs are kept here: set "baseline" to the path of a baseline document' }
  if (branch === undefined)
    return { reason: 'the event does not say which branch to compare with: set baseline-branch' }
  return ask(ports, settings, {
    branch,
    longestMs: LONGEST_SEARCH_MS,
    question: (request) => store.find(request)
  })
}

export async function ask<T>(
  ports: Ports,
  settings: Settings,
  options: { branch: string; longestMs: number; question: (request: BaselineRequest) => Promise<T> }
): Promise<T> {
  const { branch, longestMs, question } = options
  const untilMs = ports.clock.now() + longestMs
  const error = new Error(`GitHub did not answer within ${longestMs / 1000} s`)
  const request = { ...keyOf(ports, settings), branch, token: settings.githubToken, untilMs }
  return withDeadline(ports.clock, longestMs, { error, others: [ports.cancelled] }, (signal) =>
    question({ ...request, signal, decode: decodeBaseline })
  )
}

/** What tells the gates of a workflow apart. */
export function keyOf(
  { occasion }: Ports,
  { matrix, name }: Settings
): Pick<Parameters<BaselineStore['artifactName']>[0], 'matrix' | 'name'> {
  return { matrix, name: name === defaultName(occasion) ? undefined : name }
}
