import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startShop } from '../../../src/service/demo-shop.js'
import type { Shop } from '../../../src/service/demo-shop.js'
import type { VerdictDocument } from '../../../src/contract/verdict.js'
import { INSTALL_MS, jmeterNote, lacksJMeter, runCommand } from '../../e2e/cli-command.js'
import { describeWithBrowser } from '../../support/element/browser.js'
import { removeFolder } from '../../support/remove-folder.js'

const lacksJdk =
  spawnSync('javac', ['-version']).status !== 0 && process.env.LOADGATE_REQUIRE_TOOLS === undefined

let folder: string
let shop: Shop

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-stalls-'))
  shop = await startShop({ slow: false, stall: { afterMs: 5000, ms: 4000 } })
})
afterEach(async () => {
  await shop.close()
  removeFolder(folder)
})

const SENTENCE =
  /p9\d is [\d.]+ m?s for the requests that were sent, but at least [23]\.\d s over time: at 0:0\d nothing was answered for [34](\.\d)? s while (\d) users waited; must be < \d s/

const IN_SAMPLES =
  /^At 0:0\d nothing was answered for [34](\.\d)? s while (\d) users waited\.[^]*p90 is [34],\d+ ms, must be < 2,000 ms/m

interface Case {
  readonly example: string
  readonly line: string
  readonly onStall?: 'fail' | 'warn'
  readonly users?: number
  readonly nodes?: number
  /** On a busy machine so few requests are sent besides that those which waited show in the percentile by themselves. */
  readonly mayShow?: boolean
}

/** A user's request waits once: the fewer there are besides, the lower the percentile that shows nothing of it. */
async function check({
  example,
  line,
  onStall = 'fail',
  users = 4,
  nodes = 1,
  mayShow
}: Case): Promise<void> {
  const ended = await runCommand(
    [
      ...[
        'run',
        '--config',
        `examples/${example}/loadgate.yml`,
        '--override-parameters',
        `-Jport=${shop.port}`
      ],
      ...['--grids', `[{ region: local, instance_quantity: ${nodes} }]`, '--threads', String(users)],
      ...['--rampup', '1s', '--duration', '14s', '--output', join(folder, 'out')],
      ...['--thresholds', line, '--on-stall', onStall]
    ],
    { cwd: process.cwd() }
  )
  expect(ended.out).toMatch(/^(At 0:\d\d n|N)othing was answered /m)
  const sentence = mayShow && !SENTENCE.test(ended.out) ? IN_SAMPLES : SENTENCE
  expect([ended.code, ended.out]).toEqual([onStall === 'fail' ? 1 : 0, expect.stringMatching(sentence)])
  expect(sentence.exec(ended.out)?.[2]).toBe(String(users))
  const verdict = JSON.parse(readFileSync(join(folder, 'out', 'verdict.json'), 'utf8')) as VerdictDocument
  expect(verdict.stalls?.count).toBeGreaterThanOrEqual(1)
  expect(verdict.warnings.map((words) => SENTENCE.test(words))).toEqual(onStall === 'warn' ? [true] : [])
}

const describeWithJMeter = lacksJMeter ? describe.skip : describe
const describeWithJdk = lacksJdk ? describe.skip : describe

describeWithJMeter(`a shop that stands still for 4 of 14 s, and real JMeter${jmeterNote}`, () => {
  test.each(['fail', 'warn'] as const)(
    'on-stall: %s',
    (onStall) => check({ example: 'shop', line: 'p95 < 1s', onStall }),
    INSTALL_MS
  )

  test(
    'three nodes with one thread each, which have the same name',
    () => check({ example: 'shop', line: 'p95 < 1s', users: 3, nodes: 3 }),
    INSTALL_MS
  )
})

describeWithJdk('the same with real Gatling', () => {
  test('fails the gate', () => check({ example: 'gatling', line: 'p95 < 1s' }), INSTALL_MS)
})

describeWithBrowser('the same with a real browser', () => {
  test(
    'fails the gate',
    () => check({ example: 'service-chrome', line: 'p90 < 2s', mayShow: true }),
    INSTALL_MS
  )
})
