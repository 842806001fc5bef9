import { type Note, readMap, within } from '../../contract/regions/read-parts.js'
import type { QuotaLimits, Quotas } from './config.js'
import { readByProject } from './parse-projects.js'
import { atLeastOne, Keys, parsing, parseSize } from './keys.js'

/** How much a user or a project may have at a time. */
export const QUOTA_KEYS = {
  'waiting-runs': 'Runs in the queue at most; a further one is refused (429).',
  nodes: 'Nodes at work at most; further runs wait.',
  'upload-per-day': 'Bytes of uploads at most in a day (UTC), such as `5GB`; more are refused (413).',
  disk: 'Size of uploads and results at most, such as `50GB`; further runs are refused (507).'
} as const

export const QUOTAS_KEYS = {
  user: 'For each user.',
  project:
    'For each project; one that is not in `projects`, or no project, counts for each creator by itself.',
  users:
    'For users by name, as in `projects`: what is given here counts instead, for each of them; of several names that mean a user, the first.',
  projects: 'For projects by name: what is given here counts instead.'
} as const

export const NO_QUOTAS: Quotas = { user: {}, project: {}, users: new Map(), projects: new Map() }

export function readQuotas(value: unknown, note: Note): Quotas {
  const keys = new Keys(value, QUOTAS_KEYS, note)
  return {
    user: keys.take('user', readLimits) ?? {},
    project: keys.take('project', readLimits) ?? {},
    users: keys.take('users', readNamed) ?? new Map(),
    projects: keys.take('projects', (given, noteIt) => readNamed(given, noteIt, readByProject)) ?? new Map()
  }
}

function readNamed(value: unknown, note: Note, read = readMap): Map<string, QuotaLimits> {
  const names = [...(read(value, note) ?? [])]
  return new Map(names.map(([name, limits]) => [name, readLimits(limits, within(note, name))]))
}

function readLimits(value: unknown, note: Note): QuotaLimits {
  const keys = new Keys(value, QUOTA_KEYS, note)
  const given: QuotaLimits = {
    'waiting-runs': keys.take('waiting-runs', parsing(atLeastOne)),
    nodes: keys.take('nodes', parsing(atLeastOne)),
    'upload-per-day': keys.take('upload-per-day', parsing(parseSize)),
    disk: keys.take('disk', parsing(parseSize))
  }
  return Object.fromEntries(Object.entries(given).filter(([, limit]) => limit !== undefined))
}
