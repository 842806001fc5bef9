// One run against the stand-in: the service, or its peer, in a process of its own, and the figures of both sides.
import { fork, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleSubjects } from './bundle-subjects.mjs'
import { LagMeter } from './lag.mjs'

const WATCHED_FILES = 10
export const PLACE = {
  kind: 'kubernetes',
  nodeSelector: {},
  tolerations: [],
  imagePullSecrets: [],
  imagePullPolicy: 'Never',
  hostNetwork: false,
  instanceTypes: { small: { cpu: '50m', memory: '32Mi' } },
  startTimeoutMs: 120_000
}

/** A child that speaks by messages; `until(event)` gives the next one of that name. */
export function start(file, options, execArgv = []) {
  const child = fork(file, [JSON.stringify(options)], { execArgv })
  const heard = []
  const waiting = new Map()
  child.on('message', (message) => {
    if (message.event === 'log') console.error(`  ${message.line}`)
    const next = waiting.get(message.event)
    waiting.delete(message.event)
    if (next === undefined) heard.push(message)
    else next(message)
  })
  const ended = once(child, 'exit')
  const failed = ended.then(([code, signal]) => {
    throw new Error(`${file} ended early with ${code ?? signal}`)
  })
  failed.catch(() => undefined)
  const until = (event) => {
    const index = heard.findIndex((message) => message.event === event)
    if (index >= 0) return Promise.resolve(heard.splice(index, 1)[0])
    return Promise.race([new Promise((resolve) => waiting.set(event, resolve)), failed])
  }
  return {
    until,
    ended,
    count: (event) => heard.filter((message) => message.event === event).length,
    usage: async () => {
      child.send('usage')
      return (await until('usage')).usage
    },
    kill: () => child.kill('SIGKILL')
  }
}

export async function runOnStandIn({ subject = 'service.mjs', pods, rate, seconds, idleSeconds = 5, hasTls = true, pollMs = 250, messageBytes = 32_768, execArgv }) {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-bench-'))
  const tls = hasTls ? makeCertificate(folder) : undefined
  const subjects = await bundleSubjects(join(folder, 'subjects'))
  const standIn = start(subjects('stand-in.mjs'), { pods, rate, seconds, idleSeconds, pollMs, messageBytes, tls })
  let service
  try {
    const { port } = await standIn.until('listening')
    const server = `${hasTls ? 'https' : 'http'}://127.0.0.1:${port}`
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, kubeconfigOf(server, tls?.cert))
    const samples = join(folder, 'samples')
    await mkdir(samples)
    service = start(
      subjects(subject),
      { folder: samples, namespace: 'bench', pods, place: PLACE, script: ':', env: { KUBECONFIG: kubeconfig }, server, ca: tls?.cert },
      execArgv
    )
    await standIn.until('idle')
    const idleFrom = await service.usage()
    const load = await standIn.until('load')
    const from = await service.usage()
    const meter = new LagMeter(samples, spread(pods, WATCHED_FILES))
    const end = await standIn.until('end')
    const to = await service.usage()
    const endMs = performance.now()
    const done = await service.until('done')
    const drainMs = performance.now() - endMs
    const lag = meter.stop()
    const arrived = (await Promise.all(Array.from({ length: pods }, (_, index) => stat(join(samples, `${index}.csv`))))).reduce((sum, { size }) => sum + size, 0)
    await service.ended
    return {
      ...end,
      arrived,
      lag,
      drainMs,
      resumed: standIn.count('resumed'),
      failed: done.failed,
      spreadMs: done.spreadMs,
      maxRss: done.usage.maxRss,
      idleRss: from.rss, idleMem: from,
      idleCores: coresBetween(idleFrom, from),
      cores: coresBetween(from, to),
      standInCores: cpuSec(load.usage, end.usage) / ((to.atMs - from.atMs) / 1000),
      cpuSec: cpuSec(from, done.usage)
    }
  } finally {
    service?.kill()
    standIn.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

const cpuSec = (from, to) => (to.user + to.system - from.user - from.system) / 1e6
const coresBetween = (from, to) => cpuSec(from, to) / ((to.atMs - from.atMs) / 1000)
const spread = (count, wanted) => [...new Set(Array.from({ length: wanted }, (_, index) => Math.floor((index * count) / wanted)))]

function makeCertificate(folder) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key, cert }
}

function kubeconfigOf(server, ca) {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench', namespace: 'bench' } }],
    clusters: [{ name: 'bench', cluster: { server, ...(ca && { 'certificate-authority': ca }) } }],
    users: [{ name: 'bench', user: { token: 'none' } }]
  })
}
