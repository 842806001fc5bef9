// A Kubernetes API server that only pretends: Jobs run at once, and the pods' rows are made here. Everything between it and the
// service is real: TLS, WebSockets, the protocol of exec. Pods of a group have the same rows, so that they are made and hashed once.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { clearInterval, setInterval, setTimeout } from 'node:timers'
import { URL } from 'node:url'
import { WebSocketServer } from 'ws'
import { HEADER, ROW_BYTES, RowTemplate } from './rows.mjs'

const [STDOUT, STDERR, STATUS] = [1, 2, 3]
const GROUPS = 25
const BEAT_MS = 5000

const options = JSON.parse(process.argv[2])
const { pods: podCount, rate, seconds, idleSeconds, pollMs, messageBytes } = options
const started = `${Date.now()}000000 - - -`
let ended = ''
let labels = {}
let jobName = ''
const streams = new Set()

/** The rows of some pods. */
class Group {
  hash = createHash('sha256')
  size = 0
  sent = []
  #template = new RowTemplate(Math.round((rate * pollMs) / 1000))

  #add(bytes) {
    this.hash.update(bytes)
    this.size += bytes.length
    this.sent.push(bytes)
    const frames = framesOf(STDOUT, bytes)
    for (const { socket, group } of streams) if (group === this) socket.write(frames)
  }

  start() {
    this.#add(HEADER)
  }

  tick(nowMs) {
    this.#add(this.#template.fill(nowMs, pollMs))
  }
}
const groups = Array.from({ length: GROUPS }, () => new Group())
const groupOf = (pod) => groups[Number(pod.split('-').at(-1)) % GROUPS]

/** Messages as the exec protocol has them, ready to be sent as they are. */
function framesOf(channel, bytes) {
  const frames = []
  for (let at = 0; at < bytes.length; at += messageBytes) {
    const part = bytes.subarray(at, at + messageBytes)
    const length = part.length + 1
    const head = length < 126 ? Buffer.alloc(3) : length < 65536 ? Buffer.alloc(5) : Buffer.alloc(11)
    head[0] = 0x82
    if (length < 126) head[1] = length
    else if (length < 65536) {
      head[1] = 126
      head.writeUInt16BE(length, 2)
    } else {
      head[1] = 127
      head.writeBigUInt64BE(BigInt(length), 2)
    }
    head[head.length - 1] = channel
    frames.push(head, part)
  }
  return Buffer.concat(frames)
}

const say = (ws, channel, text) => ws.send(Buffer.from(String.fromCharCode(channel) + text, 'latin1'))

function finish(ws, text) {
  if (text !== '') say(ws, STDOUT, text)
  say(ws, STATUS, '{"status":"Success"}')
  ws.close(1000)
}

/** What a script is for shows in what it does. */
const ANSWERS = [
  { mark: 'echo "turn;', act: (ws) => finish(ws, 'turn;;;0\n') },
  { mark: 'echo copied', act: swallow },
  { mark: 'while read -r word', act: answer },
  { mark: 'beat;', act: follow },
  { mark: 'sha256sum', act: (ws, pod, [file]) => finish(ws, digestOf(pod, file)) }
]

function digestOf(pod, file) {
  const { size, hash } = groupOf(pod)
  return file.endsWith('.csv') ? `${size} ${hash.copy().digest('hex')}  -\n` : '- -\n'
}

function swallow(ws, pod, [, , bytes]) {
  let missing = Number(bytes)
  ws.on('message', (data) => {
    missing -= data.length - 1
    if (missing === 0) finish(ws, 'copied\n')
  })
}

function answer(ws) {
  ws.on('message', (data) => {
    for (const word of data.toString('latin1', 1).split('\n')) {
      if (word === 'time') say(ws, STDOUT, `${Date.now()}000000\n`)
      if (word === 'go') say(ws, STDOUT, `${Date.now()}000000 - - -\n`)
    }
  })
}

function follow(ws, pod, [, , first]) {
  const stream = { ws, socket: ws._socket, group: groupOf(pod) }
  ws.on('close', () => streams.delete(stream))
  beat(stream)
  if (stream.group.sent.length > 0) {
    process.send({ event: 'resumed' })
    const missed = Buffer.concat(stream.group.sent).subarray(Number(first) - 1)
    if (missed.length > 0) stream.socket.write(framesOf(STDOUT, missed))
  }
  streams.add(stream)
  if (streams.size === podCount) begin()
}

function beat({ ws, group }) {
  const size = ended === '' ? '-' : group.size
  say(ws, STDERR, `beat;${started};${ended};${size};- - -\n`)
}

let hasBegun = false
/** When all are here: a while of nothing, then the load, then the end. */
function begin() {
  if (hasBegun) return
  hasBegun = true
  process.send({ event: 'idle' })
  const beats = setInterval(() => streams.forEach(beat), BEAT_MS)
  setTimeout(() => {
    process.send({ event: 'load', usage: process.cpuUsage() })
    groups.forEach((group) => group.start())
    load(() => {
      clearInterval(beats)
      ended = `0 ${Date.now()}000000 - - -`
      process.send({
        event: 'end',
        usage: process.cpuUsage(),
        rows: groups.reduce(
          (sum, { size }, index) => sum + ((size - HEADER.length) / ROW_BYTES) * sizeOf(index),
          0
        ),
        bytes: groups.reduce((sum, { size }, index) => sum + size * sizeOf(index), 0)
      })
      streams.forEach(beat)
    })
  }, idleSeconds * 1000)
}

const sizeOf = (group) => Math.floor(podCount / GROUPS) + (group < podCount % GROUPS ? 1 : 0)

/** One group after another, each at its turn of the interval. */
function load(onEnd) {
  const startMs = Date.now()
  let ticks = 0
  const timer = setInterval(() => {
    const due = Math.min(((Date.now() - startMs) / pollMs) * GROUPS, (seconds * 1000 * GROUPS) / pollMs)
    while (ticks < due) groups[ticks++ % GROUPS].tick(Math.round(startMs + (ticks * pollMs) / GROUPS))
    if (Date.now() - startMs < seconds * 1000) return
    clearInterval(timer)
    onEnd()
  }, pollMs / GROUPS)
}

function handle(request, response) {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'POST') {
      const { metadata, spec } = JSON.parse(Buffer.concat(chunks))
      jobName = metadata.name
      labels = spec.template.metadata.labels
    }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(documentFor(request)))
  })
}

function documentFor({ method, url }) {
  if (method !== 'GET') return {}
  const { pathname } = new URL(url, 'http://stand-in')
  if (pathname.endsWith('/pods'))
    return { items: Array.from({ length: podCount }, (_, index) => podOf(index)) }
  if (pathname.endsWith('/jobs'))
    return {
      items: [{ metadata: { name: jobName, uid: 'job', labels }, status: {} }]
    }
  return { items: [] }
}

function podOf(index) {
  return {
    metadata: {
      name: `pod-${index}`,
      uid: `pod-${index}`,
      labels: { ...labels, 'batch.kubernetes.io/job-completion-index': String(index) },
      ownerReferences: [{ uid: 'job' }]
    },
    spec: { nodeName: 'machine-1', containers: [{ name: 'node' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'node', restartCount: 0, state: { running: {} } }]
    }
  }
}

const exec = new WebSocketServer({
  noServer: true,
  perMessageDeflate: false,
  handleProtocols: () => 'v5.channel.k8s.io'
})
const server = options.tls
  ? https.createServer({ key: readFileSync(options.tls.key), cert: readFileSync(options.tls.cert) }, handle)
  : http.createServer(handle)
server.on('upgrade', (request, socket, head) => {
  const url = new URL(request.url, 'http://stand-in')
  const [, , script, , ...args] = url.searchParams.getAll('command')
  exec.handleUpgrade(request, socket, head, (ws) => {
    ws.on('error', () => undefined)
    const step = ANSWERS.find(({ mark }) => script.includes(mark))
    if (step === undefined) throw new Error(`no answer to the script ${script}`)
    step.act(ws, url.pathname.split('/').at(-2), args)
  })
})
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () =>
  process.send({ event: 'listening', port: server.address().port })
)
process.on('disconnect', () => process.exit())
