import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../src/cli/commands.js'
import { IdTokenFile } from '../../src/cli/id-token-file.js'
import { FakeService } from '../support/fake-service.js'
import { removeFolder } from '../support/remove-folder.js'
import { makeIdToken } from '../support/step/id-token-endpoint.js'
import { EAGER_CLOCK, makeCommandPorts, type TestCommandPorts } from './command-ports.js'

const TOKENS = [1, 2, 3].map((number) => makeIdToken({ number }))
let folder: string
let path: string
let service: FakeService
let used: string[]

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-id-token-'))
  path = join(folder, 'id token')
  writeFileSync(path, `${TOKENS[0]}\n`)
  service = await new FakeService().start()
  used = []
  service.accepts = (authorization = '') => TOKENS.some((token) => authorization === `Bearer ${token}`)
  service.faults.push(({ headers }) => {
    used.push(headers.authorization ?? '')
    return false
  })
})
afterEach(async () => {
  await service.stop()
  removeFolder(folder)
})

function makePorts(token = ''): TestCommandPorts {
  const idTokens = new IdTokenFile(path)
  return makeCommandPorts({ token, idTokens, workspace: folder, baseUrl: service.url, clock: EAGER_CLOCK })
}

const bearers = (...tokens: (string | undefined)[]): string[] => tokens.map((token) => `Bearer ${token}`)

test('a command sends the token of the file', async () => {
  const ports = makePorts()
  expect(await runCommandLine(['runs'], ports)).toBe(0)
  expect(new Set(used)).toEqual(new Set(bearers(TOKENS[0])))
})

test('each request reads the file again', async () => {
  service.faults.push(() => {
    writeFileSync(path, TOKENS[1]!)
    return false
  })
  await runCommandLine(['account'], makePorts())
  expect(used.length).toBeGreaterThan(1)
  expect(used).toEqual([...bearers(TOKENS[0]), ...used.slice(1).map(() => `Bearer ${TOKENS[1]}`)])
})

test('after a 401 a token that was written meanwhile is used', async () => {
  service.accepts = (authorization) => authorization === `Bearer ${TOKENS[2]}`
  service.faults.push(() => {
    writeFileSync(path, TOKENS[2]!)
    return false
  })
  expect(await runCommandLine(['account'], makePorts())).toBe(0)
  expect(used.slice(0, 2)).toEqual(bearers(TOKENS[0], TOKENS[2]))
})

test('what a service echoes of any of them is not shown', async () => {
  service.faults.push((_, response) => {
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: `not with ${TOKENS.join(' or ')}` }))
    return true
  })
  const ports = makePorts()
  const failure = await runCommandLine(['run', 'abc'], ports).catch(String)
  expect(failure).toContain('not with *** or *** or ***')
  expect(failure).toContain('Check oidc in its service.yml')
  expect(`${ports.screen.out.text}${ports.screen.err.text}`).not.toContain('eyJ')
})

describe.each([
  ['an API command', ['account']],
  ['the gate', ['run', '--files', 'plan.jmx']],
  ['the check', ['check', '--files', 'plan.jmx']]
])('%s', (_, args) => {
  /** What it says, and whether it fails. */
  async function say(ports: TestCommandPorts): Promise<string> {
    writeFileSync(join(folder, 'plan.jmx'), '<jmeterTestPlan/>')
    const end = await runCommandLine(args, ports).catch(String)
    expect(end).not.toBe(0)
    return `${end} ${ports.screen.out.text}`
  }

  test('needs one of the two variables', async () => {
    expect(await say(makePorts('static-token'))).toContain(
      'LOADGATE_TOKEN and LOADGATE_ID_TOKEN_FILE are both set; remove one of the two'
    )
  })

  test('does not show what names no file: it may be the token itself', async () => {
    for (const token of [makeIdToken({ sub: 'x' }), 'x'.repeat(5000)]) {
      path = token
      const said = await say(makePorts())
      expect(said).toContain('LOADGATE_ID_TOKEN_FILE: there is no such file (EN')
      expect(said).toContain('; set it to the path of a file, and write the ID token into that')
      expect(said).not.toContain(token.slice(-20))
    }
    expect(used).toEqual([])
  })

  test.each([
    ['it is empty', () => writeFileSync(path, '\n'), 'is empty; write the ID token into it'],
    ['it is a folder', () => (path = folder), 'is not a file'],
    ['it is no token', () => writeFileSync(path, 'a b'), 'is not a single token'],
    ['it is huge', () => writeFileSync(path, 'x'.repeat(20_000)), 'has 20000 bytes, which is no token']
  ])('says what is wrong with the file: %s', async (__, spoil, words) => {
    spoil()
    const said = await say(makePorts())
    expect(said).toContain(`LOADGATE_ID_TOKEN_FILE: "${path}" `)
    expect(said).toContain(words)
    expect(used).toEqual([])
  })
})

test('the check asks the service with the token of the file', async () => {
  service.accepts = () => false
  writeFileSync(join(folder, 'plan.jmx'), '<jmeterTestPlan/>')
  const ports = makePorts()
  await runCommandLine(['check', '--files', 'plan.jmx'], ports)
  expect(used[0]).toBe(`Bearer ${TOKENS[0]}`)
  expect(ports.screen.out.text).toContain('Check oidc in its service.yml')
})

test('a file that is briefly empty, while it is written, does not end what runs', async () => {
  const idTokens = new IdTokenFile(path)
  writeFileSync(path, '')
  await expect(idTokens.take()).rejects.toThrow(`LOADGATE_ID_TOKEN_FILE: "${path}" is empty`)
  writeFileSync(path, TOKENS[1]!)
  expect(await idTokens.take()).toBe(TOKENS[1])
})
