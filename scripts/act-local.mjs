// Runs examples/workflows/local-gate.yml with act, on this machine and without Docker: once with a shop that is fast
// enough for the gate, once with one that is not. The first time, Go installs a pinned version of act into .cache/.
import '../__tests__/support/typescript-hooks.mjs'
import { findPort, installAct, runWorkflow } from './act.mjs'

const CASES = [
  { verdict: 'passed', delayMs: 5, succeeds: true },
  { verdict: 'failed', delayMs: 900, succeeds: false }
]

await installAct()
const { ArtifactService } = await import('../__tests__/support/step/artifact-service.ts')

const failures = []
for (const { verdict, delayMs, succeeds } of CASES) {
  console.log(`\n=== a shop that takes ${delayMs} ms: the gate must end as ${verdict}`)
  const { code, verdict: document } = await runWorkflow({
    workflow: 'examples/workflows/local-gate.yml',
    variables: { SHOP_DELAY_MS: delayMs, SHOP_PORT: await findPort() },
    artifacts: new ArtifactService()
  })
  const found = document?.verdict
  if ((code === 0) !== succeeds || found !== verdict)
    failures.push(`expected ${verdict}, found ${found ?? 'no verdict.json'} and exit code ${code}`)
}
console.log(failures.length === 0 ? '\nBoth ended as expected.' : `\n${failures.join('\n')}`)
process.exitCode = failures.length === 0 ? 0 : 1
