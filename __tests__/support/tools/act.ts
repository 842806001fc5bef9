import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import path from 'node:path'
import type { ArtifactService } from '../step/artifact-service.js'

interface ActScript {
  hasAct: () => boolean
  installAct: () => Promise<void>
  findPort: () => Promise<number>
  runWorkflow: (options: {
    root: string
    event: string
    workflow: string
    variables: Readonly<Record<string, string | number>>
    artifacts: ArtifactService
    actions?: Readonly<Record<string, string>>
    output: 'pipe'
  }) => Promise<{ code: number; text: string; verdict?: Verdict }>
}
interface Verdict {
  readonly verdict: string
  readonly thresholds: readonly { readonly text: string; readonly outcome?: string }[]
  readonly metrics: { readonly labels: readonly { readonly label: string }[] }
}

const ROOT = path.join(import.meta.dirname, '../../..')
const script = new URL('../../../scripts/act.mjs', import.meta.url).href
const act = (await import(script)) as ActScript
export const { installAct, findPort, runWorkflow } = act

/** Where tools are required, act is installed. */
export const lacksAct = !act.hasAct() && process.env.LOADGATE_REQUIRE_TOOLS === undefined
export const actNote = lacksAct ? ' (skipped: there is no act; `scripts/act-local.mjs` installs it)' : ''

/** A repository of one commit with these parts of this one; returns what runs git in it. */
export function makeRepository(root: string, parts: readonly string[]): (...args: string[]) => void {
  for (const part of parts) cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true })
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: root })
  }
  git('init', '--quiet', '--initial-branch', 'main')
  git('remote', 'add', 'origin', 'https://github.com/octo/shop.git')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Base')
  return git
}
