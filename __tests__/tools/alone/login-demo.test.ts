import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INSTALL_MS, lacksJMeter, runCommand } from '../../e2e/cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'
import { K6, lacksK6 } from '../../support/tools/k6.js'

/** The plans of examples/login, each with its real tool, against the demo shop: it refuses whoever is not logged in. */

const lacksJdk =
  spawnSync('javac', ['-version']).status !== 0 && process.env.LOADGATE_REQUIRE_TOOLS === undefined
const TOOLS = [
  { tool: 'jmeter', isMissing: lacksJMeter },
  { tool: 'k6', isMissing: lacksK6 },
  { tool: 'gatling', isMissing: lacksJdk }
]

for (const { tool, isMissing } of TOOLS) {
  const testHere = isMissing ? test.skip : test
  testHere(
    `loadgate demo --login --tool ${tool}${isMissing ? ' (skipped: the tool is missing)' : ''}`,
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'loadgate-login-demo-'))
      try {
        const { code, out, err } = await runCommand(['demo', '--login', '--tool', tool], {
          cwd: folder,
          env: { K6 }
        })
        expect([code, err, out]).toEqual([0, '', expect.stringMatching(/^PASSED: /m)])
        expect(out).toMatch(/^passed +error_rate < 1% +0 %/m)
        for (const label of ['login form', 'login', 'account', 'token', 'orders'])
          expect(out).toMatch(new RegExp(`^${label} +\\d+ +0 %`, 'm'))
        expect(out).not.toMatch(/rehearsal/i)
      } finally {
        removeFolder(folder)
      }
    },
    INSTALL_MS
  )
}
