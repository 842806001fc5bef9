// Runs a workflow with act, on this machine and without Docker.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const ACT_VERSION = 'v0.2.89'
const ACT = path.join(ROOT, `.cache/workflow-tools/act-${ACT_VERSION}/act`)

export function hasAct() {
  return existsSync(ACT)
}

/** Go installs a pinned version into .cache/, once. */
export async function installAct() {
  if (hasAct()) return
  console.log(`Installing act ${ACT_VERSION}; this takes a few minutes.`)
  const env = { ...process.env, GOBIN: path.dirname(ACT) }
  const { code } = await run('go', ['install', `github.com/nektos/act@${ACT_VERSION}`], { cwd: ROOT, env })
  if (code !== 0) throw new Error('could not install act; it needs Go')
}

/**
 * Returns act's exit code and output, and the verdict document in the artifact that the step uploaded. `artifacts` is the tests'
 * stand-in for the artifact service: act's own does not accept what the current client sends. `actions` are folders in place of
 * actions of others, by `owner/name@commit`.
 */
export async function runWorkflow({
  root = ROOT,
  event = 'push',
  workflow,
  variables,
  artifacts,
  actions = {},
  output = 'inherit'
}) {
  await artifacts.start()
  const args = [
    ...[event, '--workflows', workflow, '--platform', 'ubuntu-latest=-self-hosted'],
    ...Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}=${value}`]),
    ...Object.entries(actions).flatMap(([name, folder]) => ['--local-repository', `${name}=${folder}`]),
    ...Object.entries(artifacts.env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  ]
  // The action's steps take `node` from the PATH; a runner has Node 24.
  const env = {
    ...process.env,
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`
  }
  try {
    const { code, text } = await run(ACT, args, { cwd: root, env }, output)
    const [files] = [...artifacts.artifacts.values()]
    const document = files?.get('verdict.json')?.toString()
    return { code, text, verdict: document && JSON.parse(document) }
  } finally {
    await artifacts.stop()
  }
}

export function findPort() {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  )
}

function run(command, args, options, output = 'inherit') {
  const child = spawn(command, args, { ...options, stdio: ['ignore', output, output] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk))
  return new Promise((resolve, reject) =>
    child.once('error', reject).once('close', (code) => resolve({ code, text }))
  )
}
