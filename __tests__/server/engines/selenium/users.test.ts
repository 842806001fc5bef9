import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunFacts, SeleniumOrder, UserFailure } from '../../../../src/tools/selenium-hub/order.js'
import { runUsers } from '../../../../src/tools/selenium-hub/run.js'
import { until } from '../../../e2e/cli-command.js'

let folder: string
let lines: string[]
let told: string[]
let ending: AbortController
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-users-'))
  ;[lines, told, ending] = [[], [], new AbortController()]
})
afterEach(() => {
  ending.abort()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs users whose Java is a shell script. */
function run(script: readonly string[], changes: Partial<SeleniumOrder> = {}): Promise<void> {
  const java = join(folder, 'java')
  writeFileSync(java, ['#!/bin/sh', ...script, ''].join('\n'))
  chmodSync(java, 0o755)
  const order: SeleniumOrder = {
    ...{ browser: 'chrome', browserFile: '/opt/chrome', driverFile: '/opt/chromedriver', java },
    ...{ javaArgs: ['-Xmx64m'], classPath: ['a.jar', 'b.jar'], classesDir: folder, plan: ['main', 'Plan'] },
    ...{ planDir: folder, samplesFile: join(folder, 'samples.csv'), logFile: join(folder, 'log') },
    ...{ nodeNumber: 2, users: 1, rampupMs: 0, durationMs: null, hosts: [], variables: {} },
    ...changes
  }
  return runUsers(order, {
    signal: ending.signal,
    log: (line) => lines.push(line),
    tell: (line) => told.push(line)
  })
}

const failures = (): UserFailure[] =>
  told.filter((line) => line.startsWith('failure: ')).map((line) => JSON.parse(line.slice(9)) as UserFailure)
const facts = (): RunFacts => JSON.parse(told.at(-1)!.replace('facts: ', '')) as RunFacts

test('each user has its own name, hub and place; the samples have one header', async () => {
  await run(
    [
      'echo "$THREAD_ID of $ACTIVE_THREADS: $LOADGATE_USER, $MARK, $SE_OFFLINE"',
      'echo "$WEBDRIVER_PORT" >> ports',
      'cat "$LOADGATE_STATE"'
    ],
    {
      users: 2,
      rampupMs: 10,
      variables: { MARK: 'x' }
    }
  )
  expect(lines).toEqual(
    expect.arrayContaining(['user 1: 1 of 2: user 2-1, x, true', 'user 2: 2 of 2: user 2-2, x, true'])
  )
  expect(new Set(readFileSync(join(folder, 'ports'), 'utf8').trim().split('\n')).size).toBe(2)
  expect(readFileSync(join(folder, 'samples.csv'), 'utf8')).toMatch(/^timeStamp,elapsed,.*,Connect,partOf\n$/)
  expect(facts()).toEqual({ sessions: 0, stopped: [] })
})

test('Java gets the options, the class path and the plan, and a driver that leads to the hub', async () => {
  await run(['for each in "$@"; do echo "$each"; done'])
  expect(lines.map((line) => line.replace('user 1: ', ''))).toEqual([
    '-Xmx64m',
    expect.stringMatching(/^-Dwebdriver\.chrome\.driver=.*\/driver$/),
    ...['-cp', 'a.jar:b.jar', 'loadgate.selenium.RunPlan', 'main', 'Plan']
  ])
})

test.each([
  {
    what: 'what the plan threw',
    script: ['echo noise', 'echo "IllegalStateException: no luck" > "$LOADGATE_THROWN"', 'exit 1'],
    words: 'IllegalStateException: no luck'
  },
  {
    what: 'the exit code and the last lines',
    script: ['echo one', 'echo two >&2', 'exit 3'],
    words: /^its process ended with exit code 3:\n(one\ntwo|two\none)$/
  },
  { what: 'the signal', script: ['kill -9 $$'], words: 'its process ended with killed by SIGKILL' }
])('a user that fails is told by $what', async ({ script, words }) => {
  await run(script)
  expect(failures()).toEqual([{ user: 1, words: expect.stringMatching(words) as unknown }])
})

test('a plan that ends its process is started again, and nothing has begun without a browser', async () => {
  const starts = join(folder, 'starts')
  const done = run([`echo x >> ${starts}`], { durationMs: 1 })
  await until(() => existsSync(starts) && readFileSync(starts, 'utf8').length > 2)
  expect(told).toEqual([])
  ending.abort()
  await done
  expect(failures()).toEqual([])
})

/** A driver whose browser is nothing but a session. */
const DRIVER = `#!${process.execPath}
const server = require('node:http').createServer((asked, response) => {
  response.end(JSON.stringify({ value: { sessionId: 'one' } }))
})
server.listen(0, '127.0.0.1', () => console.log('started successfully on port ' + server.address().port))
`

test('the duration counts from the first browser; a user that does not end by itself is stopped', async () => {
  const driverFile = join(folder, 'driver')
  writeFileSync(driverFile, DRIVER)
  chmodSync(driverFile, 0o755)
  const session = `fetch('http://127.0.0.1:' + process.env.WEBDRIVER_PORT + '/session', { method: 'POST', body: '{}' })`
  const script = [
    `"${process.execPath}" -e "${session}.then(() => console.log('browser'))"`,
    'touch -t 202001010000 "$LOADGATE_REPORTED"',
    'exec sleep 60'
  ]
  await run(script, { durationMs: 100, driverFile })
  expect(lines).toContain('user 1: browser')
  expect(failures()).toEqual([])
  expect(facts()).toMatchObject({ sessions: 1, stopped: [{ user: 1 }] })
  expect(facts().stopped[0]!.silentMs).toBeGreaterThan(3_500_000)
})

test('when the test is ended, users get TERM and then KILL, which is no failure', async () => {
  const done = run(['trap "" TERM', 'echo ready', 'while :; do sleep 0.1; done'])
  await until(() => lines.includes('user 1: ready'))
  ending.abort()
  await done
  expect(failures()).toEqual([])
  expect(facts().stopped).toEqual([])
})
