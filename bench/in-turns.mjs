// Compares a tool alone with the same tool through `loadgate run`.
import { spawn } from 'node:child_process'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { reportFigure } from './figure.mjs'

const ROUNDS = Number(process.env.LOADGATE_BENCH_ROUNDS ?? 5)
const GOAL_RATIO = 0.97
const MOST_SPREAD = 1.15

/**
 * Measures both subjects, each a function of the shop's port and a name that returns samples per second. They take turns, and
 * the first of each pair alternates: changing load on the machine affects both equally.
 */
export async function compare({ what, alone, subjects, durationS }) {
  const shop = await startShop()
  const rates = { alone: [], embedded: [] }
  try {
    await subjects.embedded(shop.port, 'warm-up') // installs the tool if there is none
    for (let round = 0; round < ROUNDS; round++) {
      const order = round % 2 === 0 ? ['alone', 'embedded'] : ['embedded', 'alone']
      for (const name of order) rates[name].push(await subjects[name](shop.port, `${name}-${round}`))
    }
  } finally {
    shop.child.kill()
  }
  print({ what, alone, durationS }, rates)
}

/** Requests per second by the target's own count, for tools that alone have no rows, or others. */
export function counted(run, durationS) {
  return async (port, name) => {
    const before = await readHits(port)
    await run(port, name)
    return ((await readHits(port)) - before) / durationS
  }
}

function readHits(port) {
  return new Promise((resolve, reject) => {
    get({ port, path: '/hits', agent: false }, async (reply) => {
      let text = ''
      for await (const chunk of reply) text += chunk
      resolve(Number(text))
    }).on('error', reject)
  })
}

function print({ what, alone: name, durationS }, { alone, embedded }) {
  const ratios = embedded.map((rate, round) => rate / alone[round])
  console.log(`Samples per second of ${what}, ${durationS} s per run, ${ROUNDS} rounds in turns.\n`)
  console.log('| | median | lowest | highest |\n|---|---:|---:|---:|')
  console.log(`| ${name} | ${describe(alone, 1)} |`)
  console.log(`| \`loadgate run\` | ${describe(embedded, 1)} |`)
  console.log(`| ratio of the two per round | ${describe(ratios, 3)} |`)
  // If the tool alone varies between rounds, the measurement shows other load on the machine.
  const spread = Math.max(...alone) / Math.min(...alone)
  if (spread > MOST_SPREAD)
    console.log(
      `\nGoal: a ratio of at least ${GOAL_RATIO}: unclear, because ${name} varied by a factor of ${spread.toFixed(2)}; measure on a quiet machine.`
    )
  else {
    const figure = `samples per second to ${name}`
    reportFigure({ name: figure, value: median(ratios), unit: 'ratio', atLeast: GOAL_RATIO })
  }
  console.log()
}

function describe(numbers, digits) {
  const shown = [median(numbers), Math.min(...numbers), Math.max(...numbers)]
  return shown.map((number) => number.toFixed(digits)).join(' | ')
}

/** A shop in its own process, so that neither subject shares one with it. It tells how many requests it has answered. */
async function startShop() {
  const source = `
    const http = require('node:http')
    let hits = 0
    const server = http.createServer((request, reply) => {
      if (request.url === '/hits') return reply.end(String(hits))
      hits++
      request.resume().on('end', () => setTimeout(() => reply.end('ok'), 3))
    })
    server.listen(0, '127.0.0.1', () => console.log(server.address().port))`
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) return { child, port: Number(line) }
  throw new Error('the shop did not open')
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
  return middle.reduce((sum, number) => sum + number, 0) / middle.length
}
