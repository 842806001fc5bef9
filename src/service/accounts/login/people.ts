import type { DatabaseSync } from 'node:sqlite'
import { randomBytes } from 'node:crypto'
import { type LoginConfig, type Role, ROLES } from '../../config/config.js'
import { hashSecret } from '../../secrets.js'
import { type Claims, valuesOf } from '../claims.js'

/** A person as the provider of single sign-on describes them. */
export interface Person {
  readonly issuer: string
  /** Who it is, whatever the name is. */
  readonly subject: string
  /** As the provider has it: any text. */
  readonly name: string
  readonly role: Role
}

/** By the groups in the claim of today's config file: of several, the highest; undefined if they are in none that may use the service. */
export function roleOfGroups(
  config: Pick<LoginConfig, 'groups' | 'groupsClaim'>,
  claims: Claims
): Role | undefined {
  const groups = valuesOf(claims, config.groupsClaim)
  return ROLES.find((role) => config.groups[role].some((group) => groups.includes(group)))
}

/**
 * The id of the person's row, which is made at the first login. Whoever else has the name already, the person gets one of their own,
 * and keeps it: only issuer and subject say who it is, and no name in the config file means a person. The role in the row is for lists.
 */
export function keepPerson(database: DatabaseSync, person: Person, nowMs: number): number {
  const { issuer, subject, role } = person
  const known = database
    .prepare('SELECT id FROM users WHERE issuer = ? AND subject = ?')
    .get(issuer, subject) as unknown as { id: number } | undefined
  if (known) {
    database.prepare('UPDATE users SET role = ? WHERE id = ? AND role != ?').run(role, known.id, role)
    return known.id
  }
  const isTaken = (name: string): boolean =>
    database.prepare('SELECT 1 FROM users WHERE name = ?').get(name) !== undefined
  // Nobody knows the token: it is there because each user has one.
  const token = { id: randomBytes(6).toString('hex'), hash: hashSecret(randomBytes(32).toString('hex')) }
  const { lastInsertRowid } = database
    .prepare(
      'INSERT INTO users (name, role, token_id, token_hash, created_ms, issuer, subject) VALUES (?, ?, ?, ?, ?, ?, ?)'
    )
    .run(chooseName(person.name, isTaken), role, token.id, token.hash, nowMs, issuer, subject)
  return Number(lastInsertRowid)
}

const LONGEST = 64
const FURTHER = 8

/** Made of what names of users are made of, and free: `ada`, `ada-2`, `ada-3`. */
function chooseName(given: string, isTaken: (name: string) => boolean): string {
  const plain = given
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._@+-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
  const name = plain === '' ? 'person' : plain.slice(0, LONGEST)
  if (!isTaken(name)) return name
  for (let number = 2; ; number++) {
    const other = `${name.slice(0, LONGEST - FURTHER)}-${number}`
    if (!isTaken(other)) return other
  }
}
