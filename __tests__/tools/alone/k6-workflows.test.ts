import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ArtifactService } from '../../support/step/artifact-service.js'
import {
  actNote,
  findPort,
  installAct,
  lacksAct,
  makeRepository,
  runWorkflow
} from '../../support/tools/act.js'
import { K6, k6Note, lacksK6 } from '../../support/tools/k6.js'
import { removeFolder } from '../../support/remove-folder.js'

// The workflows of both ways in for users of k6, as they are, with act and real k6.

const MINUTES = 60_000
const testWithAct = lacksAct || lacksK6 ? test.skip : test
const note = lacksAct ? actNote : k6Note

let folder: string
let root: string
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'loadgate-k6-workflows-'))
  root = path.join(folder, 'repository')
  if (!lacksAct) await installAct()
  makeRepository(root, ['action.yml', 'package.json', 'dist', 'examples'])
  writeSetupAction()
}, 15 * MINUTES)
afterAll(() => removeFolder(folder))

/** In place of grafana/setup-k6-action, which downloads k6: puts the one of the tests on the PATH. */
function writeSetupAction(): void {
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  if (path.isAbsolute(K6)) symlinkSync(K6, path.join(bin, 'k6'))
  mkdirSync(path.join(folder, 'setup-k6'))
  writeFileSync(
    path.join(folder, 'setup-k6/action.yml'),
    `name: Set up k6\ndescription: For tests\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo '${bin}' >> "$GITHUB_PATH"\n`
  )
  chmodSync(path.join(folder, 'setup-k6'), 0o755)
}

describe.each([
  { workflow: 'k6-gate.yml', labels: ['check: something was bought', 'checkout', 'home'] },
  { workflow: 'results-gate.yml', labels: ['home'] }
])('examples/workflows/$workflow', ({ workflow, labels }) => {
  testWithAct.each([
    { delayMs: 5, verdict: 'passed', code: 0 },
    { delayMs: 900, verdict: 'failed', code: 1 }
  ])(
    `a shop that takes $delayMs ms: $verdict${note}`,
    async ({ delayMs, verdict, code }) => {
      const file = `examples/workflows/${workflow}`
      const [action = ''] =
        /grafana\/setup-k6-action@\w+/.exec(readFileSync(path.join(root, file), 'utf8')) ?? []
      const ended = await runWorkflow({
        ...{ root, event: 'push', workflow: file, output: 'pipe' },
        variables: { SHOP_PORT: await findPort(), SHOP_DELAY_MS: delayMs },
        artifacts: new ArtifactService(),
        actions: { [action]: path.join(folder, 'setup-k6') }
      })
      expect({ verdict: ended.verdict?.verdict ?? ended.text, code: ended.code }).toEqual({ verdict, code })
      expect(ended.verdict?.metrics.labels.map(({ label }) => label)).toEqual(expect.arrayContaining(labels))
    },
    5 * MINUTES
  )
})
