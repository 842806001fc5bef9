import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Shop, startShop } from '../../src/service/demo-shop.js'
import { type Command, type Ended, runCommand } from '../e2e/cli-command.js'
import { type Address, createRun, type FormPart, specFields, waitForStatus } from '../service/support.js'
import { type CountingTarget, startCountingTarget } from '../support/tools/counting-target.js'
import { readRows } from '../support/tools/served-bundle.js'
import {
  buildServiceImage,
  canRunImages,
  type ServiceImage,
  signalContainer
} from '../support/tools/service-image.js'
import { javaPlan } from './gatling-plans.js'

const isSkipped = !canRunImages && process.env.LOADGATE_REQUIRE_IMAGE === undefined
const BUILD_MS = 15 * 60_000
const GRID = {
  ...{ region: 'local', infrastructure: 'demand', instance_type: 'any' },
  ...{ instance_quantity: 1, stop_after: 5 }
}
/** Results are linked there, and the gate sends its token nowhere else. */
const ADDRESS = 'https://localhost:8443'
const TOKEN = 'a-token-of-the-tests'

/** The steps of the Dockerfile without Docker, and what they make in a container's place: not root, on a read-only root. */
describe(`the image of the service${isSkipped ? ' (skipped: needs root on Linux)' : ''}`, () => {
  let image: ServiceImage
  let shop: Shop
  let target: CountingTarget

  beforeAll(async () => {
    if (isSkipped) return
    image = buildServiceImage()
    shop = await startShop({ slow: false })
    target = await startCountingTarget()
  }, BUILD_MS)
  afterAll(async () => {
    if (isSkipped) return
    await shop.close()
    await target.close()
    image.remove()
  })

  const run = (...command: string[]): Promise<Ended> => image.start(command).ended
  const testInImage = isSkipped ? test.skip : test

  testInImage('nothing is written but the data folder and /tmp', async () => {
    const folders = ['/', '/opt/loadgate', '/opt/loadgate-tools', '/usr/local/bin', '/etc', '/etc/loadgate']
    const writable = ['/tmp', '/var/lib/loadgate']
    const script = 'id -u; for folder; do (echo > "$folder/probe") 2>/dev/null && echo "$folder"; done; true'
    const { code, out } = await run('sh', '-c', script, 'sh', ...folders, ...writable)
    expect({ code, out: out.trim().split('\n') }).toEqual({ code: 0, out: ['10001', ...writable] })
  })

  testInImage('JMeter and a compiled plan of Gatling run, with the tools that it brings along', async () => {
    const served = image.start([
      ...['env', `LOADGATE_TOKEN=${TOKEN}`, 'loadgate', 'serve'],
      ...['--data', '/var/lib/loadgate/alone', '--port', '0']
    ])
    const [, url = ''] = await served.shows(/^Address: (http:\/\/127\.0\.0\.1:\d+)\n/m)
    const service = { url, token: TOKEN }
    const example = (fileName: string): FormPart => ({
      ...{ name: 'run_files[]', fileName },
      content: readFileSync(join('examples/shop', fileName), 'utf8')
    })
    const jmeter: FormPart[] = [
      ['run[tool]', 'jmeter'],
      ...[
        ['threads', '2'],
        ['rampup', '0'],
        ['duration', '2']
      ].map(asField),
      asField(['override_parameters', `-Jport=${shop.port}`]),
      ...specFields(),
      example('plan.jmx'),
      example('users.csv')
    ]
    const samples = await samplesOf(service, jmeter)
    const answered = ['home', 'search', 'product', 'checkout'].map((label) => shop.served(label))
    expect(samples).toBe(answered.reduce((sum, count) => sum + count))
    const gatling: FormPart[] = [
      ['run[tool]', 'gatling'],
      asField(['threads', '2']),
      asField(['override_parameters', `-Dport=${target.port}`]),
      ...specFields(),
      { name: 'run_files[]', fileName: 'Plan.java', content: javaPlan('http("home").get("/")') }
    ]
    expect(await samplesOf(service, gatling)).toBe(target.hits())
    expect(target.hits()).toBe(2)
    expect(served.text()).not.toMatch(/Installing/)
    signalContainer(served, 'SIGTERM')
    expect(await served.ended).toMatchObject({ code: 0 })
  })

  describe('as its entry point starts it', () => {
    let served: Command

    beforeAll(async () => {
      if (isSkipped) return
      makeCertificate(image.configDir)
      const lines = [
        'listen: 127.0.0.1:8443',
        'data: /var/lib/loadgate/team',
        'drain: 10s',
        `external-url: ${ADDRESS}`
      ]
      const tls = 'tls: { certificate: tls.crt, key: tls.key }'
      writeFileSync(join(image.configDir, 'service.yml'), `${[...lines, tls].join('\n')}\n`)
      served = image.start(image.entrypoint)
      await untilHealthy(image, served)
    }, 60_000)

    testInImage('a user is added in another container, and their gate passes', async () => {
      const added = await run(
        ...['loadgate', 'user', 'add', 'shop-ci', '--role', 'member'],
        ...['--config', '/etc/loadgate/service.yml', '--json']
      )
      const { token } = JSON.parse(added.out) as { token: string }
      const gate = await runCommand(
        [
          ...['run', '--base-url', ADDRESS],
          ...['--output', join(image.configDir, '../results')],
          ...['--files', 'examples/shop/plan.jmx', '--files', 'examples/shop/users.csv'],
          ...['--threads', '2', '--duration', '3s', '--override-parameters', `-Jport=${shop.port}`],
          ...['--grids', JSON.stringify([GRID])],
          ...['--thresholds', 'error_rate < 1%']
        ],
        {
          cwd: process.cwd(),
          env: { LOADGATE_TOKEN: token, NODE_EXTRA_CA_CERTS: join(image.configDir, 'tls.crt') }
        }
      )
      expect([gate.code, gate.code === 0 ? '' : gate.out + gate.err]).toEqual([0, ''])
    })

    testInImage('its end is quiet', async () => {
      signalContainer(served, 'SIGTERM')
      expect(await served.ended).toMatchObject({ code: 0 })
      expect(await run(...image.healthcheck)).toMatchObject({ code: 1 })
    })
  })
})

function asField([key, value]: readonly string[]): FormPart {
  return [`run[${key!}]`, value!]
}

async function samplesOf(service: Address, parts: readonly FormPart[]): Promise<number> {
  const id = await createRun(service, parts)
  const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'], 120_000)
  expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
  return (await readRows(service, run)).length
}

async function untilHealthy(image: ServiceImage, served: Command): Promise<void> {
  while ((await image.start(image.healthcheck).ended).code !== 0)
    if (served.child.exitCode !== null) throw new Error(`the service ended:\n${served.text()}`)
}

function makeCertificate(folder: string): void {
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '1'
      ],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
      ...['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.crt')]
    ],
    { stdio: 'ignore' }
  )
  execFileSync('chown', ['10001', join(folder, 'tls.key')])
}
