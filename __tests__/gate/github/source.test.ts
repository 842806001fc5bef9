import { afterAll, expect, test } from '@jest/globals'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findSource } from '../../../src/gate/github/source.js'
import { readOccasion } from '../../../src/gate/github/step.js'
import { removeFolder } from '../../support/remove-folder.js'

const folder = mkdtempSync(join(tmpdir(), 'loadgate-source-'))
afterAll(() => removeFolder(folder))

const MERGE = 'f'.repeat(40)
const HEAD = 'a'.repeat(40)
const ENV = {
  GITHUB_SERVER_URL: 'https://github.example',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_SHA: MERGE,
  GITHUB_RUN_ID: '99'
}
const WORKFLOW = { workflowRun: 'https://github.example/acme/shop/actions/runs/99' }

function read(event: string | undefined, env: NodeJS.ProcessEnv = ENV) {
  const path = join(folder, 'event.json')
  if (event !== undefined) writeFileSync(path, event)
  const all = { ...env, GITHUB_EVENT_PATH: event === undefined ? join(folder, 'none') : path }
  return findSource(all, readOccasion(all))
}

test('a pull request: its number, and its head rather than the merge commit', async () => {
  const event = { pull_request: { number: 12, head: { sha: HEAD } } }
  expect(await read(JSON.stringify(event))).toEqual({
    ...WORKFLOW,
    commit: `https://github.example/acme/shop/commit/${HEAD}`,
    pullRequest: 'https://github.example/acme/shop/pull/12'
  })
})

test.each([
  ['a push', '{"ref":"refs/heads/main"}'],
  ['no file', undefined],
  ['what is not JSON', '{'],
  ['an odd number', '{"pull_request":{"number":"12; rm","head":{"sha":"x"}}}'],
  ['null', 'null']
])('%s: the commit of the workflow', async (_, event) => {
  expect(await read(event)).toEqual({
    ...WORKFLOW,
    commit: `https://github.example/acme/shop/commit/${MERGE}`,
    pullRequest: undefined
  })
})

test('an odd head: the commit of the workflow', async () => {
  const { commit } = await read('{"pull_request":{"number":1,"head":{"sha":"../../evil"}}}')
  expect(commit).toBe(`https://github.example/acme/shop/commit/${MERGE}`)
})

test('outside of a workflow there is none', async () => {
  expect(await read(undefined, {})).toEqual({})
})
