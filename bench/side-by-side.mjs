// Is the comparison side by side right? The demo's two shops, real JMeter, segments of 5 s, a limit of 5 %: without a difference
// nothing may be broken, with a head that is 20 % slower it must be. `--tries 1` does one try each way instead of five.
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { reportFigure } from './figure.mjs'
import { startNode } from './step.mjs'

const CLI = fileURLToPath(new URL('../dist/cli/index.js', import.meta.url))
const WAYS = [
  {
    slower: 0,
    goal: 'nothing is broken',
    isRight: (lines) => lines.every(({ outcome }) => outcome !== 'broken')
  },
  {
    slower: 20,
    goal: 'a line is broken',
    isRight: (lines) => lines.some(({ outcome }) => outcome === 'broken')
  }
]

const { values } = parseArgs({ options: { tries: { type: 'string', default: '5' } } })
const tries = Number(values.tries)
if (!Number.isInteger(tries) || tries < 1)
  throw new Error(`--tries takes a whole number, found ${values.tries}`)

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-bench-'))
try {
  console.log('## Side by side\n')
  console.log(
    '| try | head | line | outcome | change | 98 % interval | p |\n|---:|---|---|---|---:|---:|---:|'
  )
  const results = []
  // Both ways at once, so that changing load on the machine affects both.
  for (let index = 1; index <= tries; index++) {
    const tried = WAYS.map(async (way) => ({ way, ...(await compare(index, way)) }))
    // If one fails, the other still works in the folder.
    await Promise.allSettled(tried)
    results.push(...(await Promise.all(tried)))
  }
  for (const way of WAYS)
    printWay(
      way,
      results.filter((result) => result.way === way)
    )
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function compare(index, { slower, isRight }) {
  const cwd = path.join(folder, `${index}-${slower}`)
  await mkdir(cwd)
  const startMs = performance.now()
  const { ended } = startNode([CLI, 'demo', '--compare', '--slower', String(slower)], {
    cwd,
    env: process.env
  })
  const { code, text } = await ended
  const seconds = (performance.now() - startMs) / 1000
  const document = await readVerdict(path.join(cwd, 'loadgate-results'))
  // Without a comparison there is nothing that could be right.
  if (document === undefined || !['passed', 'failed'].includes(document.verdict))
    throw new Error(`the comparison ended with ${code}:\n${text}`)
  if (document.rehearsal) throw new Error('this needs Java and Maven: a rehearsal compares nothing')
  const lines = document.thresholds.filter(({ outcome }) => outcome !== undefined)
  for (const line of lines) console.log(`| ${index} | +${slower} % | ${describe(line)} |`)
  return { seconds, isRight: lines.length > 0 && isRight(lines) }
}

async function readVerdict(results) {
  const [name] = await readdir(results).catch(() => [])
  const text =
    name && (await readFile(path.join(results, name, 'verdict.json'), 'utf8').catch(() => undefined))
  return text && JSON.parse(text)
}

function describe({ text, outcome, changePct, interval, p }) {
  const percent = (number) => `${number < 0 ? '−' : '+'}${Math.abs(number).toFixed(1)} %`
  const cells = [
    `\`${text}\``,
    outcome,
    typeof changePct === 'number' ? percent(changePct) : '–',
    Array.isArray(interval) ? interval.map(percent).join(' to ') : '–',
    typeof p === 'number' ? p.toPrecision(1) : '–'
  ]
  return cells.join(' | ')
}

function printWay({ slower, goal }, results) {
  const right = results.filter(({ isRight }) => isRight).length
  const seconds = Math.max(...results.map((result) => result.seconds)).toFixed(0)
  const value = results.length - right
  console.log(`\nA head that is ${slower} % slower: ${goal}. The longest try took ${seconds} s.`)
  reportFigure({
    ...{ name: `wrong tries with a head ${slower} % slower`, value },
    ...{ unit: `of ${results.length}`, atMost: 0 }
  })
}
