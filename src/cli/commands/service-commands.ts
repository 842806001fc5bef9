import { resolve } from 'node:path'
import { readServiceConfig } from '../../service/config/parse-config.js'
import { ROLES } from '../../service/config/config.js'
import { LONGEST_TOKEN_DAYS } from '../../contract/api/requests.js'
import { parseChoice, parseDurationSeconds, parseInteger } from '../../contract/setting-values.js'
import { flagsOf, UsageError, valueOf, type Arguments } from '../arguments.js'
import { JSON_FLAG } from './baseline-commands.js'
import { count } from '../../contract/text.js'
import { formatBytes } from '../../report/escape.js'
import type { CommandPorts, Pruned, Runnable, Users } from '../ports.js'
import { plain, say, table } from '../screen.js'

const USER_FLAGS = flagsOf({
  'config <file>': 'Config file of the service (service.yml), which says where its data is. Required.',
  ...JSON_FLAG
})
const ROLE_FLAG = {
  'role <role>':
    'What the user may do: admin (everything), member (run, and stop what is theirs) or viewer (read). Required.'
}
const DAYS_FLAG = {
  'days <number>': `After how many days the token ends, up to ${LONGEST_TOKEN_DAYS}. Default: it does not end.`
}

function readDays(args: Arguments): number | undefined {
  return valueOf(args, 'days', (text) => parseInteger(text, { least: 1, most: LONGEST_TOKEN_DAYS }))
}

export function readConfig(
  args: Arguments,
  { workspace }: CommandPorts
): ReturnType<typeof readServiceConfig> {
  if (args.has('config')) return readServiceConfig(resolve(workspace, args.text('config')))
  throw new UsageError('give the config file of the service with --config <file>: it says where the data is')
}

function userCommand(
  act: (users: Users, name: string) => { json: unknown; text: string; notes?: string[] }
): Runnable {
  const run: Runnable['run'] = async (args, ports) => {
    const { dataDir } = await readConfig(args, ports)
    const users = await ports.openUsers(dataDir)
    try {
      const { json, text, notes = [] } = act(users, args.words[0] ?? '')
      if (!args.has('json')) for (const note of notes) ports.screen.err.write(`${plain(note)}\n`)
      say(ports, args, json, () => text)
      return 0
    } finally {
      users.close()
    }
  }
  return { flags: USER_FLAGS, run }
}

/** `loadgate user add <name>`: shows the token, this one time. */
export const add: Runnable = {
  flags: [...flagsOf({ ...ROLE_FLAG, ...DAYS_FLAG }), ...USER_FLAGS],
  run: (args, ports) => {
    const role = valueOf(args, 'role', (text) => parseChoice(text, ROLES))
    if (role === undefined) throw new UsageError(`give the role of the user with --role: ${ROLES.join(', ')}`)
    const days = readDays(args)
    const { run } = userCommand((users, name) => {
      const added = users.add(name, role, days)
      return tellToken(added, `Added ${added.name} (${added.role}).`)
    })
    return run(args, ports)
  }
}

/** `loadgate user rotate <name>`: another token for the same user. */
export const rotate: Runnable = {
  flags: [...flagsOf(DAYS_FLAG), ...USER_FLAGS],
  run: (args, ports) => {
    const days = readDays(args)
    return userCommand((users, typed) => tellRotated(users.rotate(typed, days))).run(args, ports)
  }
}

function tellRotated(rotated: ReturnType<Users['rotate']>) {
  const { name, role, waitingRuns, runsAtWork } = rotated
  const left = waitingRuns.length + runsAtWork.length
  const goOn = left === 1 ? 'of their runs goes on' : 'of their runs go on'
  // Plans are code: whoever ends a leaked token wants to know what it has started.
  const note = `${left} ${goOn}, waiting or in progress; an admin can stop them: /?user=${encodeURIComponent(name)}`
  const done = `The earlier token of ${name} (${role}) is no longer valid.`
  return tellToken(rotated, done, left === 0 ? [] : [note])
}

export const remove = userCommand((users, typed) => {
  const { name, role, issuer, waitingRuns, runsAtWork } = users.remove(typed)
  const done = `Removed ${name} (${role}). Their runs are still there.`
  return {
    json: { name, role, removed: true, waiting_runs: waitingRuns, runs_at_work: runsAtWork },
    text: [done, ...noteReturn(name, issuer), ...noteEnd(waitingRuns), ...noteWork(runsAtWork)].join('\n')
  }
})

export const list = userCommand((users) => {
  const listed = users.users().map((user) => {
    const { name, role, createdMs, signIns, currentSignInMs, expiresMs, issuer } = user
    return {
      ...{ name, role, created: timeOf(createdMs), last_seen: timeOf(currentSignInMs), sign_ins: signIns },
      ...{ token_expires: timeOf(expiresMs), issuer: issuer === '' ? null : issuer }
    }
  })
  const hasIssuers = listed.some(({ issuer }) => issuer !== null)
  const rows = listed.map((one) => [
    ...[one.name, one.role, shortTime(one.created), shortTime(one.last_seen)],
    ...[one.issuer === null ? describeEnd(one.token_expires) : '', ...(hasIssuers ? [one.issuer ?? ''] : [])]
  ])
  const text =
    rows.length === 0
      ? 'There are no users yet; `loadgate user add <name> --role admin` adds the first one.'
      : table(['name', 'role', 'created', 'last seen', 'token ends', ...(hasIssuers ? ['issuer'] : [])], rows)
  return { json: listed, text }
})

/** Only the token is on standard output, for `TOKEN=$(loadgate user add …)`. */
function tellToken(made: ReturnType<Users['add']>, done: string, notes: string[] = []) {
  const { name, role, token, expiresMs } = made
  const save = 'Save the token now: it is not shown again.'
  if (expiresMs === undefined)
    return { json: { name, role, token }, text: token, notes: [done, ...notes, save] }
  const expires = new Date(expiresMs).toISOString()
  const end = `It ends on ${expires.slice(0, 10)}; whoever uses it is warned two weeks before.`
  return {
    json: { name, role, token, token_expires: expires },
    text: token,
    notes: [done, ...notes, save, end]
  }
}

function describeEnd(time: string | null): string {
  if (time === null) return 'never'
  const isOver = Date.parse(time) <= Date.now()
  return isOver ? `expired ${time.slice(0, 10)}` : time.slice(0, 10)
}

/** Such a user is whom a token of its issuer names. */
function noteReturn(name: string, issuer: string): string[] {
  if (issuer === '') return []
  return [
    `${name} comes from ${issuer}: a new user of that name is made with its next request, as long as a rule of oidc in the config file lets it in. To keep it out, change the rules and restart the service.`
  ]
}

/** By the service, if it runs. */
function noteEnd({ length }: readonly string[]): string[] {
  if (length === 0) return []
  const are = length === 1 ? 'is' : 'are'
  return [
    `${length} of their runs ${are} waiting and will end without starting, when their turn comes or when the service is started again.`
  ]
}

function noteWork(ids: readonly string[]): string[] {
  if (ids.length === 0) return []
  const goOn = ids.length === 1 ? 'is in progress and goes on' : 'are in progress and go on'
  return [
    `${ids.length} of their runs ${goOn}; an admin can stop each on its page, /runs/<id>, or with \`loadgate stop <id>\`:`,
    ...ids.map((id) => `  ${id}`)
  ]
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

function shortTime(time: string | null): string {
  return time?.slice(0, 16).replace('T', ' ') ?? 'never'
}

const PRUNE_FLAGS = flagsOf({
  'config <file>':
    'Config file of the service (service.yml), which says where its data is and what to keep. Required.',
  'at-least <duration>':
    'How long each run stays after its end, instead of `retention.at-least` of the config file: `0` deletes all that is beyond the limits. Pinned runs always stay.',
  'dry-run': 'List what would be deleted, and delete nothing.',
  ...JSON_FLAG
})

/** `loadgate prune`: what the service does by itself every hour, now. */
export const prune: Runnable = { flags: PRUNE_FLAGS, run: runPruneCommand }

async function runPruneCommand(args: Arguments, ports: CommandPorts): Promise<number> {
  const { dataDir, retention: configured } = await readConfig(args, ports)
  const atLeastSec = valueOf(args, 'at-least', (text) => parseDurationSeconds(text, 0))
  const retention = { ...configured, ...(atLeastSec !== undefined && { atLeastMs: atLeastSec * 1000 }) }
  const isDry = args.has('dry-run')
  const pruned = await ports.prune({ dataDir, retention, isDry })
  const bytes = pruned.reduce((sum, { run }) => sum + run.bytes, 0)
  const runs = pruned.map(({ run: { id, project, createdMs, bytes: size }, why }) => {
    return { id, project, created: new Date(createdMs).toISOString(), bytes: size, why }
  })
  const { days, bytes: most, runsPerProject } = retention
  const hasLimits = [days, most, runsPerProject].some((limit) => limit !== undefined)
  say(ports, args, { dry_run: isDry, bytes, runs }, () =>
    hasLimits
      ? describePruned(pruned, { isDry, bytes })
      : 'The config file has no limits in retention, so every run is kept.'
  )
  return 0
}

function describePruned(pruned: Pruned, { isDry, bytes }: { isDry: boolean; bytes: number }): string {
  if (pruned.length === 0) return 'No run that may be deleted is beyond the limits of the config file.'
  const lines = pruned.map(({ run, why }) => `  ${run.id}  ${formatBytes(run.bytes)}  ${why}`)
  const all = `${count(pruned.length, 'run')}, ${formatBytes(bytes)}`
  return `${isDry ? 'Would delete' : 'Deleted'} ${all}:\n${lines.join('\n')}`
}
