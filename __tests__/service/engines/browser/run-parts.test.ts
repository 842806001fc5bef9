import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import dns from 'node:dns'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { provideExports } from '../../../../src/service/programs/element/api/exports.js'
import { compile } from '../../../../src/service/programs/element/compile/compile.js'
import { overrideLookups } from '../../../../src/service/programs/element/run/host-lookups.js'
import { hostRules, type RunOrder, Schedule } from '../../../../src/service/programs/element/run/run-order.js'
import { browserEnvironment } from '../../../../src/service/programs/element/run/launch.js'
import { oneLine, Rows } from '../../../../src/service/programs/element/run/rows.js'
import { describeFailure, toError } from '../../../../src/service/programs/element/run/failures.js'
import { measure } from '../../../support/data/sample-csv.js'
import { removeFolder } from '../../../support/remove-folder.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-parts-'))
})
afterEach(() => removeFolder(folder))

describe('rows', () => {
  const STEP = {
    ...{
      startMs: 1000,
      elapsedMs: 120.4,
      idleMs: 5,
      label: 'Pay, "now"',
      user: 1,
      code: '200',
      failure: null
    },
    ...{ bytes: 10, url: 'http://a/?b,c', latencyMs: 3, connectMs: 1 }
  }

  test('are read as they were written; the times of a page do not count overall', () => {
    const file = join(folder, 'rows.csv')
    const rows = new Rows(file)
    rows.active = 2
    rows.addStep(STEP)
    rows.addTiming({ startMs: 1000, elapsedMs: 9000, name: 'load', step: STEP.label, user: 1 })
    rows.addStep({ ...STEP, code: 'TimeoutError', failure: '\u001b[31mwaited,\nin vain' })
    const measured = measure(readFileSync(file, 'utf8'))
    expect(measured.figures({})).toMatchObject({ samples: 2, failures: 1, maxMs: 120 })
    expect(measured.figures({ label: `${STEP.label} [load]` })).toMatchObject({ samples: 1, maxMs: 9000 })
    expect(rows.steps).toBe(2)
  })

  test('have the first line of a message, without colours and not without end', () => {
    expect(oneLine('\u001b[2m\n  first\nsecond')).toBe('first')
    expect(oneLine('x'.repeat(8000))).toHaveLength(8000)
  })

  test('do not cut a word of a long message in two: it may be a secret', () => {
    expect(oneLine(`${'bad '.repeat(1999)}token s3cret-of-many-letters`)).toBe(`${'bad '.repeat(1999)}…`)
  })
})

describe('what was thrown', () => {
  class Odd extends Error {
    override name = Symbol('odd') as unknown as string
    override message = { code: 5 } as unknown as string
  }

  test.each([
    { thrown: undefined, words: 'undefined' },
    { thrown: 'text', words: 'text' },
    { thrown: Symbol('s'), words: 'Symbol(s)' },
    { thrown: Object.create(null) as unknown, words: '[Object: null prototype] {}' },
    { thrown: { code: 5 }, words: '{ code: 5 }' },
    { thrown: new Odd(), words: '{ code: 5 }' }
  ])('has words: $words', ({ thrown, words }) => {
    const { name, message, stack } = toError(thrown)
    expect([name, message]).toEqual(['Error', words])
    expect(stack).toContain(words)
  })

  test('is itself where it is an ordinary error', () => {
    const error = new RangeError('x')
    expect(toError(error)).toBe(error)
  })
})

describe('the environment of the browser', () => {
  test('has what is allowed and its own folders, and nothing of the plan', () => {
    const given = {
      PATH: '/bin',
      LC_ALL: 'C',
      TMPDIR: '/t',
      HOME: '/home/x',
      API_TOKEN: 's',
      CHROME_LOG_FILE: 'f'
    }
    expect(browserEnvironment(given, '/work')).toEqual({
      ...{ PATH: '/bin', LC_ALL: 'C', TMPDIR: '/t', DBUS_SESSION_BUS_ADDRESS: 'disabled:' },
      ...{ HOME: '/work', XDG_CONFIG_HOME: '/work', XDG_CACHE_HOME: '/work' }
    })
  })
})

describe('hosts', () => {
  test('a script that sends requests past the browser gets the addresses too, and others are looked up as usual', async () => {
    const { lookup } = dns
    const names = dns.promises.lookup
    const target = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1')
    await once(target, 'listening')
    const { port } = target.address() as AddressInfo
    try {
      overrideLookups([{ host: 'Never.invalid', address: '127.0.0.1' }])
      expect(await (await fetch(`http://never.invalid:${port}/`)).text()).toBe('here')
      const found = { address: '127.0.0.1', family: 4 }
      expect(await dns.promises.lookup('NEVER.invalid.')).toEqual(found)
      expect(await promisify(dns.lookup)('never.invalid')).toEqual(found)
      await expect(dns.promises.lookup('other.invalid')).rejects.toThrow('other.invalid')
    } finally {
      Object.assign(dns, { lookup })
      Object.assign(dns.promises, { lookup: names })
      syncBuiltinESMExports()
      target.close()
    }
  })

  test('are redirected and blocked by one argument', () => {
    const hosts = [
      { host: 'a.example', address: '10.0.0.1' },
      { host: 'b.example', address: '::1' }
    ]
    expect(hostRules(hosts, ['*.ads.example', '*:81'])).toEqual([
      '--host-resolver-rules=MAP *.ads.example ~NOTFOUND, MAP *:81 ~NOTFOUND, MAP a.example 10.0.0.1, MAP b.example [::1]'
    ])
    expect(hostRules([], [])).toEqual([])
  })

  test.each(['a, MAP * evil', '{a,b}.example', ''])('%p is not a pattern', (pattern) => {
    expect(() => hostRules([], [pattern])).toThrow('blockedDomains')
  })
})

describe('schedule', () => {
  test('a rest ends with the run, and a loop of rests does not block it', async () => {
    const schedule = new Schedule()
    const resting = schedule.rest(3_600_000)
    schedule.stop()
    await resting
    const timer = new Promise<string>((fired) => setTimeout(() => fired('fired'), 5))
    let rests = true
    const loop = async (): Promise<void> => {
      while (rests) await schedule.rest(1000)
    }
    const looping = loop()
    expect(await timer).toBe('fired')
    rests = false
    await looping
    expect([schedule.isOver, schedule.isStopped]).toEqual([true, true])
  })

  test('the end of the time is not a stop', async () => {
    const schedule = new Schedule()
    schedule.limit(0)
    await schedule.untilEnd()
    expect([schedule.isOver, schedule.isStopped]).toEqual([true, false])
  })
})

describe('a failure', () => {
  const order = { mode: 'run', scriptName: 'plan.ts' } as RunOrder
  const thrown = (stack: string): Error => Object.assign(new TypeError('bad\nworse'), { stack })

  test('has the place in the script where it was thrown', () => {
    const stack = 'TypeError: bad\n    at x (/a/element.mjs:1:2)\n    at file:///a/plan.ts:12:5\n'
    expect(describeFailure(thrown(stack), order)).toBe('plan.ts:12:5: TypeError: bad')
  })

  test.each([
    { what: thrown('TypeError: bad\n    at x (/a/element.mjs:1:2)'), words: 'bad' },
    { what: undefined, words: 'the script threw undefined' },
    { what: Object.create(null) as unknown, words: 'the script threw [Object: null prototype] {}' },
    { what: Symbol('s'), words: 'the script threw Symbol(s)' },
    { what: Object.assign(new Error('x'), { message: { code: 5 } }), words: 'the script threw { code: 5 }' }
  ])('$words', ({ what, words }) => {
    expect(describeFailure(what, order)).toBe(words)
  })
})

describe('compiling', () => {
  const build = async (files: Record<string, string>): Promise<string[]> => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const [script = ''] = Object.keys(files)
    return compile({
      ...{
        mode: 'compile',
        messagesFile: '',
        script: join(folder, script),
        outFile: join(folder, 'out', 'plan.mjs')
      },
      ...{ compiler: resolve('node_modules/esbuild'), packageNames: ['@acme/element'] }
    })
  }

  test('takes the API under all its names, Node, and uploaded files wherever the script expects them', async () => {
    const imports = [
      `import { step, TestSettings } from '@flood/element'`,
      `import { By } from '@flood/chrome'`,
      `import { Until } from '@acme/element'`,
      `import assert from 'assert'`,
      `import { readFileSync } from 'node:fs'`,
      `import { one } from './lib/one.js'`,
      `import data from '../data/data.json'`,
      `export default () => step('a', async () => [By, Until, assert, readFileSync, one, data])`
    ]
    const files = {
      'plan.ts': imports.join('\n'),
      'one.ts': 'export const one: number = 1',
      'data.json': '[1]'
    }
    expect(await build({ ...files, 'tsconfig.json': '{ "extends": "./nowhere.json" }' })).toEqual([])
    expect(readFileSync(join(folder, 'out', 'plan.mjs'), 'utf8')).toContain('loadgate.element')
  })

  /** Runs what was built, as the program does. */
  const load = async (files: Record<string, string>): Promise<Record<string, unknown>> => {
    expect(await build(files)).toEqual([])
    const { href } = pathToFileURL(join(folder, 'out', 'plan.mjs'))
    provideExports(href, { exports: {}, folder: '/uploads', file: '/uploads/plan.ts' })
    return ((await import(href)) as { script: Record<string, unknown> }).script
  }

  test('a script knows its place among the uploaded files', async () => {
    const script = await load({
      'plan.ts': `export { helper } from './helper'; export const places = [__dirname, __filename, import.meta.url]`,
      'helper.ts': `const __dirname = 'its own'; export const helper = __dirname`
    })
    expect(script).toMatchObject({
      places: ['/uploads', '/uploads/plan.ts', 'file:///uploads/plan.ts'],
      helper: 'its own'
    })
  })

  test('decorators are those that TypeScript calls experimental', async () => {
    const lines = [
      `function log(target: any, key: string, about: PropertyDescriptor) { about.value = () => key + '!' }`,
      `class Page { @log go() { return '' } }`,
      `export const gone = new Page().go()`
    ]
    expect(await load({ 'plan.ts': lines.join('\n') })).toMatchObject({ gone: 'go!' })
  })

  test.each([
    {
      line: `import x from 'lodash'`,
      words: 'plan.ts:1:15: the package "lodash" is not available to scripts'
    },
    {
      line: `import x from './missing'`,
      words: 'plan.ts:1:15: "./missing" was not uploaded with the script'
    },
    { line: `import x from '/etc/hostname'`, words: '"/etc/hostname" was not uploaded' },
    { line: `import { nothing } from '@flood/element'; nothing()`, words: 'No matching export' },
    { line: 'const = 5', words: 'plan.ts:1:7: ' }
  ])('$line', async ({ line, words }) => {
    const errors = await build({
      'plan.ts': line.concat('\nexport default x')
    })
    expect(errors[0]).toContain(words)
  })

  test('many errors are not all shown', async () => {
    const lines = Array.from({ length: 15 }, (_, index) => `import './missing-${index}'`)
    const errors = await build({ 'plan.ts': lines.join('\n') })
    expect(errors).toHaveLength(11)
    expect(errors.at(-1)).toBe('… and 5 more')
  })
})
