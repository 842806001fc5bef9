// The service's part in a run on pods, with the product's own code, in a process of its own that tells what it took.
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/contract/clock.ts'
import { openCluster } from '../../src/service/nodes/kubernetes/open-cluster.ts'
import { createPodPlace } from '../../src/service/nodes/pods/pod-place.ts'

const { folder, namespace, pods, place, script, env, isNamespaceOurs } = JSON.parse(process.argv[2])
Object.assign(process.env, env)

const usage = () => ({
  ...process.cpuUsage(),
  atMs: performance.now(),
  rss: process.memoryUsage.rss(),
  maxRss: process.resourceUsage().maxRSS * 1024
})
process.on('message', () => process.send({ event: 'usage', usage: usage() }))

const startMs = performance.now()
let messages = 0
const cluster = counting(await openCluster({ context: undefined, namespace }, process.env))
if (isNamespaceOurs) await createNamespace()
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
              process.send({
                event: 'ready',
                openMs: runningMs - startMs,
                readyMs: performance.now() - runningMs
              })
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
    messages,
    failed: exits.filter(({ code }) => code !== 0).length,
    spreadMs: Math.max(...starts) - Math.min(...starts),
    doubts: set.doubts(),
    usage: usage()
  })
} finally {
  await set.close()
  if (isNamespaceOurs) await cluster.request('DELETE', `/api/v1/namespaces/${namespace}`)
}
process.disconnect()

/** How many messages carry the samples. */
function counting(real) {
  return {
    ...real,
    exec: (pod, command, streams, signal) => {
      const { onStdout } = streams
      if (!command.some((word) => word.endsWith('.csv')) || streams.stdin !== 'hold')
        return real.exec(pod, command, streams, signal)
      const count = (bytes) => {
        messages++
        return onStdout(bytes)
      }
      return real.exec(pod, command, { ...streams, onStdout: count }, signal)
    }
  }
}

/** Its service account, which every pod needs, appears a moment later. */
async function createNamespace() {
  await cluster.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } })
  for (;;) {
    const { items } = await cluster.request('GET', `/api/v1/namespaces/${namespace}/serviceaccounts`)
    if (items.length > 0) return
    await sleep(100)
  }
}
