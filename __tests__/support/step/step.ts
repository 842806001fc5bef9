import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { QUIET_PLAN } from '../quiet-plan.js'
import { NODE_COMPILE_CACHE } from '../compile-cache.js'
import { removeFolder } from '../remove-folder.js'

const DIST = resolve('dist')
/** Node 24, as on a runner, unless another one is to be tried. */
const NODE = process.env.LOADGATE_BUNDLE_NODE ?? process.execPath

/** The bundles of the actions: the gate, and those that start and stop grids. */
export type Entry = 'main' | 'grid-start' | 'grid-stop'

export interface StepResult {
  readonly code: number | null
  readonly signal: string | null
  /** stdout and stderr as they came, for both are read by the runner. */
  readonly log: string
  readonly outputs: Record<string, string>
  readonly state: Record<string, string>
  readonly summary: string
}

/** One use of the action in a job: the committed bundles as processes, with a runner's files and variables around them. */
export class Step {
  readonly folder = mkdtempSync(join(tmpdir(), 'loadgate-step-'))
  readonly workspace = join(this.folder, 'work space')
  readonly temp = join(this.folder, 'temp')
  inputs: Record<string, string> = {}
  env: Record<string, string> = {}

  constructor() {
    for (const folder of [this.workspace, this.temp]) mkdirSync(folder)
    this.write('plan.jmx', QUIET_PLAN)
    for (const name of ['output', 'state', 'summary']) writeFileSync(join(this.folder, name), '')
  }

  write(path: string, content: string): void {
    const full = join(this.workspace, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, content)
  }

  async main(entry: Entry = 'main'): Promise<StepResult> {
    return this.result(this.start(entry))
  }

  /** As the runner does it: with the saved state, and no inputs to rely on. */
  async post(): Promise<StepResult> {
    const saved = Object.entries(this.read('state')).map(([name, value]) => [`STATE_${name}`, value])
    return this.result(this.start('post', Object.fromEntries(saved) as Record<string, string>))
  }

  start(entry: Entry | 'post', more: Record<string, string> = {}): ChildProcess {
    const inputs = entry === 'post' ? {} : this.inputs
    return spawn(NODE, [join(DIST, entry, 'index.js')], {
      cwd: this.workspace,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE,
        HOME: process.env.HOME,
        TMPDIR: process.env.TMPDIR,
        XDG_STATE_HOME: process.env.XDG_STATE_HOME,
        GITHUB_ACTIONS: 'true',
        GITHUB_WORKSPACE: this.workspace,
        GITHUB_OUTPUT: join(this.folder, 'output'),
        GITHUB_STATE: join(this.folder, 'state'),
        GITHUB_STEP_SUMMARY: join(this.folder, 'summary'),
        GITHUB_REPOSITORY: 'octo/shop',
        GITHUB_REF_NAME: 'main',
        GITHUB_SHA: '0123456789abcdef0123456789abcdef01234567',
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_RUN_ID: '77',
        RUNNER_TEMP: this.temp,
        ...Object.fromEntries(
          Object.entries(inputs).map(([name, value]) => [
            `INPUT_${name.replace(/ /g, '_').toUpperCase()}`,
            value
          ])
        ),
        ...this.env,
        ...more
      }
    })
  }

  async result(child: ChildProcess): Promise<StepResult> {
    let log = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (log += chunk.toString()))
    const [code, signal] = await new Promise<[number | null, string | null]>((done) => {
      child.on('close', (...ending) => done(ending))
    })
    return {
      code,
      signal,
      log,
      outputs: this.read('output'),
      state: this.read('state'),
      summary: this.text('summary')
    }
  }

  text(file: 'output' | 'state' | 'summary'): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }

  /** Name and value pairs as the runner reads them: the last one of a name wins. */
  read(file: 'output' | 'state'): Record<string, string> {
    const values: Record<string, string> = {}
    const lines = this.text(file).split('\n')
    for (let at = 0; at < lines.length; at++) {
      const [, name, delimiter] = /^([^=<]+)<<(.+)$/.exec(lines[at] ?? '') ?? []
      if (name === undefined) continue
      const end = lines.indexOf(delimiter ?? '', at)
      values[name] = lines.slice(at + 1, end).join('\n')
      at = end
    }
    return values
  }

  /** Every file of the step that is not its own state, to search for what must not be there. */
  everythingWritten(): string {
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true })
    return files
      .filter((entry) => entry.isFile() && entry.name !== 'state')
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n')
  }

  remove(): void {
    removeFolder(this.folder)
  }
}
