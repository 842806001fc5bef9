import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
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
import { removeFolder } from '../../support/remove-folder.js'

// examples/workflows/side-by-side.yml as it is, with act and real JMeter, in a repository whose last commit is the head.

const MINUTES = 60_000
const testWithAct = lacksAct ? test.skip : test
const SERVER = 'examples/side-by-side/server.mjs'

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'loadgate-side-by-side-'))
  if (!lacksAct) await installAct()
}, 15 * MINUTES)
afterAll(() => removeFolder(folder))

/** A repository of two commits: the base, and a head whose server takes `serviceMs`. */
function makeSlower(name: string, serviceMs: number): string {
  const root = path.join(folder, name)
  const git = makeRepository(root, ['action.yml', 'package.json', 'dist', 'java/jars', 'examples'])
  const server = path.join(root, SERVER)
  writeFileSync(server, readFileSync(server, 'utf8').replace(/SERVICE_MS = \d+/, `SERVICE_MS = ${serviceMs}`))
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', 'Head')
  return root
}

// That no change is not broken is tried by `npm run bench -- side-by-side`.
testWithAct(
  `the workflow finds a slower server${actNote}`,
  async () => {
    const { code, text, verdict } = await runWorkflow({
      root: makeSlower('slower', 80),
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
