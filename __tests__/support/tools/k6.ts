import { describe } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { K6Facts, K6Order } from '../../../src/service/programs/k6/order.js'
import { runK6, type RunPorts } from '../../../src/service/programs/k6/run-k6.js'
import { removeFolder } from '../remove-folder.js'

const cached = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'loadgate-k6', 'k6')

/** The real k6: of `K6`, in the cache, where `.ci/run` installs it, or on the PATH. */
export const K6 = process.env.K6 ?? (existsSync(cached) ? cached : 'k6')
/** Where tools are required, a test that lacks it fails instead. */
export const lacksK6 =
  spawnSync(K6, ['version']).status !== 0 && process.env.LOADGATE_REQUIRE_TOOLS === undefined
export const k6Note = lacksK6 ? ' (skipped: there is no k6; `go install go.k6.io/k6@v1.8.1` installs it)' : ''

export function describeWithK6(name: string, tests: () => void): void {
  ;(lacksK6 ? describe.skip : describe)(`${name}${k6Note}`, tests)
}

interface Hit {
  readonly path: string
  readonly host: string
  readonly atMs: number
}

/** A target on loopback that notes when it was asked for what. `?ms=` or the path delays the answer; `/fail` gets a 500. */
export async function startTimedTarget(delaysMs: Readonly<Record<string, number>> = {}) {
  const hits: Hit[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://target')
    hits.push({ path: pathname, host: request.headers.host ?? '', atMs: Date.now() })
    setTimeout(
      () => response.writeHead(pathname === '/fail' ? 500 : 200).end('hello'),
      Number(searchParams.get('ms') ?? delaysMs[pathname] ?? 5)
    ).unref()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

interface K6Row {
  readonly startMs: number
  readonly elapsedMs: number
  readonly label: string
  readonly code: string
  readonly thread: string
  readonly isOk: boolean
  readonly message: string
  /** Empty for what counts overall. */
  readonly partOf: string
}

/** A device has no end. */
function hasRows(file: string): boolean {
  return existsSync(file) && statSync(file).isFile()
}

/** None of the tests' labels has a comma. */
function readK6Rows(file: string): K6Row[] {
  const [header = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n')
  const columns = header.split(',')
  return lines.map((line) => {
    const fields = line.split(',')
    const of = (name: string): string => fields[columns.indexOf(name)] ?? ''
    return {
      ...{ startMs: Number(of('timeStamp')), elapsedMs: Number(of('elapsed')), label: of('label') },
      ...{ code: of('responseCode'), thread: of('threadName'), isOk: of('success') === 'true' },
      ...{ message: of('failureMessage'), partOf: fields.at(-1) ?? '' }
    }
  })
}

export interface ScriptRun {
  readonly facts: K6Facts
  readonly rows: readonly K6Row[]
  readonly log: readonly string[]
}

/** Runs scripts with the program of the nodes, in folders of their own. */
export class K6Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'loadgate-k6-'))
  readonly samplesFile = join(this.folder, 'samples.csv')
  /** Of the script. */
  env: Record<string, string> = {}
  k6 = K6
  #runs = 0

  write(name: string, text: string): string {
    writeFileSync(join(this.folder, name), text)
    return join(this.folder, name)
  }

  async run(
    script: string,
    changes: Partial<K6Order> = {},
    ports: Partial<Pick<RunPorts, 'limits'>> = {}
  ): Promise<ScriptRun> {
    const file = this.write('script.js', script)
    this.#runs++
    const tempDir = join(this.folder, `temp-${this.#runs}`)
    mkdirSync(tempDir)
    const order: K6Order = {
      ...{ word: 'word', k6: this.k6, script: file, samplesFile: this.samplesFile, logFile: '/dev/null' },
      ...{ threadPrefix: '1-', vus: null, rampupSec: null, durationSec: null, part: 0, parts: 1, hosts: [] },
      ...changes
    }
    const log: string[] = []
    const facts = await runK6(order, {
      env: { PATH: process.env.PATH, HOME: this.folder, ...this.env },
      ...{ signal: new AbortController().signal, tempDir, log: (line: string) => log.push(line) },
      ...ports
    })
    return { facts, rows: hasRows(order.samplesFile) ? readK6Rows(order.samplesFile) : [], log }
  }

  remove(): void {
    removeFolder(this.folder)
  }
}
