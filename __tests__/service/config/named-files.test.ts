import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../../../src/service/config/parse-config.js'
import { readGiven } from '../../../src/service/regular-file.js'
import { serve } from '../../../src/service/serve.js'
import { startService } from '../../../src/service/server.js'
import { makeCertificate } from '../../support/certificate.js'
import { createFolders } from '../support.js'

const TOKEN = '0123456789abcdef'
const MIB = 2 ** 20
/** For whoever would wait for a pipe. */
const LONGEST_MS = 20_000
/** Every file that a config file can name, by its key. */
const FILES = {
  'metrics.token-file': 'metrics.token',
  'login.client-secret-file': 'client.secret',
  'login.ca': 'login.pem',
  'oidc: ca of https://ci.example.com': 'ci.pem',
  'tls.certificate': 'tls.pem',
  'tls.key': 'tls.key'
}
const METRICS = 'metrics: { token-file: metrics.token }\n'
const ALL = `${METRICS}external-url: https://load.example.com
tls: { certificate: tls.pem, key: tls.key }
login: { issuer: "https://id.example.com", client-id: x, client-secret-file: client.secret, admins: [ops], ca: login.pem }
oidc: [{ issuer: "https://ci.example.com", name: ci, audience: a, ca: ci.pem, allow: [{ sub: x, role: member }] }]
`

const folders = createFolders()
const pipes: string[] = []
const open: { close(): Promise<void> }[] = []
let folder: string
beforeEach(() => {
  folder = folders.create()
  for (const name of ['login', 'ci', 'tls']) makeCertificate(folder, name)
  for (const name of ['metrics.token', 'client.secret']) writeFileSync(join(folder, name), TOKEN)
})
afterEach(async () => {
  // Whoever waits for one all the same goes on: then the test fails, and does not hang.
  for (const pipe of pipes.splice(0)) {
    const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    rmSync(pipe)
    closeSync(writer)
  }
  await Promise.all(open.splice(0).map((service) => service.close()))
  folders.remove()
})

/** As `loadgate serve --config` with these keys. */
async function start(keys: string): Promise<{ address: string }> {
  const { config, problems } = parseConfig(`listen: 127.0.0.1:0\ndata: data\n${keys}`, folder)
  if (!config) throw new Error(problems.join('\n'))
  const request = { setUp: config, rehearse: true, serviceName: undefined, log: () => undefined }
  const service = await serve(
    { ...request, signal: new AbortController().signal },
    { start: startService, pages: () => import('../../../src/report/page/served/served-pages.js') }
  )
  open.push(service)
  return { address: service.listening ?? '' }
}

function makePipe(file: string): void {
  rmSync(file)
  execFileSync('mkfifo', [file])
  pipes.push(file)
}

describe.each(Object.entries(FILES))('%s', (key, name) => {
  test(
    'that is a pipe is refused at once: nobody may ever write to it',
    async () => {
      const file = join(folder, name)
      makePipe(file)
      await expect(start(ALL)).rejects.toMatchObject({
        name: 'ConfigProblem',
        message: `${key} cannot be read: ${file} is a pipe, not a regular file`
      })
    },
    LONGEST_MS
  )

  test('that is larger than any certificate or token is refused', async () => {
    const file = join(folder, name)
    // All of it is right but for its size.
    appendFileSync(file, '\n'.repeat(MIB))
    await expect(start(ALL)).rejects.toMatchObject({
      name: 'ConfigProblem',
      message: `${key} cannot be read: ${file} has ${statSync(file).size} bytes, more than 1048576`
    })
  })
})

test('each may be a link to a file, as Kubernetes mounts secrets', async () => {
  for (const name of Object.values(FILES)) {
    renameSync(join(folder, name), join(folder, `${name}.of-today`))
    symlinkSync(`${name}.of-today`, join(folder, name))
  }
  await expect(start(ALL)).resolves.toBeDefined()
})

test('one of just the largest size is read completely', async () => {
  const file = join(folder, 'client.secret')
  truncateSync(file, MIB)
  expect(await readGiven(file)).toHaveLength(MIB)
})

test.each<[string, (file: string) => void]>([
  ['a pipe', makePipe],
  ['too large', (file) => appendFileSync(file, '\n'.repeat(MIB))]
])(
  'the token of the metrics is nobody’s once its file is %s, until it is right again',
  async (_, spoil) => {
    const { address } = await start(METRICS)
    const ask = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${TOKEN}` }
      return (await fetch(`http://${address}/metrics`, { headers })).status
    }
    expect(await ask()).toBe(200)
    const file = join(folder, 'metrics.token')
    spoil(file)
    // One thread of Node each would wait for a pipe; there are four.
    expect(await Promise.all(Array.from({ length: 8 }, ask))).toEqual(Array.from({ length: 8 }, () => 401))
    rmSync(file)
    writeFileSync(file, TOKEN)
    expect(await ask()).toBe(200)
  },
  LONGEST_MS
)
