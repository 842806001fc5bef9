import { afterAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { openStore } from '../../../src/service/serve.js'
import { slice } from '../../support/slice.js'
import { createFolders } from '../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const FLAGS = ['--experimental-transform-types', '--import', here('../../support/typescript-hooks.mjs')]

/** Kills a writer after some lines, in the middle of whatever it does; what it had said, and what it complained of. */
async function writeUntilKilled(dataDir: string, lines: number): Promise<{ said: string[]; errors: string }> {
  const child = spawn(process.execPath, [...FLAGS, here('./write-runs.mjs'), dataDir])
  let [out, errors] = ['', '']
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    if (out.split('\n').length > lines) child.kill('SIGKILL')
  })
  await once(child, 'close')
  return { said: out.split('\n').slice(0, -1), errors }
}

test('what was acknowledged survives any kill, with its grids, and nothing is there by half', async () => {
  const dataDir = folders.create()
  const said = new Map<string, string>()
  for (let round = 1; round <= slice(3, 20); round++) {
    const written = await writeUntilKilled(dataDir, 7 * round)
    // Node's own words for SQLite are nobody's business.
    expect(written.errors).not.toContain('SQLite')
    expect(written.said.length).toBeGreaterThanOrEqual(7 * round)
    for (const line of written.said) said.set(...(line.split(' ') as [string, string]))
    const store = openStore(dataDir, { log: () => undefined })
    for (const [id, status] of said) {
      const run = store.run(id)
      expect([status, 'finished']).toContain(run?.status)
      expect(store.gridsOf(run!)).toHaveLength(1)
    }
    const { runs, total } = store.listRuns({ offset: 0, limit: Infinity })
    expect([runs.length, new Set(runs.map(({ sequence }) => sequence)).size]).toEqual([total, total])
    // One more may have been written in each round, and not been told any more.
    expect(total - said.size).toBeLessThanOrEqual(round)
    store.close()
  }
})
