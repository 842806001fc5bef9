// A workflow step as the runner starts it: inputs and files in the environment, the committed bundle as a process.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../dist/main/index.js', import.meta.url))

const GRIDS = `
- region: us-east-1
  instance_quantity: 2
  instance_type: m5.large
  infrastructure: demand
  stop_after: 60
`

/** A workspace with a plan, and the files that the runner gives to a step. */
export async function makeWorkspace() {
  const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-bench-'))
  const workspace = path.join(folder, 'workspace')
  await mkdir(workspace)
  await mkdir(path.join(folder, 'temp'))
  await writeFile(path.join(workspace, 'plan.jmx'), '<jmeterTestPlan/>')
  for (const name of ['output', 'state', 'summary', 'env', 'path'])
    await writeFile(path.join(folder, name), '')
  return { folder, workspace, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** The environment of a step that creates a run from files, and nothing else: a developer's variables stay out. */
export function stepEnvironment({ folder, workspace }, inputs) {
  const given = { grids: GRIDS, thresholds: 'apdex >= 0.85', token: 'bench-token', ...inputs }
  const names = Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])
  return {
    ...Object.fromEntries(names),
    PATH: process.env.PATH,
    HOME: folder,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: workspace,
    GITHUB_REPOSITORY: 'shop/shop',
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REF_NAME: 'main',
    GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_OUTPUT: path.join(folder, 'output'),
    GITHUB_STATE: path.join(folder, 'state'),
    GITHUB_STEP_SUMMARY: path.join(folder, 'summary'),
    GITHUB_ENV: path.join(folder, 'env'),
    GITHUB_PATH: path.join(folder, 'path'),
    RUNNER_TEMP: path.join(folder, 'temp')
  }
}

/** Starts Node with these arguments; `ended` resolves with its output and exit code. */
export function startNode(args, { cwd, env } = {}) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += bytes))
  const ended = new Promise((resolve) => child.once('close', (code) => resolve({ code, text })))
  return { child, ended }
}
