// One run against the stand-in: the service, or its peer, in a process of its own, and the figures of both sides.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleSubjects } from './bundle-subjects.mjs'
import { start } from './child.mjs'
import { coresBetween, cpuSec, PLACE } from './figures.mjs'
import { LagMeter } from './lag.mjs'

const WATCHED_FILES = 10
export async function runOnStandIn({
  subject = 'service.mjs',
  pods,
  rate,
  seconds,
  idleSeconds = 5,
  hasTls = true,
  pollMs = 250,
  messageBytes = 32_768,
  execArgv
}) {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-bench-'))
  const tls = hasTls ? makeCertificate(folder) : undefined
  const subjects = await bundleSubjects(join(folder, 'subjects'))
  const standIn = start(subjects('stand-in.mjs'), {
    pods,
    rate,
    seconds,
    idleSeconds,
    pollMs,
    messageBytes,
    tls
  })
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
      {
        folder: samples,
        namespace: 'bench',
        pods,
        place: PLACE,
        script: ':',
        env: { KUBECONFIG: kubeconfig },
        server,
        ca: tls?.cert
      },
      execArgv
    )
    await standIn.until('idle')
    const idleFrom = await service.usage()
    const load = await standIn.until('load')
    const from = await service.usage()
    const meter = new LagMeter(samples, spread(pods, WATCHED_FILES))
    const end = await standIn.until('end')
    const to = await service.usage()
    const bytesByThen = await sizeOf(samples, pods)
    const endMs = performance.now()
    const done = await service.until('done')
    const drainMs = performance.now() - endMs
    const lag = meter.stop()
    const arrived = await sizeOf(samples, pods)
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
      idleRss: from.rss,
      idleCores: coresBetween(idleFrom, from),
      cores: coresBetween(from, to),
      standInCores: cpuSec(load.usage, end.usage) / ((to.atMs - from.atMs) / 1000),
      cpuSecPerMb: cpuSec(from, to) / (bytesByThen / 1e6)
    }
  } finally {
    service?.kill()
    standIn.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

const spread = (count, wanted) => [
  ...new Set(Array.from({ length: wanted }, (_, index) => Math.floor((index * count) / wanted)))
]

async function sizeOf(folder, files) {
  const all = Array.from({ length: files }, (_, index) =>
    stat(join(folder, `${index}.csv`)).catch(() => ({ size: 0 }))
  )
  return (await Promise.all(all)).reduce((sum, { size }) => sum + size, 0)
}

function makeCertificate(folder) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, '-keyout', key, '-out', cert],
    { stdio: 'ignore' }
  )
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
