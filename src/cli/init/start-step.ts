import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** How the workflow starts the application: found in the folder, or left open. */
export type Start =
  | { readonly kind: 'compose' | 'dockerfile' | 'unknown' | 'elsewhere' }
  | { readonly kind: 'node'; readonly manager: 'npm' | 'pnpm' | 'yarn'; readonly hasLock: boolean }

const COMPOSE_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']
const MOST_BYTES = 1024 * 1024

/** Compose comes first: where there is one, the application needs more than itself. */
export async function findStart(folder: string): Promise<Start> {
  const has = async (name: string): Promise<boolean> =>
    (await stat(join(folder, name)).catch(() => undefined))?.isFile() ?? false
  for (const name of COMPOSE_FILES) if (await has(name)) return { kind: 'compose' }
  if ((await has('package.json')) && (await hasStartScript(join(folder, 'package.json')))) {
    if (await has('pnpm-lock.yaml')) return { kind: 'node', manager: 'pnpm', hasLock: true }
    if (await has('yarn.lock')) return { kind: 'node', manager: 'yarn', hasLock: true }
    return { kind: 'node', manager: 'npm', hasLock: await has('package-lock.json') }
  }
  return { kind: (await has('Dockerfile')) ? 'dockerfile' : 'unknown' }
}

async function hasStartScript(path: string): Promise<boolean> {
  if ((await stat(path)).size > MOST_BYTES) return false
  try {
    const { scripts } = JSON.parse(await readFile(path, 'utf8')) as { scripts?: { start?: unknown } }
    return typeof scripts?.start === 'string'
  } catch {
    // Not ours to complain about.
    return false
  }
}

export function describeStart(start: Start): string {
  switch (start.kind) {
    case 'compose':
      return 'docker compose'
    case 'dockerfile':
      return 'the Dockerfile'
    case 'node':
      return `${start.manager} start`
    case 'elsewhere':
      return 'nothing: it runs elsewhere'
    case 'unknown':
      return 'nothing yet'
  }
}

/** Relative to the folder in which `loadgate init` runs, with slashes on every system. */
export const PLAN_PATH = 'load/plan.jmx'
export const CONFIG_PATH = '.github/loadgate.yml'
export const WORKFLOW_PATH = '.github/workflows/loadgate.yml'
