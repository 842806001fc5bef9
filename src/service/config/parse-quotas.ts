import { type Note, readMap, within } from '../../contract/regions/read-parts.js'
import type { QuotaLimits, Quotas } from './config.js'
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
  project: 'For each project; runs without a project count as those of one.',
  users: 'For users by name: what is given here counts instead.',
  projects: 'For projects by name: what is given here counts instead.'
} as const

export const NO_QUOTAS: Quotas = { user: {}, project: {}, users: new Map(), projects: new Map() }

export function readQuotas(value: unknown, note: Note): Quotas {
  const keys = new Keys(value, QUOTAS_KEYS, note)
  return {
    user: keys.take('user', readLimits) ?? {},
    project: keys.take('project', readLimits) ?? {},
    users: keys.take('users', readNamed) ?? new Map(),
    projects: keys.take('projects', readNamed) ?? new Map()
  }
}

function readNamed(value: unknown, note: Note): Map<string, QuotaLimits> {
  const names = [...(readMap(value, note) ?? [])]
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
