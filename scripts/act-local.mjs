// Runs examples/workflows/local-gate.yml with act, on this machine and without Docker: once with a shop that is fast
// enough for the gate, once with one that is not. The first time, Go installs a pinned version of act into .cache/.
import '../__tests__/support/typescript-hooks.mjs'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const ACT_VERSION = 'v0.2.89'
const ACT = path.join(ROOT, `.cache/workflow-tools/act-${ACT_VERSION}/act`)
const CASES = [
  { verdict: 'passed', delayMs: 5, succeeds: true },
  { verdict: 'failed', delayMs: 900, succeeds: false }
]

if (!existsSync(ACT)) {
  console.log(`Installing act ${ACT_VERSION}; this takes a few minutes.`)
  const env = { ...process.env, GOBIN: path.dirname(ACT) }
  const code = await run('go', ['install', `github.com/nektos/act@${ACT_VERSION}`], env)
  if (code !== 0) throw new Error('could not install act; it needs Go')
}

const failures = []
for (const { verdict, delayMs, succeeds } of CASES) {
  console.log(`\n=== a shop that takes ${delayMs} ms: the gate must end as ${verdict}`)
  const { code, found } = await runWorkflow(delayMs)
  if ((code === 0) !== succeeds || found !== verdict)
    failures.push(`expected ${verdict}, found ${found ?? 'no verdict.json'} and exit code ${code}`)
}
console.log(failures.length === 0 ? '\nBoth ended as expected.' : `\n${failures.join('\n')}`)
process.exitCode = failures.length === 0 ? 0 : 1

/** Returns act's exit code, and the verdict in the artifact that the step uploaded. */
async function runWorkflow(delayMs) {
  // act's own artifact server does not accept what the current client sends.
  const { ArtifactService } = await import('../__tests__/support/step/artifact-service.ts')
  const artifacts = await new ArtifactService().start()
  const variables = { SHOP_DELAY_MS: delayMs, SHOP_PORT: await findPort() }
  const args = [
    ...[
      'push',
      '--workflows',
      'examples/workflows/local-gate.yml',
      '--platform',
      'ubuntu-latest=-self-hosted'
    ],
    ...Object.entries(variables).flatMap(([name, value]) => ['--var', `${name}=${value}`]),
    ...Object.entries(artifacts.env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  ]
  // The action's steps take `node` from the PATH; a runner has Node 24.
  const env = {
    ...process.env,
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`
  }
  const code = await run(ACT, args, env)
  const [files] = [...artifacts.artifacts.values()]
  await artifacts.stop()
  const text = files?.get('verdict.json')?.toString()
  return { code, found: text && JSON.parse(text).verdict }
}

function run(command, args, env) {
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] })
  return new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
}

function findPort() {
  const server = createServer()
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  )
}
