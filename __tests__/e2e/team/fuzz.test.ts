import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Fuzzer } from '../../support/fuzz/fuzz.js'
import type { Route } from '../../support/fuzz/make-request.js'
import { ESCAPED } from '../../support/fuzz/odd-values.js'
import { slice } from '../../support/slice.js'
import { finishRun, get } from '../../server/support.js'
import { HTML } from '../../server/pages/page-support.js'
import { CLI, type Command, follow, NODE, until } from '../cli-command.js'
import { spawn } from 'node:child_process'

const COUNT = slice(1500, 20_000)
const SEED = Number(process.env.LOADGATE_FUZZ_SEED ?? 16_000_000)
const THIRDS = 3
const TOKEN = 'lg_fuzz_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'
const MIB = 1024 ** 2

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly external: number
}
interface Facts {
  readonly routes: Route[]
  readonly memories: Memory[]
  readonly strays: string[]
}

let folder: string
let dataDir: string
let service: Command

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-fuzz-'))
  for (const name of ['home', 'work', 'temp', 'state']) mkdirSync(join(folder, name))
  dataDir = join(folder, 'work', 'data')
})
afterEach(async () => {
  service.child.kill('SIGKILL')
  await service.ended
  rmSync(folder, { recursive: true, force: true })
})

function startService(): void {
  const watch = resolve('__tests__/support/fuzz/watch-process.mjs')
  service = follow(
    spawn(NODE, ['--import', watch, CLI, 'serve', '--data', dataDir, '--rehearse', '--json'], {
      cwd: join(folder, 'work'),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: join(folder, 'home'),
        TMPDIR: join(folder, 'temp'),
        XDG_STATE_HOME: join(folder, 'state'),
        LOADGATE_TOKEN: TOKEN,
        LOADGATE_WATCH_FILE: join(folder, 'facts.jsonl')
      }
    })
  )
}

function readFacts(): Facts {
  const lines = readFileSync(join(folder, 'facts.jsonl'), 'utf8').trim().split('\n')
  const facts = lines.map((line) => JSON.parse(line) as { route?: Route; memory?: Memory; stray?: string })
  return {
    routes: facts.flatMap(({ route }) => route ?? []),
    memories: facts.flatMap(({ memory }) => memory ?? []),
    strays: facts.flatMap(({ stray }) => stray ?? [])
  }
}

/** Of the service's process, after its garbage was collected. */
async function measureMemory(): Promise<Memory> {
  const { length } = readFacts().memories
  service.child.kill('SIGUSR2')
  await until(() => readFacts().memories.length > length || service.child.exitCode !== null)
  return readFacts().memories.at(-1)!
}

/** Everything around the data folder. */
const around = (): string[] =>
  ['', 'home', 'work', 'temp']
    .flatMap((name) => readdirSync(join(folder, name)).map((entry) => join(name, entry)))
    .filter((entry) => entry !== 'facts.jsonl')

test(`${COUNT} requests of any kind to every route do the service no harm`, async () => {
  startService()
  const [line] = await service.shows(/^\{.*\}$/m)
  const { url } = JSON.parse(line) as { url: string }
  const address = { url, token: TOKEN }
  const before = around()
  const { routes } = readFacts()
  expect(routes.length).toBeGreaterThan(15)
  const visit = await get(address, `/?token=${TOKEN}`, { token: null, headers: HTML })
  const cookie = String(visit.headers['set-cookie']).split(';')[0] ?? ''
  const fuzzer = new Fuzzer({
    port: Number(new URL(url).port),
    known: { routes, host: new URL(url).host, tokens: { admin: TOKEN }, cookie },
    secrets: [],
    version: undefined
  })
  await fuzzer.send(SEED - 500, 500)
  const memories = [await measureMemory()]
  for (let third = 0; third < THIRDS; third++) {
    await fuzzer.send(SEED + Math.round((COUNT / THIRDS) * third), Math.round(COUNT / THIRDS))
    memories.push(await measureMemory())
  }
  console.log(
    fuzzer.statuses,
    memories.map(({ rss, heapUsed, external }) => [rss, heapUsed, external].map((n) => Math.round(n / MIB)))
  )
  expect(fuzzer.findings).toEqual([])
  expect(readFacts().strays).toEqual([])
  expect(service.child.exitCode).toBeNull()
  expect(around()).toEqual(before)
  expect(['/tmp', '/', tmpdir()].filter((place) => existsSync(join(place, ESCAPED)))).toEqual([])
  expect((await finishRun(address)).json.status).toBe('finished')
  expect(readdirSync(join(dataDir, 'uploads'))).toEqual([])
}, 600_000)
