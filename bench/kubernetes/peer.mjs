// What the service is compared with: a WebSocket per pod, each message appended to its file. It resumes, checks and stops nothing.
import { openSync, readFileSync, write } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import { URLSearchParams } from 'node:url'
import WebSocket from 'ws'

const { folder, server, ca, pods } = JSON.parse(process.argv[2])
const agent = ca === undefined ? undefined : new https.Agent({ ca: readFileSync(ca) })
const AT_ONCE = 50

const usage = () => ({
  ...process.cpuUsage(),
  atMs: performance.now(),
  rss: process.memoryUsage.rss(),
  maxRss: process.resourceUsage().maxRSS * 1024
})
process.on('message', () => process.send({ event: 'usage', usage: usage() }))

function follow(pod, file, local, onOpen) {
  const query = new URLSearchParams(
    ['sh', '-c', 'beat;', 'sh', '/turn', file, '1'].map((word) => ['command', word])
  )
  const url = `${server.replace(/^http/, 'ws')}/api/v1/namespaces/bench/pods/${pod}/exec?${query}`
  const ws = new WebSocket(url, ['v5.channel.k8s.io'], {
    agent,
    perMessageDeflate: false,
    skipUTF8Validation: true
  })
  const fd = openSync(local, 'a')
  let arrived = 0
  let size
  let writing = 0
  return new Promise((resolve, reject) => {
    const endIfComplete = () => {
      if (arrived !== size || writing > 0) return
      ws.close()
      resolve()
    }
    ws.on('open', onOpen)
    ws.on('error', reject)
    ws.on('message', (data) => {
      if (data[0] === 1) {
        arrived += data.length - 1
        writing++
        write(fd, data, 1, data.length - 1, null, () => {
          writing--
          endIfComplete()
        })
      } else {
        const [, , ended, bytes] = data.toString('latin1', 1).split(';')
        if (ended !== '') size = Number(bytes)
        endIfComplete()
      }
    })
  })
}

const all = []
for (let index = 0; index < pods; index += AT_ONCE) {
  const opened = []
  for (let pod = index; pod < Math.min(pods, index + AT_ONCE); pod++) {
    const local = join(folder, `${pod}.csv`)
    opened.push(new Promise((resolve) => all.push(follow(`pod-${pod}`, `/${pod}.csv`, local, resolve))))
  }
  await Promise.all(opened)
}
await Promise.all(all)
process.send({ event: 'done', failed: 0, usage: usage() })
process.disconnect()
