import { listOf, type Note, readMap, readText, within } from '../../contract/regions/read-parts.js'
import type { ProjectConfig, ProjectUser } from './config.js'
import { Keys } from './keys.js'

export const PROJECT_KEYS = {
  members:
    'Users who see the runs of the project and create runs in it: names, in which `*` stands for any characters but `/`, or maps of claims that their tokens have.',
  viewers: 'Users who see the runs of the project.'
} as const

/** A map from the names of projects to their users. An empty one is a choice: then nobody but its creator and admins sees a private run. */
export function readProjects(value: unknown, note: Note): ReadonlyMap<string, ProjectConfig> | undefined {
  const given = readMap(value, note)
  return given && new Map([...given].map(([name, users]) => [name, readProject(users, within(note, name))]))
}

function readProject(value: unknown, note: Note): ProjectConfig {
  const keys = new Keys(value, PROJECT_KEYS, note)
  const readUsers = listOf(readUser)
  return { members: keys.take('members', readUsers) ?? [], viewers: keys.take('viewers', readUsers) ?? [] }
}

function readUser(value: unknown, note: Note): ProjectUser | undefined {
  if (typeof value !== 'object' || value === null) {
    const name = readText(value, note)
    return name === undefined ? undefined : { name }
  }
  const given = readMap(value, note)
  if (given === undefined) return undefined
  if (given.size === 0)
    note('has no claim and would be everyone; add one, such as { repository: acme/shop } or { groups: perf }')
  const claims = [...given].flatMap(([claim, pattern]) => {
    const text = readText(pattern, within(note, claim))
    return text === undefined ? [] : [[claim, text] as const]
  })
  return claims.length === 0 ? undefined : { claims }
}
