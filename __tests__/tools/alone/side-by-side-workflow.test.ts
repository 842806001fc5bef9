import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { removeFolder } from '../../support/remove-folder.js'

// examples/workflows/side-by-side.yml as it is, with act and real JMeter, in a repository whose last commit is the head.

interface Judged {
  readonly text: string
  readonly outcome?: string
}
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
    output: 'pipe'
  }) => Promise<{ code: number; text: string; verdict?: { verdict: string; thresholds: readonly Judged[] } }>
}
const ROOT = path.join(import.meta.dirname, '../../..')
const script = new URL('../../../scripts/act.mjs', import.meta.url).href
const { hasAct, installAct, findPort, runWorkflow } = (await import(script)) as ActScript

const MINUTES = 60_000
/** Where tools are required, act is installed. */
const lacksAct = !hasAct() && process.env.LOADGATE_REQUIRE_TOOLS === undefined
const testWithAct = lacksAct ? test.skip : test
const note = lacksAct ? ' (skipped: there is no act; `scripts/act-local.mjs` installs it)' : ''
const SERVER = 'examples/side-by-side/server.mjs'

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'loadgate-side-by-side-'))
  if (!lacksAct) await installAct()
}, 15 * MINUTES)
afterAll(() => removeFolder(folder))

/** A repository of two commits: the base, and a head whose server takes `serviceMs`. */
function makeRepository(name: string, serviceMs: number): string {
  const root = path.join(folder, name)
  for (const part of ['action.yml', 'package.json', 'dist', 'java/jars', 'examples'])
    cpSync(path.join(ROOT, part), path.join(root, part), { recursive: true })
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], { cwd: root })
  git('init', '--quiet', '--initial-branch', 'main')
  git('remote', 'add', 'origin', 'https://github.com/octo/shop.git')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Base')
  const server = path.join(root, SERVER)
  writeFileSync(server, readFileSync(server, 'utf8').replace(/SERVICE_MS = \d+/, `SERVICE_MS = ${serviceMs}`))
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', 'Head')
  return root
}

// That no change is not broken is tried by `npm run bench -- side-by-side`.
testWithAct(
  `the workflow finds a slower server${note}`,
  async () => {
    const { code, text, verdict } = await runWorkflow({
      root: makeRepository('slower', 80),
      event: 'pull_request',
      workflow: 'examples/workflows/side-by-side.yml',
      variables: { BASE_PORT: await findPort(), HEAD_PORT: await findPort(), ROUNDS: 5 },
      artifacts: new ArtifactService(),
      output: 'pipe'
    })
    const mean = verdict?.thresholds.find((line) => line.text.startsWith('mean '))
    expect({ verdict: verdict?.verdict ?? text, code, outcome: mean?.outcome }).toEqual({
      verdict: 'failed',
      code: 1,
      outcome: 'broken'
    })
  },
  10 * MINUTES
)
