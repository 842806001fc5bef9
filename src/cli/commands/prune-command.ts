import { resolve } from 'node:path'
import type { Retention } from '../../service/config/config.js'
import { readServiceConfig } from '../../service/config/parse-config.js'
import { type Arguments, type Flag, UsageError } from '../arguments.js'
import { JSON_FLAG } from './baseline-commands.js'
import { plain, safeJson, type Screen } from '../screen.js'

export interface PrunePorts {
  readonly screen: Screen
  readonly workspace: string
  /** Deletes what is beyond the limits, or only finds it. The service may be running. */
  prune(request: { dataDir: string; retention: Retention; isDry: boolean }): Promise<readonly PrunedRun[]>
}

interface PrunedRun {
  readonly run: {
    readonly id: string
    readonly project: string | null
    readonly createdMs: number
    readonly bytes: number
  }
  readonly why: string
}

export const PRUNE_FLAGS: readonly Flag[] = [
  {
    name: 'config',
    value: 'file',
    about:
      'Config file of the service (service.yml), which says where its data is and what to keep. Required.'
  },
  { name: 'dry-run', about: 'List what would be deleted, and delete nothing.' },
  JSON_FLAG
]

/** `loadgate prune`: what the service does by itself every hour, now. */
export async function runPruneCommand(args: Arguments, ports: PrunePorts): Promise<number> {
  const file = args.text('config')
  if (file === '') throw new UsageError('`loadgate prune` needs the config file of the service, --config')
  const { dataDir, retention } = await readServiceConfig(resolve(ports.workspace, file))
  const isDry = args.has('dry-run')
  const pruned = await ports.prune({ dataDir, retention, isDry })
  const bytes = pruned.reduce((sum, { run }) => sum + run.bytes, 0)
  ports.screen.out.write(
    args.has('json')
      ? safeJson({
          dry_run: isDry,
          bytes,
          runs: pruned.map(({ run, why }) => ({
            ...{ id: run.id, project: run.project, created: new Date(run.createdMs).toISOString() },
            ...{ bytes: run.bytes, why }
          }))
        })
      : describe(pruned, {
          isDry,
          bytes,
          hasLimits: Object.values(retention).some((limit) => limit !== undefined)
        })
  )
  return 0
}

function describe(
  pruned: readonly PrunedRun[],
  { isDry, bytes, hasLimits }: { isDry: boolean; bytes: number; hasLimits: boolean }
): string {
  if (!hasLimits) return 'The config file has no retention, so every run is kept.\n'
  if (pruned.length === 0) return 'No run is beyond the limits of the config file.\n'
  const lines = pruned.map(({ run, why }) => plain(`  ${run.id}  ${formatSize(run.bytes)}  ${why}`))
  const count = `${pruned.length} ${pruned.length === 1 ? 'run' : 'runs'}, ${formatSize(bytes)}`
  return `${isDry ? 'Would delete' : 'Deleted'} ${count}:\n${lines.join('\n')}\n`
}

function formatSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1)
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${units[power]}`
}
