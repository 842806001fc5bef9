import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  RunFacts,
  SeleniumOrder,
  UserFailure
} from '../../../../src/service/programs/selenium-hub/order.js'
import { runUsers } from '../../../../src/service/programs/selenium-hub/users.js'
import { until } from '../../../e2e/cli-command.js'
import { removeFolder } from '../../../support/remove-folder.js'

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
  removeFolder(folder)
})

/** Runs users whose Java is a shell script. */
function run(script: readonly string[], changes: Partial<SeleniumOrder> = {}): Promise<void> {
  const java = join(folder, 'java')
  writeFileSync(java, ['#!/bin/sh', ...script, ''].join('\n'))
  chmodSync(java, 0o755)
  const order: SeleniumOrder = {
    ...{ word: 'word', browser: 'chrome', browserFile: '/opt/chrome', driverFile: '/opt/chromedriver', java },
    ...{ javaArgs: ['-Xmx64m'], classPath: ['a.jar', 'b.jar'], planJar: folder, plan: ['main', 'Plan'] },
    ...{ planDir: folder, samplesFile: join(folder, 'samples.csv'), logFile: join(folder, 'log') },
    ...{ nodeNumber: 2, users: 1, rampupMs: 0, durationMs: null, hosts: [], variables: {} },
    ...changes
  }
  return runUsers(order, {
    signal: ending.signal,
    tempDir: mkdtempSync(join(folder, 'temp-')),
    log: (line) => lines.push(line),
    tell: (line) => told.push(line)
  })
}

const failures = (): UserFailure[] =>
  told
    .filter((line) => line.startsWith('word failure: '))
    .map((line) => JSON.parse(line.slice(14)) as UserFailure)
const facts = (): RunFacts => JSON.parse(told.at(-1)!.replace('word facts: ', '')) as RunFacts

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
  expect(facts()).toEqual({ sessions: 0, stopped: [], withoutBrowser: [1, 2] })
})

test('Java gets the options, the class path and the plan, and drivers that lead to the hub', async () => {
  await run(['for each in "$@"; do echo "$each"; done'])
  expect(lines.map((line) => line.replace('user 1: ', ''))).toEqual([
    expect.stringMatching(/^-Djava\.io\.tmpdir=.*\/temp-1$/),
    '-Xmx64m',
    expect.stringMatching(/^-Dwebdriver\.chrome\.driver=.*\/chromedriver$/),
    expect.stringMatching(/^-Dwebdriver\.gecko\.driver=.*\/geckodriver$/),
    expect.stringMatching(/^-Dwebdriver\.edge\.driver=.*\/msedgedriver$/),
    ...['-cp', 'a.jar:b.jar', 'loadgate.selenium.RunPlan', 'main', 'Plan']
  ])
})

test('a script finds no other driver on its path, and its temporary files go with its process', async () => {
  await run([
    ...['which chromedriver', 'which geckodriver', 'which msedgedriver'],
    ...['echo x > "$TMPDIR/profile"', 'echo "$TMPDIR"']
  ])
  const said = lines.map((line) => line.replace('user 1: ', ''))
  const temp = said[3]!
  expect(temp.startsWith(`${folder}/temp-`)).toBe(true)
  expect(said.slice(0, 3)).toEqual(
    ['chromedriver', 'geckodriver', 'msedgedriver'].map((name) => join(temp, '../drivers', name))
  )
  expect(existsSync(temp)).toBe(false)
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

const NOTHING = /^the plan ended without opening a browser and without reporting/

test('a plan that ends its process without having done anything is not started again', async () => {
  await run(['echo started'], { durationMs: 60_000 })
  expect(lines).toEqual(['user 1: started'])
  expect(failures()).toEqual([{ user: 1, words: expect.stringMatching(NOTHING) as unknown }])
})

const END_PASS = `"${process.execPath}" -e "fetch('http://127.0.0.1:' + process.env.WEBDRIVER_PORT + '/loadgate/sessions', { method: 'DELETE' })"`

test('a plan that is repeated within its process without doing anything is ended', async () => {
  await run([`while :; do ${END_PASS}; done`], { durationMs: 60_000 })
  expect(failures()).toEqual([{ user: 1, words: expect.stringMatching(NOTHING) as unknown }])
})

test('what a plan threw is told, even if it did nothing before', async () => {
  await run([END_PASS, 'echo "no luck" > "$LOADGATE_THROWN"', 'exit 1'], { durationMs: 60_000 })
  expect(failures()).toEqual([{ user: 1, words: 'no luck' }])
})

test('a plan that ends its process after a row is started again', async () => {
  await run([`[ -e ${folder}/second ] && exit 3`, `echo > ${folder}/second`, 'echo > "$LOADGATE_REPORTED"'], {
    durationMs: 60_000
  })
  expect(failures()).toEqual([{ user: 1, words: 'its process ended with exit code 3' }])
})

test('the duration counts from the first row too', async () => {
  await run(['echo > "$LOADGATE_REPORTED"', 'exec sleep 60'], { durationMs: 100 })
  expect(facts()).toMatchObject({ sessions: 0, stopped: [{ user: 1 }], withoutBrowser: [1] })
})

test('a line without an end is cut, and what a plan throws stays one line that is not too long', async () => {
  await run([
    'head -c 3000000 /dev/zero | tr "\\0" x; echo; echo next',
    'printf "a\\033\\001\\nb" > "$LOADGATE_THROWN"; exit 1'
  ])
  expect(lines).toEqual([`user 1: ${'x'.repeat(8191)}…`, 'user 1: next'])
  expect(failures()).toEqual([{ user: 1, words: 'a  \nb' }])
})

/** A driver whose browser is nothing but a session. */
const DRIVER = `#!${process.execPath}
const server = require('node:http').createServer((asked, response) => {
  response.end(JSON.stringify({ value: { sessionId: 'one' } }))
})
server.listen(0, '127.0.0.1', () => console.log('started successfully on port ' + server.address().port))
`

const OPEN_SESSION = `fetch('http://127.0.0.1:' + process.env.WEBDRIVER_PORT + '/session', { method: 'POST', body: '{}' })`

test('the duration counts from the first browser; a user that does not end by itself is stopped', async () => {
  const driverFile = join(folder, 'driver')
  writeFileSync(driverFile, DRIVER)
  chmodSync(driverFile, 0o755)
  const script = [
    `"${process.execPath}" -e "${OPEN_SESSION}.then(() => console.log('browser'))"`,
    'touch -t 202001010000 "$LOADGATE_REPORTED"',
    'exec sleep 60'
  ]
  await run(script, { durationMs: 100, driverFile })
  expect(lines).toContain('user 1: browser')
  expect(failures()).toEqual([])
  expect(facts()).toMatchObject({ sessions: 1, stopped: [{ user: 1 }] })
  expect(facts().stopped[0]!.silentMs).toBeGreaterThan(3_500_000)
})

test('browsers that a process leaves open are ended before it is started again', async () => {
  const driverFile = join(folder, 'driver')
  writeFileSync(driverFile, DRIVER)
  chmodSync(driverFile, 0o755)
  const open = `"${process.execPath}" -e "${OPEN_SESSION}"`
  await run([`[ -e ${folder}/second ] && exit 3`, `echo > ${folder}/second`, open], {
    ...{ durationMs: 60_000, driverFile }
  })
  expect(lines).toEqual(['user 1: the script ended without driver.quit(); closing 1 browser'])
  expect(facts()).toEqual({ sessions: 1, stopped: [], withoutBrowser: [] })
})

test('when the test is ended, users get TERM and then KILL, which is no failure', async () => {
  const done = run(['trap "" TERM', 'echo ready', 'while :; do sleep 0.1; done'])
  await until(() => lines.includes('user 1: ready'))
  ending.abort()
  await done
  expect(failures()).toEqual([])
  expect(facts().stopped).toEqual([])
})
