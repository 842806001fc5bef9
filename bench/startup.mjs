// Process start to first API request of the committed main, beside what no step can go below: a bare node, and a node
// that sends one request by node:http. The three take turns, so that a busy machine is as unfair to one as to the others.
import { createServer } from 'node:http'
import { MAIN, makeWorkspace, startNode, stepEnvironment } from './step.mjs'

const ROUNDS = Number(process.env.LOADGATE_BENCH_ROUNDS ?? 41)
const GOAL_RATIO = 100 / 34

let arrived
const server = createServer(() => arrived?.(performance.now()))
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${server.address().port}`
const workspace = await makeWorkspace()
const env = stepEnvironment(workspace, { 'base-url': address, files: 'plan.jmx' })
const plainRequest = `require('node:http').get('${address}').on('error', () => {})`

const subjects = [
  { name: 'bare `node -e 0`, to its end', args: ['-e', '0'], until: 'end' },
  { name: 'one `node:http` request', args: ['-e', plainRequest], until: 'request' },
  { name: 'loadgate, `dist/main`', args: [MAIN], until: 'request' }
].map((subject) => ({ ...subject, times: [] }))

for (let round = 0; round < ROUNDS; round++) {
  for (const subject of subjects) subject.times.push(await measure(subject))
}
server.closeAllConnections()
server.close()
await workspace.remove()
print()

/** Nobody answers the request: the process is ended as soon as it has sent it. */
async function measure({ name, args, until }) {
  const request = new Promise((resolve) => (arrived = resolve))
  const start = performance.now()
  const { child, ended } = startNode(args, { cwd: workspace.workspace, env })
  if (until === 'end') {
    await ended
    return performance.now() - start
  }
  const first = await Promise.race([request, ended])
  if (typeof first !== 'number') throw new Error(`${name} ended without a request:\n${first.text}`)
  child.kill('SIGKILL')
  await ended
  return first - start
}

function print() {
  const [bare] = subjects
  const bareMs = median(bare.times)
  console.log(`## Start-up\n`)
  console.log(
    `Process start to first API request, median (and best) of ${ROUNDS} rounds, Node ${process.version}.\n`
  )
  console.log('| | median | best | ratio to bare node |')
  console.log('|---|---:|---:|---:|')
  for (const { name, times } of subjects) {
    const ratio = (median(times) / bareMs).toFixed(2)
    console.log(
      `| ${name} | ${median(times).toFixed(1)} ms | ${Math.min(...times).toFixed(1)} ms | ${ratio} |`
    )
  }
  const ratio = median(subjects.at(-1).times) / bareMs
  const verdict = ratio <= GOAL_RATIO ? 'met' : 'missed'
  console.log(
    `\nGoal: under 100 ms where bare node takes 34 ms, a ratio of ${GOAL_RATIO.toFixed(2)}: ${verdict}.\n`
  )
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
}
