import { resolve } from 'node:path'
import { readServiceConfig } from '../../service/config/parse-config.js'
import { type Role, ROLES } from '../../service/config/config.js'
import { type Arguments, type Flag, UsageError } from '../arguments.js'
import { JSON_FLAG } from './baseline-commands.js'
import { plain, safeJson, table } from '../screen.js'

export interface UserPorts {
  /** To standard output; rejects if it was not taken. What is shown once must be seen: it is not to go to /dev/null either. */
  print(text: string, options: { readonly mustBeSeen: boolean }): Promise<void>
  readonly workspace: string
  /** The users in the data folder of a service, which may be running. */
  openUsers(dataDir: string): Promise<Users>
}

interface NamedUser {
  readonly name: string
  readonly role: Role
}

/** With the token that was just made. */
interface UserWithToken extends NamedUser {
  readonly token: string
}

/** Whose token has ended. */
interface FormerUser extends NamedUser {
  /** The ids of their runs that have not started. */
  readonly waitingRuns: readonly string[]
  readonly runsAtWork: readonly string[]
}

interface ListedUser extends NamedUser {
  readonly createdMs: number
  readonly signIns: number
  readonly currentSignInMs: number | null
}

export interface Users {
  add(name: string, role: Role): UserWithToken
  users(): readonly ListedUser[]
  rotate(name: string): UserWithToken & FormerUser
  remove(name: string): FormerUser
  close(): void
}

const CONFIG_FLAG: Flag = {
  name: 'config',
  value: 'file',
  about: 'Config file of the service (service.yml), which says where its data is. Required.'
}
const ROLE_FLAG: Flag = {
  name: 'role',
  value: 'role',
  about:
    'What the user may do: admin (everything), member (run, and stop what is theirs) or viewer (read). Required.'
}

export const USER_FLAGS: readonly Flag[] = [CONFIG_FLAG, JSON_FLAG]
export const USER_ADD_FLAGS: readonly Flag[] = [ROLE_FLAG, ...USER_FLAGS]

/** `loadgate user add <name>`: shows the token, this one time. */
export async function runUserAddCommand(args: Arguments, ports: UserPorts): Promise<number> {
  const role = readRole(args)
  return withUsers(args, ports, (users) => {
    const added = users.add(nameIn(args), role)
    return tellToken(added, { done: `Added ${added.name} (${added.role}).`, note: '' })
  })
}

/** `loadgate user rotate <name>`: another token for the same user. */
export async function runUserRotateCommand(args: Arguments, ports: UserPorts): Promise<number> {
  return withUsers(args, ports, (users) => {
    const rotated = users.rotate(nameIn(args))
    const done = `The earlier token of ${rotated.name} (${rotated.role}) has ended.`
    return tellToken(rotated, { done, note: noteRuns(rotated) })
  })
}

export async function runUserRemoveCommand(args: Arguments, ports: UserPorts): Promise<number> {
  return withUsers(args, ports, (users) => {
    const removed = users.remove(nameIn(args))
    const { name, role, waitingRuns, runsAtWork } = removed
    const done = plain(`Removed ${name} (${role}). Their runs are still there.`)
    return {
      json: { name, role, removed: true, waiting_runs: waitingRuns, runs_at_work: runsAtWork },
      text: `${done}\n${noteEnd(waitingRuns)}${noteWork(runsAtWork)}`,
      done
    }
  })
}

export async function runUserListCommand(args: Arguments, ports: UserPorts): Promise<number> {
  return withUsers(args, ports, (users) => {
    const listed = users.users()
    return { json: listed.map(documentOf), text: describeUsers(listed) }
  })
}

interface Answer {
  readonly json: unknown
  readonly text: string
  /** For whoever cannot read the text: what was done all the same. */
  readonly done?: string
  /** And what to do. */
  readonly remedy?: string
}

async function withUsers(args: Arguments, ports: UserPorts, act: (users: Users) => Answer): Promise<number> {
  if (!args.has('config'))
    throw new UsageError(
      'give the config file of the service with --config <file>: it says where the users are'
    )
  const { dataDir } = await readServiceConfig(resolve(ports.workspace, args.text('config')))
  const { json, text, done, remedy = '' } = useUsers(await ports.openUsers(dataDir), act)
  const answer = args.has('json') ? safeJson(json) : text
  await ports.print(answer, { mustBeSeen: remedy !== '' }).catch((thrown: unknown) => {
    const why = `the answer could not be written to standard output (${(thrown as Error).message})`
    throw new Error(done === undefined ? why : `${done} But ${why}.${remedy}`, { cause: thrown })
  })
  return 0
}

function useUsers<T>(users: Users, act: (users: Users) => T): T {
  try {
    return act(users)
  } finally {
    users.close()
  }
}

function nameIn({ words }: Arguments): string {
  return words[0] ?? ''
}

function readRole(args: Arguments): Role {
  const given = args.text('role')
  const role = ROLES.find((known) => known === given)
  const roles = ROLES.join(', ')
  if (role !== undefined) return role
  throw new UsageError(
    given === ''
      ? `give the role of the user with --role: ${roles}`
      : `there is no role ${JSON.stringify(given)}; --role takes one of ${roles}`
  )
}

function tellToken(
  { name, role, token }: UserWithToken,
  { done, note }: { done: string; note: string }
): Answer {
  return {
    json: { name, role, token },
    text: `${plain(done)}\nToken: ${token}\nKeep it now: it is not shown again.\n${note}`,
    done: plain(done),
    remedy: ` \`loadgate user rotate ${name}\` gives another token.`
  }
}

/** Plans are code: whoever ends a leaked token wants to know what it has started. */
function noteRuns({ name, waitingRuns, runsAtWork }: FormerUser): string {
  const count = waitingRuns.length + runsAtWork.length
  if (count === 0) return ''
  const go = count === 1 ? 'run of theirs goes on' : 'runs of theirs go on'
  const list = `/?user=${encodeURIComponent(name)}`
  return plain(`${count} ${go}, waiting or at work; an admin can stop them: ${list}`) + '\n'
}

/** By the service, if it runs. */
function noteEnd({ length }: readonly string[]): string {
  if (length === 0) return ''
  const waiting = length === 1 ? '1 run of theirs that waits ends' : `${length} runs of theirs that wait end`
  return `${waiting} without being started: within 10 seconds if they are in the queue, else once they have got ready, or when the service starts next.\n`
}

function noteWork(ids: readonly string[]): string {
  const [first, ...others] = ids.map(plain)
  if (first === undefined) return ''
  if (others.length === 0)
    return `1 run of theirs is at work and goes on; an admin stops it on its page, /runs/${first}, or with \`loadgate stop ${first}\`.\n`
  const list = ids.map((id) => `  ${plain(id)}\n`).join('')
  return `${ids.length} runs of theirs are at work and go on; an admin stops each on its page, /runs/<id>, or with \`loadgate stop <id>\`:\n${list}`
}

function documentOf({ name, role, createdMs, signIns, currentSignInMs }: ListedUser): object {
  return { name, role, created: timeOf(createdMs), last_seen: timeOf(currentSignInMs), sign_ins: signIns }
}

function describeUsers(users: readonly ListedUser[]): string {
  if (users.length === 0)
    return 'There are no users yet; `loadgate user add <name> --role admin` adds the first one.\n'
  const rows = users.map(({ name, role, createdMs, currentSignInMs }) => [
    name,
    role,
    shortTimeOf(createdMs),
    shortTimeOf(currentSignInMs)
  ])
  return `${plain(table(['name', 'role', 'created', 'last seen'], rows))}\n`
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

function shortTimeOf(ms: number | null): string {
  return timeOf(ms)?.slice(0, 16).replace('T', ' ') ?? 'never'
}
