import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { INSTALL_MS, NODE, lacksJMeter, runCommand } from '../e2e/cli-command.js'
import type { Ended } from '../e2e/cli-command.js'
import { startCountingTarget } from '../support/tools/counting-target.js'
import type { CountingTarget } from '../support/tools/counting-target.js'
import { mountSmallDisk } from '../support/small-disk.js'
import type { SmallDisk } from '../support/small-disk.js'
import { removeFolder } from '../support/remove-folder.js'

// What the command line says to the mistakes that people make first: the whole of it is in a golden file, to be read by someone who
// does not know the program. LOADGATE_UPDATE_GOLDEN=1 writes it anew.

const GOLDEN = resolve('__tests__/fixtures/first-mistakes.txt')
const isUpdate = process.env.LOADGATE_UPDATE_GOLDEN === '1'
const SHOP = resolve('examples/shop')
const plan = readFileSync(join(SHOP, 'plan.jmx'), 'utf8')
const FILES = ['--files', 'plan.jmx', '--files', 'users.csv']
/** Nobody listens there. */
const DOWN = ['--override-parameters', '-Jport=1']
const ONE_THRESHOLD = ['--thresholds', 'p95 < 800ms']

interface Mistake {
  readonly what: string
  readonly args: readonly string[]
  readonly env?: () => Record<string, string>
}

const MISTAKES: readonly Mistake[] = [
  { what: 'a wrong path', args: ['--files', 'lod/plan.jmx', ...ONE_THRESHOLD] },
  { what: 'a tab in YAML', args: ['--config', 'tab.yml'] },
  { what: 'a threshold without its unit', args: [...FILES, '--thresholds', 'p95 < 800'] },
  {
    what: 'a label with a typing mistake',
    args: ['--rehearse', ...FILES, '--thresholds', 'p95{label="chekout"} < 800ms']
  },
  { what: 'a plugin that is not installed', args: ['--files', 'plugin.jmx', '--files', 'users.csv'] },
  { what: 'a plan that is not valid XML', args: ['--files', 'broken.jmx'] },
  { what: 'a server that is down', args: [...FILES, ...DOWN, '--duration', '2s', ...ONE_THRESHOLD] },
  { what: 'no Java', args: [...FILES, ...ONE_THRESHOLD], env: () => ({ PATH: join(folder, 'bin') }) },
  { what: 'no disk space', args: [...FILES, ...DOWN, '--duration', '2s', '--output', 'disk/out'] },
  {
    what: 'a plan without an end',
    args: ['--files', 'endless.jmx', '--files', 'users.csv', '--timeout', '30s']
  }
]

let folder: string
let disk: SmallDisk | undefined
let target: CountingTarget

beforeAll(async () => {
  target = await startCountingTarget()
  folder = mkdtempSync(join(tmpdir(), 'loadgate-mistakes-'))
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('plan.jmx', plan)
  write('users.csv', readFileSync(join(SHOP, 'users.csv'), 'utf8'))
  write('tab.yml', 'files: plan.jmx\nthresholds:\n\t- p95 < 800ms\n')
  write('broken.jmx', plan.slice(0, 900))
  write(
    'plugin.jmx',
    plan.replaceAll(/\bConstantTimer(?!\.)/g, 'kg.apc.jmeter.timers.VariableThroughputTimer')
  )
  write(
    'endless.jmx',
    plan.replace('${__P(duration,10)}', '86400').replace('${__P(port,8080)}', String(target.port))
  )
  mkdirSync(join(folder, 'bin'))
  for (const program of ['sh', 'ps', 'cat', 'sleep'])
    symlinkSync(
      spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim(),
      join(folder, 'bin', program)
    )
  disk = mountSmallDisk(join(folder, 'disk'))
  disk?.fill()
})
afterAll(async () => {
  await target.close()
  disk?.unmount()
  removeFolder(folder)
})

/** What stays the same from run to run: no ids, paths, times, figures, and no lines of the tool itself. */
function normalise({ out, err, code }: Ended): string {
  const text = `${out}${err}`
    .replaceAll(folder, '/shop')
    .replace(/loadgate-results\/\d{4}-[\dT-]+/g, 'loadgate-results/TIME')
    .replace(/\b[0-9a-f]{24}\b/g, 'ID')
    .replace(/(?<=this JMeter \()[^)]*/g, 'FOLDER')
    // Long messages of JMeter are cut, depending on the length of the paths in them.
    .replace(/(?<=An error occurred: ).*/g, '…')
    .split('\n')
    .filter(
      (line) =>
        !/^\w+ [0-9a-f]{6} node \d+: |^[\w ]+: \d+ s( of \d+ s)?$|^Run ID (is|has|finished|ended) |^(Up to|Stopped after) /.test(
          line
        )
    )
    // A busy machine stands still for a moment.
    .filter((line) => !/^(At [\d:]+ n|N)othing was answered /.test(line))
    .map((line) => (/^(all samples|home|search|product|checkout) /.test(line) ? 'FIGURES' : line))
    .map((line) =>
      /^\d+ +HttpHostConnectException/.test(line) ? 'COUNT  HttpHostConnectException  …' : line
    )
    .map((line) => line.replace(/p95 is [\d.,]+ ms, but \d+ of \d+/, 'p95 is N ms, but N of N'))
    .map((line) => (/^(times in ms|failed) /.test(line) ? line.replace(/ +/g, ' ') : line))
    .map((line) => line.replace(/^Rehearsal, synthetic samples: .*/, 'Rehearsal, synthetic samples: …'))
    .filter((line, at, all) => !(line === all[at - 1] && /^(FIGURES|COUNT)/.test(line)))
  return `${text
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()}\n(exit code ${String(code)})\n`
}

const sections = new Map<string, string>()
const headingOf = (what: string, args: readonly string[]): string =>
  `# ${what}\n$ loadgate run ${args.map((arg) => (/[ "]/.test(arg) ? `'${arg}'` : arg)).join(' ')}\n`
const golden = isUpdate ? '' : readFileSync(GOLDEN, 'utf8')

/** Its part of the golden file. */
function goldenOf(what: string): string | undefined {
  return golden.split(/\n(?=# )/).find((section) => section.startsWith(`# ${what}\n`))
}

const skipsDisk = process.platform !== 'linux' || process.getuid?.() !== 0
const testOf = ({ what }: Mistake): typeof test =>
  lacksJMeter || (what === 'no disk space' && skipsDisk) ? (test.skip as typeof test) : test

for (const mistake of MISTAKES)
  testOf(mistake)(
    `${mistake.what}: what happened, and what to do`,
    async () => {
      const env = { HOME: process.env.HOME ?? '', ...mistake.env?.() }
      const ended = await runCommand(['run', ...mistake.args], { cwd: folder, node: NODE, env })
      const section = headingOf(mistake.what, mistake.args) + normalise(ended)
      sections.set(mistake.what, section)
      expect(section).toBe(isUpdate ? section : goldenOf(mistake.what))
      expect(ended.code).toBe(2)
    },
    INSTALL_MS
  )

test('the golden file has these ten and nothing else', () => {
  const titles = MISTAKES.map(({ what }) => `# ${what}`)
  if (isUpdate) writeFileSync(GOLDEN, [...sections.values()].join('\n'))
  expect(readFileSync(GOLDEN, 'utf8').match(/^# .*/gm)).toEqual(titles)
})
