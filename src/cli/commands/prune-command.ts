import { resolve } from 'node:path'
import { readServiceConfig } from '../../service/config/parse-config.js'
import { count } from '../../contract/text.js'
import { formatBytes } from '../../report/escape.js'
import { flagsOf, type Arguments, UsageError } from '../arguments.js'
import { JSON_FLAG } from './baseline-commands.js'
import type { CommandPorts, Pruned } from '../ports.js'
import { say } from '../screen.js'

export const flags = flagsOf({
  'config <file>':
    'Config file of the service (service.yml), which says where its data is and what to keep. Required.',
  'dry-run': 'List what would be deleted, and delete nothing.',
  ...JSON_FLAG
})

/** `loadgate prune`: what the service does by itself every hour, now. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const file = args.text('config')
  if (file === '') throw new UsageError('`loadgate prune` needs the config file of the service, --config')
  const { dataDir, retention } = await readServiceConfig(resolve(ports.workspace, file))
  const isDry = args.has('dry-run')
  const pruned = await ports.prune({ dataDir, retention, isDry })
  const bytes = pruned.reduce((sum, { run }) => sum + run.bytes, 0)
  const runs = pruned.map(({ run: { id, project, createdMs, bytes: size }, why }) => {
    return { id, project, created: new Date(createdMs).toISOString(), bytes: size, why }
  })
  const hasLimits = Object.values(retention).some((limit) => limit !== undefined)
  say(ports, args, { dry_run: isDry, bytes, runs }, () =>
    hasLimits ? describe(pruned, { isDry, bytes }) : 'The config file has no retention, so every run is kept.'
  )
  return 0
}

function describe(pruned: Pruned, { isDry, bytes }: { isDry: boolean; bytes: number }): string {
  if (pruned.length === 0) return 'No run is beyond the limits of the config file.'
  const lines = pruned.map(({ run, why }) => `  ${run.id}  ${formatBytes(run.bytes)}  ${why}`)
  const all = `${count(pruned.length, 'run')}, ${formatBytes(bytes)}`
  return `${isDry ? 'Would delete' : 'Deleted'} ${all}:\n${lines.join('\n')}`
}
