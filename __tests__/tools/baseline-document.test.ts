import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Shop, startShop } from '../../src/service/demo-shop.js'
import { INSTALL_MS, jmeterNote, lacksJMeter, runCommand } from '../e2e/cli-command.js'
import type { Ended } from '../e2e/cli-command.js'
import { removeFolder } from '../support/remove-folder.js'

const describeWithJMeter = lacksJMeter ? describe.skip : describe
const COMMIT = 'a'.repeat(40)

describeWithJMeter(`a baseline document made with real JMeter at a terminal${jmeterNote}`, () => {
  let folder: string
  let shop: Shop

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'loadgate-baseline-'))
    cpSync(resolve('examples/shop'), join(folder, 'shop'), { recursive: true })
    shop = await startShop({ slow: false })
  })
  afterAll(async () => {
    await shop.close()
    removeFolder(folder)
  })

  const loadgate = (...args: string[]): Promise<Ended> =>
    runCommand(args, { cwd: folder, env: { HOME: process.env.HOME ?? '', PATH: process.env.PATH ?? '' } })
  const gate = (output: string, threads: number, ...args: string[]): Promise<Ended> =>
    loadgate(
      ...[
        'run',
        '--files',
        'shop/plan.jmx',
        '--files',
        'shop/users.csv',
        '--threads',
        String(threads),
        '--duration',
        '4s'
      ],
      ...['--override-parameters', `-Jport=${shop.port}`, '--output', output, ...args]
    )
  const record = (output: string): Promise<Ended> =>
    loadgate('baseline', 'record', output, '--baseline', 'main.json.gz', '--commit', COMMIT)

  test(
    'is what the next run is compared with',
    async () => {
      for (const output of ['first', 'second']) {
        expect(await gate(output, 4)).toMatchObject({ code: 0 })
        expect(await record(output)).toMatchObject({ code: 0 })
      }
      const line = ['--thresholds', 'throughput >= baseline - 90%']
      const third = await gate('third', 4, '--baseline', 'main.json.gz', '--json', ...line)
      expect(JSON.parse(third.out)).toMatchObject({
        verdict: 'passed',
        baseline: {
          state: 'compared',
          branch: 'main',
          commit: COMMIT,
          runs: [expect.any(String), expect.any(String)]
        },
        thresholds: [{ outcome: 'holds' }]
      })
      const more = await gate('fourth', 3, '--baseline', 'main.json.gz', '--json', ...line)
      expect(JSON.parse(more.out)).toMatchObject({
        baseline: { state: 'not comparable', reason: expect.stringContaining('threads') },
        thresholds: [{ outcome: 'not comparable', verdict: 'inconclusive' }]
      })
      expect((await loadgate('trend', 'main.json.gz')).out).toContain('p95')
    },
    INSTALL_MS
  )
})
