import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const BENCH = path.join(import.meta.dirname, '../../bench')
const COLUMNS = 'date,commit,machine,cores,load,bench,figure,value,unit,goal,outcome'

let root: string
const put = (name: string, text: string): void => writeFileSync(path.join(root, name), text)
const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

/** A project whose bench `startup` reports what it is told to; the machine is made up. */
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'loadgate-bench-record-'))
  mkdirSync(path.join(root, 'bench'))
  for (const name of ['run.mjs', 'history.mjs', 'figure.mjs'])
    copyFileSync(path.join(BENCH, name), path.join(root, 'bench', name))
  put('bench/history.csv', `${COLUMNS}\n`)
  put('bench/package.json', '{ "dependencies": { "peer": "1.0.0" } }')
  put('package.json', '{ "type": "module", "devDependencies": { "tool": "1.0.0" } }')
  put(
    'bench/startup.mjs',
    `import { reportFigure } from './figure.mjs'
    for (const figure of JSON.parse(process.env.FIGURES)) reportFigure(figure)`
  )
  put(
    'machine.mjs',
    `import { syncBuiltinESMExports } from 'node:module'
    import os from 'node:os'
    os.cpus = () => [{ model: 'Processor, 3 GHz' }]
    os.availableParallelism = () => 2
    os.loadavg = () => [Number(process.env.LOAD), 0, 0]
    syncBuiltinESMExports()`
  )
  git('init', '--quiet')
  git('config', 'user.name', 'someone')
  git('config', 'user.email', 'someone@example.com')
  git('add', '.')
  git('commit', '--quiet', '--message', 'Begin')
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

interface Figure {
  readonly name?: string
  readonly value: number
  readonly unit?: string
  readonly atLeast?: number
  readonly atMost?: number
}

function bench(args: string[], figures: Figure[] = [], load = 0.5) {
  const env = {
    ...process.env,
    LOAD: String(load),
    FIGURES: JSON.stringify(figures.map((figure) => ({ name: 'speed', unit: 'ratio', ...figure })))
  }
  const preload = new URL(`file://${root}/machine.mjs`).href
  return spawnSync(process.execPath, ['--import', preload, 'bench/run.mjs', ...args], {
    ...{ cwd: root, env, encoding: 'utf8' }
  })
}

const history = (): string[] =>
  readFileSync(path.join(root, 'bench/history.csv'), 'utf8').trimEnd().split('\n').slice(1)

/** As if all that is recorded had been so a day before. */
function passADay(): void {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const rows = history().map((row) => row.replace(/^[\d-]{10}/, yesterday))
  put('bench/history.csv', `${[COLUMNS, ...rows].join('\n')}\n`)
}

test('appends a row per figure, with commit, date and machine', () => {
  const figures = [
    { name: 'speed', value: 1.23456, atLeast: 1 },
    { name: 'memory', value: 300, unit: 'MB', atMost: 250 }
  ]
  const { status, stdout } = bench(['startup', '--record'], figures)
  expect(status).toBe(1) // a goal is missed
  expect(stdout).toContain('Goal, speed: at least 1: met (1.235).')
  expect(stdout).toContain('Goal, memory: at most 250 MB: missed (300).')
  expect(stdout).toContain('2 figures are recorded')
  const [first = '', second = ''] = history()
  const commit = git('rev-parse', '--short=8', 'HEAD')
  expect(first).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,/)
  expect(first.split(',').slice(1).join()).toBe(
    `${commit},Processor; 3 GHz,2,0.50,startup,speed,1.235,ratio,at least 1,met`
  )
  expect(second).toMatch(/,startup,memory,300,MB,at most 250,missed$/)
})

test('records nothing unless told to', () => {
  expect(bench(['startup'], [{ value: 2, atLeast: 1 }]).status).toBe(0)
  expect(history()).toEqual([])
})

test('says of a commit that the tree has changes, except those that recording makes', () => {
  const figures = [{ value: 2, atLeast: 1 }]
  for (let time = 0; time < 2; time++) bench(['startup', '--record'], figures)
  put('machine.js', '')
  bench(['startup', '--record'], figures)
  const commits = history().map((row) => row.split(',')[1]?.replace(/^[0-9a-f]+/, ''))
  expect(commits).toEqual(['', '', '-changed'])
})

test('refuses a busy machine, unless forced', () => {
  const figures = [{ value: 2, atLeast: 1 }]
  const { status, stdout, stderr } = bench(['startup', '--record'], figures, 0.51)
  expect(status).toBe(2)
  expect(stdout).toBe('') // nothing was measured
  expect(stderr).toContain('the load average is 0.51 on 2 cores')
  expect(history()).toEqual([])
  expect(bench(['startup', '--record', '--force'], figures, 0.51).status).toBe(0)
  expect(history()).toEqual([expect.stringContaining(',2,0.51,startup,speed,2,')])
})

test('refuses to record with flags that change the figures', () => {
  const { status, stderr } = bench(['startup', '--record', '--rounds', '1'], [{ value: 2, atLeast: 1 }])
  expect(status).toBe(2)
  expect(stderr).toContain('--record takes no --rounds')
  expect(history()).toEqual([])
})

test.each<[string, Figure, Figure, boolean]>([
  ['a ratio that falls by more than 10 %', { value: 2, atLeast: 1 }, { value: 1.79, atLeast: 1 }, true],
  ['a ratio that falls by 10 %', { value: 2, atLeast: 1 }, { value: 1.8, atLeast: 1 }, false],
  ['a ratio that should be high, and rises', { value: 2, atLeast: 1 }, { value: 4, atLeast: 1 }, false],
  ['a ratio that should be low, and rises', { value: 2, atMost: 9 }, { value: 2.21, atMost: 9 }, true],
  ['a ratio that should be low, and falls', { value: 2, atMost: 9 }, { value: 1, atMost: 9 }, false],
  [
    'a count that was 0',
    { value: 0, unit: 'cells', atMost: 9 },
    { value: 1, unit: 'cells', atMost: 9 },
    true
  ],
  ['a time', { value: 2, unit: 'ms', atMost: 9 }, { value: 4, unit: 'ms', atMost: 9 }, false]
])('%s between two runs', (_, before, after, isWorse) => {
  bench(['startup', '--record'], [before])
  passADay()
  const { status, stderr } = bench(['startup', '--record'], [after])
  expect(stderr.includes('WORSE')).toBe(isWorse)
  expect(status).toBe(isWorse ? 1 : 0)
})

test('says what it was, and compares with the last quiet run', () => {
  bench(['startup', '--record'], [{ value: 2, atLeast: 1 }])
  passADay()
  bench(['startup', '--record', '--force'], [{ value: 1, atLeast: 1 }], 9)
  passADay()
  const { stderr } = bench(['startup', '--record'], [{ value: 1.5, atLeast: 1 }])
  expect(stderr).toMatch(
    /WORSE by more than 10 %: startup, speed: 1\.5, and 2 on \d{4}-\d\d-\d\d \([0-9a-f]{8}\)\./
  )
})

test('a figure of another machine is not compared', () => {
  bench(['startup', '--record'], [{ value: 2, atLeast: 1 }])
  passADay()
  put(
    'bench/history.csv',
    readFileSync(path.join(root, 'bench/history.csv'), 'utf8').replace('3 GHz', '4 GHz')
  )
  expect(bench(['startup', '--record'], [{ value: 1, atLeast: 1 }]).stderr).toBe('')
})

test.each([
  ['csv', 'npm ci --prefix bench'],
  ['page', 'npm ci']
])('without its packages, %s says what to run', (name, command) => {
  const { status, stderr } = bench([name])
  expect(status).toBe(1)
  expect(stderr).toBe(`The bench ${name} needs packages that are not installed: run \`${command}\` first.\n`)
})
