import { afterAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createServer as createTlsServer } from 'node:tls'
import { FakeService } from '../../support/fake-service.js'
import { GRID } from '../../support/gate/gate-stage.js'
import { Step } from '../../support/step/step.js'
import { removeFolder } from '../../support/remove-folder.js'

/** A name that no machine knows: only the proxy can lead there. */
const HOST = 'load-service.example'
const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const withOpenssl = hasOpenssl ? describe : describe.skip

/** The service behind TLS: its links carry the address that callers use. */
class SecureService extends FakeService {
  publicUrl: string | undefined
  override get url(): string {
    return this.publicUrl ?? super.url
  }
}

const folder = mkdtempSync(join(tmpdir(), 'loadgate-ca-'))
if (hasOpenssl) makeCertificates()
afterAll(() => removeFolder(folder))

interface Scene {
  readonly service: SecureService
  readonly tls: Server
  readonly step: Step
}

/** The tests run at the same time, each on a scene of its own: they wait more than they work. */
const onScene = (run: (scene: Scene) => Promise<void>) => async (): Promise<void> => {
  const service = await new SecureService().start()
  const tls = await startTls(Number(new URL(service.url).port))
  const step = new Step()
  step.env = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
  step.inputs = { token: service.token, files: 'plan.jmx', grids: GRID, 'poll-interval': '1s' }
  try {
    await run({ service, tls, step })
  } finally {
    await service.stop()
    await new Promise((resolve) => tls.close(resolve))
    step.remove()
  }
}
const testOnScene = (name: string, run: (scene: Scene) => Promise<void>): void =>
  test.concurrent(name, onScene(run))

/** An authority of our own, and the service's certificate signed by it. */
function makeCertificates(): void {
  const openssl = (...args: string[]): Buffer =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] })
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Test CA',
    '-days',
    '2'
  )
  openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', `/CN=${HOST}`)
  writeFileSync(join(folder, 'names.txt'), `subjectAltName=DNS:${HOST},DNS:localhost,IP:127.0.0.1\n`)
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names.txt']
  openssl('x509', '-req', '-in', 'server.csr', ...authority, '-out', 'server.pem', '-days', '2')
}

/** Takes TLS off and hands on to the plain service. */
async function startTls(servicePort: number): Promise<Server> {
  const files = hasOpenssl ? ['server.key', 'server.pem'].map((name) => readFileSync(join(folder, name))) : []
  const [key, cert] = files
  const server = createTlsServer({ ...(key && cert && { key, cert }) }, (socket) => {
    const plain = connect(servicePort, '127.0.0.1')
    pipeline(socket, plain, socket, () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

withOpenssl('a certificate of one’s own authority', () => {
  test.concurrent.each(['localhost', '127.0.0.1'])('on %s is trusted by NODE_EXTRA_CA_CERTS', (host) =>
    onScene(async ({ service, tls, step }) => {
      service.publicUrl = `https://${host}:${portOf(tls)}`
      step.inputs['base-url'] = service.publicUrl
      const result = await step.main()
      expect(result.log).not.toContain('::error::')
      expect(result.outputs.verdict).toBe('passed')
      expect(service.calls('GET', /result\.csv/)).toHaveLength(1)
    })()
  )

  testOnScene('is refused without it, with a hint, and nothing is sent', async ({ service, tls, step }) => {
    service.publicUrl = `https://localhost:${portOf(tls)}`
    step.inputs['base-url'] = service.publicUrl
    step.env = {}
    const result = await step.main()
    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('error')
    expect(result.log).toMatch(/certificate of localhost:\d+ is not trusted.*NODE_EXTRA_CA_CERTS/)
    expect(service.seen).toEqual([])
  })
})

withOpenssl('a proxy', () => {
  interface Behind extends Scene {
    readonly proxy: Server
    readonly tunnels: string[]
    readonly plain: string[]
  }

  const behindProxy = (run: (scene: Behind) => Promise<void>): (() => Promise<void>) =>
    onScene(async (scene) => {
      const { service, tls, step } = scene
      const tunnels: string[] = []
      const plain: string[] = []
      const proxy = createServer((request, response) => {
        plain.push(request.url ?? '')
        response.writeHead(500).end()
      })
      proxy.on('connect', (request, socket) => {
        tunnels.push(request.url ?? '')
        const inner = connect(portOf(tls), '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
          pipeline(socket, inner, socket, () => undefined)
        })
      })
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
      service.publicUrl = `https://${HOST}`
      step.inputs['base-url'] = `https://${HOST}`
      try {
        await run({ ...scene, proxy, tunnels, plain })
      } finally {
        await new Promise((resolve) => proxy.close(resolve))
      }
    })

  test.concurrent.each(['https_proxy', 'HTTPS_PROXY'])(
    'of %s leads to a host that only it knows',
    (variable) =>
      behindProxy(async ({ service, step, proxy, tunnels, plain }) => {
        step.env[variable] = `http://127.0.0.1:${portOf(proxy)}`
        const result = await step.main()
        expect(result.log).not.toContain('::error::')
        expect(result.outputs.verdict).toBe('passed')
        expect(new Set(tunnels)).toEqual(new Set([`${HOST}:443`]))
        expect(plain).toEqual([])
        expect(service.calls('POST', /runs$/)).toHaveLength(1)
      })()
  )

  test.concurrent(
    'is used by post as well',
    behindProxy(async ({ service, step, proxy }) => {
      step.env.https_proxy = `http://127.0.0.1:${portOf(proxy)}`
      service.statuses = ['running']
      const main = step.start('main')
      const result = step.result(main)
      while (service.calls('GET', /runs\/\w+$/).length === 0)
        await new Promise((resolve) => setTimeout(resolve, 20))
      main.kill('SIGKILL')
      await result
      await step.post()
      expect(service.calls('GET', /stop$/)).toHaveLength(1)
      expect(service.runList.map(({ statuses }) => statuses)).toEqual([['finished']])
    })
  )

  test.concurrent(
    'without its variables the host is not known, and no run is started',
    behindProxy(async ({ service, step, tunnels }) => {
      const result = await step.main()
      expect(result.outputs.verdict).toBe('error')
      expect(result.log).toContain(`unknown host ${HOST} (ENOTFOUND). Check base-url`)
      expect(tunnels).toEqual([])
      expect(service.seen).toEqual([])
    })
  )
})
