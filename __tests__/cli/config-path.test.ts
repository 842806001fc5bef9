import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runCommandLine } from '../../src/cli/commands.js'
import { startService } from '../../src/service/server.js'
import { EAGER_CLOCK, makeCommandPorts, type TestCommandPorts } from './command-ports.js'
import { removeFolder } from '../support/remove-folder.js'

const FOUND = 'Settings from .github/loadgate.yml. Flags win over it; --config none leaves it out.'
const PLAN =
  '<jmeterTestPlan><hashTree><ThreadGroup testname="users"/><hashTree><HTTPSamplerProxy testname="home"/><hashTree/></hashTree></hashTree></jmeterTestPlan>'
let workspace: string

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'loadgate-config-'))
  put('plan.jmx', PLAN)
  put('other.jmx', PLAN.replace('home', 'other'))
})
afterEach(() => removeFolder(workspace))

function put(path: string, text: string): void {
  mkdirSync(join(workspace, path, '..'), { recursive: true })
  writeFileSync(join(workspace, path), text)
}
const putConfig = (text = 'files: plan.jmx\nthresholds: p95 < 1ms\n'): void =>
  put('.github/loadgate.yml', text)

/** The command in the workspace, with an embedded service that rehearses. */
async function type(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return typeWith({}, ...args)
}

async function typeWith(
  changes: Partial<TestCommandPorts>,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const ports: TestCommandPorts = makeCommandPorts({
    workspace,
    clock: EAGER_CLOCK,
    findFiles: (root) => (pattern) => Promise.resolve([resolve(root, pattern)]),
    startLocalService: ({ dataDir, log }) => startService({ dataDir, engine: 'rehearsal', log }),
    ...changes
  })
  const code = await runCommandLine(args, ports)
  return { code, out: ports.screen.out.text, err: ports.screen.err.text }
}

describe('run', () => {
  test('takes the settings of this folder, says so in one line, and a flag wins', async () => {
    putConfig()
    const run = await type('run', '--rehearse')
    expect(run.code).toBe(1)
    expect(run.out.split('\n')[0]).toBe(FOUND)
    expect(run.out).toMatch(/^failed +p95 < 1ms/m)
    const other = await type('run', '--rehearse', '--thresholds', 'p95 < 9s', '--files', 'other.jmx')
    expect(other.code).toBe(0)
    expect(other.out).toContain(FOUND)
    expect(other.out).toMatch(/^passed +p95 < 9s/m)
    expect(other.out).not.toContain('1ms')
    expect(other.out).toMatch(/^other +\d/m)
  })

  test('a file that nobody named does not say where the token is sent', async () => {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers.host ?? '')
      response.writeHead(401).end('{}')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const token = 'service-token-1'
    const fileHost = `http://localhost:${port}`
    putConfig(`files: plan.jmx\nbase-url: ${fileHost}\n`)
    await expect(typeWith({ token }, 'run')).rejects.toThrow('not trusted with LOADGATE_TOKEN')
    expect(asked).toEqual([])
    await typeWith({ token, baseUrl: `http://127.0.0.1:${port}` }, 'run')
    expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${port}`]))
    await typeWith({ token }, 'run', '--config', '.github/loadgate.yml')
    expect(asked.at(-1)).toBe(`localhost:${port}`)
    server.closeAllConnections()
    server.close()
  })

  test('with --json the line is on standard error', async () => {
    putConfig()
    const { out, err } = await type('run', '--rehearse', '--json')
    expect(err).toContain(FOUND)
    expect(JSON.parse(out)).toMatchObject({ verdict: 'failed' })
  })

  test('another file, or none, if --config says so', async () => {
    putConfig('not a map')
    put('own.yml', 'files: plan.jmx\n')
    for (const args of [
      ['--config', 'own.yml'],
      ['--config', 'none', '--files', 'plan.jmx']
    ]) {
      const { code, out } = await type('run', '--rehearse', ...args)
      expect(code).toBe(0)
      expect(out).not.toContain('Settings from')
    }
    put('none', 'files: gone.jmx\n')
    expect((await type('run', '--rehearse', '--config', 'none', '--files', 'plan.jmx')).code).toBe(0)
    await expect(type('run', '--rehearse')).rejects.toThrow('config: .github/loadgate.yml must be a map')
  })

  test('not for files of another step: the plan of this folder has nothing to do with them', async () => {
    putConfig()
    put('a.csv', 'timeStamp,elapsed,label,responseCode,success\n1760000000000,5,home,200,true\n')
    const { out } = await type('run', '--results', 'a.csv')
    expect(out).not.toContain('Settings from')
    expect(out).not.toContain('1ms')
  })

  test('nothing is found where there is nothing, nor in a folder of that name', async () => {
    mkdirSync(join(workspace, '.github/loadgate.yml'), { recursive: true })
    const { code, out } = await type('run', '--rehearse', '--files', 'plan.jmx')
    expect(code).toBe(0)
    expect(out).not.toContain('Settings from')
  })
})

describe('check and calibrate', () => {
  test('check notes it, also when the settings are wrong; and .yaml is as good', async () => {
    put('.github/loadgate.yaml', 'files: plan.jmx\n')
    expect(await type('check', '--rehearse')).toMatchObject({
      code: 0,
      out: `note  ${FOUND.replace('yml', 'yaml')}\nNo problems found.\n`
    })
    putConfig('files: gone.jmx\nthreads: many\n')
    const { code, out } = await type('check', '--json')
    expect(code).toBe(2)
    const { findings } = JSON.parse(out) as { findings: { level: string; message: string }[] }
    expect(findings[0]).toEqual({ level: 'note', message: FOUND })
    expect(findings[1]).toMatchObject({ level: 'error', message: expect.stringContaining('gone.jmx') })
  })

  test('calibrate', async () => {
    putConfig()
    const { out } = await type('calibrate', '--rehearse', '--runs', '3', '--duration', '30s')
    expect(out.split('\n')[0]).toBe(FOUND)
    expect(out).toContain('Run 3 of 3')
  })
})
