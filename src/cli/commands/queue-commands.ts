import { resolve } from 'node:path'
import { count } from '../../contract/text.js'
import { flagsOf, UsageError, type Arguments } from '../arguments.js'
import type { CommandPorts, OpenQueue, Runnable } from '../ports.js'
import { say, table } from '../screen.js'
import { JSON_FLAG } from './baseline-commands.js'
import { readConfig } from './service-commands.js'

const FLAGS = flagsOf({
  'config <file>': 'Config file of the service (service.yml), which says where its data is.',
  'data <folder>': 'The data folder of a service for one person, instead of --config.',
  ...JSON_FLAG
})

function queueCommand(act: (queue: OpenQueue) => string | undefined): Runnable {
  const run: Runnable['run'] = async (args, ports) => {
    const queue = await ports.openQueue(await findData(args, ports))
    try {
      const done = act(queue)
      const held = queue.why() ?? null
      const waiting = queue.waiting()
      const runs = waiting.map(({ id, user, request, createdMs }) => {
        const created = new Date(createdMs).toISOString()
        return { id, name: request.name, project: request.project, user: user?.name ?? null, created }
      })
      say(ports, args, { held, runs }, () => done ?? describe(held, runs))
      return 0
    } finally {
      queue.close()
    }
  }
  return { flags: FLAGS, run }
}

async function findData(args: Arguments, ports: CommandPorts): Promise<string> {
  if (args.has('config') && args.has('data'))
    throw new UsageError('--config says where the data is; leave out --data')
  return args.has('data')
    ? resolve(ports.workspace, args.text('data'))
    : (await readConfig(args, ports)).dataDir
}

/** `loadgate queue`: who waits, and why nobody starts. */
export const show = queueCommand(() => undefined)

export const hold = queueCommand((queue) => {
  queue.hold()
  return 'No queued run starts any more, until `loadgate queue resume`. Runs at work go on.'
})

export const resume = queueCommand((queue) => {
  const why = queue.why()
  if (why === undefined) return 'The queue is not held.'
  queue.release()
  const { length } = queue.waiting()
  return `The queue is no longer held; ${count(length, 'waiting run')} can start within seconds, if the service runs. Those that have run before end as problem.`
})

interface WaitingRun {
  readonly id: string
  readonly name: string | null
  readonly project: string | null
  readonly user: string | null
  readonly created: string
}

function describe(held: string | null, runs: readonly WaitingRun[]): string {
  const state =
    held === null
      ? 'The queue is not held.'
      : `The queue is held: ${held}. \`loadgate stop <id>\` stops a run that must not start, \`loadgate queue resume\` lets the others go.`
  if (runs.length === 0) return `${state}\nNo run is waiting.`
  const rows = runs.map(({ id, created, user, project, name }) => [
    ...[id, created.slice(0, 16).replace('T', ' ')],
    ...[user, project, name].map((text) => text ?? '–')
  ])
  return `${state}\n${table(['run', 'created', 'user', 'project', 'name'], rows)}`
}
