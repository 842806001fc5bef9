// The service's part in a run on pods, with the product's own code, in a process of its own that tells what it took.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/server/clock.ts'
import { openCluster } from '../../src/server/nodes/kubernetes/open-cluster.ts'
import { createPodPlace } from '../../src/server/nodes/pods/pod-place.ts'

const { folder, namespace, pods, place, script, env } = JSON.parse(process.argv[2])
Object.assign(process.env, env)

const usage = () => ({ ...process.memoryUsage(), ...process.cpuUsage(), atMs: performance.now(), rss: process.memoryUsage.rss(), maxRss: process.resourceUsage().maxRSS * 1024 })
process.on('message', () => process.send({ event: 'usage', usage: usage() }))

const startMs = performance.now()
const cluster = await openCluster({ context: undefined, namespace }, process.env)
const set = await createPodPlace({
  cluster,
  clock: systemClock,
  defaultImage: 'none',
  marker: randomBytes(8).toString('hex'),
  log: (line) => process.send({ event: 'log', line }),
  place: { ...place, instanceTypes: new Map(Object.entries(place.instanceTypes)) }
}).open(
  {
    gridId: randomBytes(8).toString('hex'),
    runId: 'bench',
    region: 'bench',
    quantity: pods,
    instanceType: 'small',
    stopAfterMin: 10,
    isTakenUp: false
  },
  new AbortController().signal
)
const runningMs = performance.now()
try {
  const plan = join(folder, 'plan.jmx')
  await writeFile(plan, Buffer.alloc(100_000, 'x'))
  let waiting = pods
  let open
  const all = new Promise((resolve) => (open = resolve))
  const exits = await Promise.all(
    set.nodes.map((node, index) => {
      const samples = join(folder, `${index}.csv`)
      return node.run(
        {
          id: 'bench',
          file: 'sh',
          args: ['-c', script, 'sh', node.pathOf(samples)],
          cwd: node.pathOf(folder),
          env: node.env,
          onLine: (line) => process.send({ event: 'log', line }),
          brings: [plan],
          follows: [samples],
          collects: [],
          whenReady: () => {
            if (--waiting === 0) {
              process.send({ event: 'ready', openMs: runningMs - startMs, readyMs: performance.now() - runningMs })
              open()
            }
            return all
          }
        },
        new AbortController().signal
      )
    })
  )
  const starts = set.nodes.map((_, index) => set.factsOf(index).startedMs)
  process.send({
    event: 'done',
    failed: exits.filter(({ code }) => code !== 0).length,
    spreadMs: Math.max(...starts) - Math.min(...starts),
    doubts: set.doubts(),
    usage: usage()
  })
} finally {
  await set.close()
}
process.disconnect()
