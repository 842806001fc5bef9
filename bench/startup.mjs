// Process start to first API request of the committed main, compared with the lower bound for any step (a bare node, and a node that
// sends one request with node:http) and with other actions. They take turns, so that other load on the machine affects all of them
// equally. Other actions are given as the paths of their bundles, separated by commas:
//   LOADGATE_BENCH_PEERS=../enterprise-action/dist/index.js,../run-k6-action/dist/index.js npm run bench -- startup
// They exit on a missing input, before any request, so their time is that until exit.
import { createServer } from 'node:http'
import path from 'node:path'
import { reportFigure } from './figure.mjs'
import { MAIN, makeWorkspace, startNode, stepEnvironment } from './step.mjs'

const ROUNDS = Number(process.env.LOADGATE_BENCH_ROUNDS ?? 41)
const PEERS = (process.env.LOADGATE_BENCH_PEERS ?? '').split(',').filter(Boolean)
/** The fastest of three actions in an earlier measurement, relative to a bare node in the same run: 129 ms to 31 ms. */
const RECORDED_PEER_RATIO = 4.16
const PEER_GOAL = 0.6

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
  ...PEERS.map((file) => ({
    name: `\`${file}\`, to its end`,
    args: [path.resolve(file)],
    until: 'end',
    isPeer: true
  })),
  { name: 'loadgate, `dist/main`', args: [MAIN], until: 'request' }
].map((subject) => ({ ...subject, times: [] }))

for (let round = 0; round < ROUNDS; round++) {
  for (const subject of subjects) subject.times.push(await measure(subject))
}
server.closeAllConnections()
server.close()
await workspace.remove()
print()

/** Nothing answers the request: the process is ended as soon as it has sent it. */
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
  const ratioOf = ({ times }) => median(times) / median(bare.times)
  console.log(`## Start-up\n`)
  console.log(
    `Process start to first API request, median (and best) of ${ROUNDS} rounds, Node ${process.version}.\n`
  )
  console.log('| | median | best | ratio to bare node |')
  console.log('|---|---:|---:|---:|')
  for (const subject of subjects) {
    const best = Math.min(...subject.times).toFixed(1)
    console.log(
      `| ${subject.name} | ${median(subject.times).toFixed(1)} ms | ${best} ms | ${ratioOf(subject).toFixed(2)} |`
    )
  }
  const peers = subjects.filter(({ isPeer }) => isPeer).map(ratioOf)
  const ours = ratioOf(subjects.at(-1))
  const name = 'start to first request'
  reportFigure({ name: `${name} to bare node`, value: ours, unit: 'ratio', atMost: RECORDED_PEER_RATIO })
  if (peers.length > 0) {
    const value = ours / Math.min(...peers)
    reportFigure({ name: `${name} to the fastest other action`, value, unit: 'ratio', atMost: PEER_GOAL })
  }
  console.log()
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
}
