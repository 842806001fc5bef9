// Loaded into the process of a service before anything else: tells its routes and its memory to a file that the test names.
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const file = process.env.NODE_LOADGATE_WATCH_FILE
const tell = (fact) => appendFileSync(file, `${JSON.stringify(fact)}\n`)

subscribe('fastify.initialization', ({ fastify }) => {
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) tell({ route: { method: one, url } })
  })
})
process.on('unhandledRejection', (reason) => tell({ stray: String(reason?.stack ?? reason) }))

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
process.on('SIGUSR2', () => {
  collectGarbage()
  const { rss, heapUsed, external } = process.memoryUsage()
  tell({ memory: { rss, heapUsed, external } })
})
