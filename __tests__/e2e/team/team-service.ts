import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { type RequestOptions, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Doc, Reply } from '../../service/support.js'
import { CLI, type Command, type Ended, follow, NODE, runCommand, startCommand } from '../cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'

export type Role = 'admin' | 'member' | 'viewer'

export interface Person {
  readonly name: string
  readonly role: Role
  readonly token: string
}

export interface RunDoc extends Doc {
  readonly queue_position: number | null
}

export interface TeamOptions {
  /** Keys of the config file beyond those that every one has. */
  readonly config?: string
  /** `tls` unless it is behind a proxy, which speaks plain HTTP to it. */
  readonly reach?: 'tls' | 'proxy'
  readonly isRehearsal?: boolean
  readonly nodeFlags?: readonly string[]
}

/** `loadgate serve --config` in its own process, as a platform team runs it, with its own folder, certificate and port. */
export class TeamService {
  readonly folder = mkdtempSync(join(tmpdir(), 'loadgate-team-'))
  readonly dataDir = join(this.folder, 'data')
  readonly configFile = join(this.folder, 'service.yml')
  readonly url: string
  readonly #options: TeamOptions
  /** Of the service, beyond what every command has. */
  env: Readonly<Record<string, string>> = {}
  /** The same for gates. */
  gateEnv: Readonly<Record<string, string>> = {}
  /** Where gates reach it, if not at its own address. */
  gateUrl: string | undefined
  /** Everything that any of its processes has printed. */
  readonly #processes: Command[] = []
  readonly #gates: Command[] = []

  private constructor(port: number, options: TeamOptions) {
    this.#options = options
    // A service that is root runs the tool of the test as another user.
    chmodSync(this.folder, 0o755)
    const { config = '', reach = 'tls' } = options
    this.url = `${reach === 'tls' ? 'https' : 'http'}://127.0.0.1:${port}`
    if (reach === 'tls') makeCertificate(this.folder)
    const way =
      reach === 'tls'
        ? 'tls: { certificate: cert.pem, key: key.pem }'
        : "behind-proxy: { trusted: ['127.0.0.1'] }"
    writeFileSync(this.configFile, [`listen: 127.0.0.1:${port}`, 'data: data', way, config, ''].join('\n'))
  }

  static async create(options: TeamOptions = {}): Promise<TeamService> {
    return new TeamService(await findFreePort(), options)
  }

  get process(): Command {
    return this.#processes.at(-1)!
  }

  /** What the service has said, in all its lives. */
  get log(): string {
    return this.#processes.map((command) => command.text()).join('')
  }

  /** Starts it, or starts it again on the same port and folder. */
  async start(): Promise<void> {
    const { nodeFlags = [], isRehearsal = true } = this.#options
    const rehearse = isRehearsal ? ['--rehearse'] : []
    const command = follow(
      spawn(NODE, [...nodeFlags, CLI, 'serve', '--config', this.configFile, ...rehearse], {
        cwd: this.folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...this.#environment(), ...this.env }
      })
    )
    this.#processes.push(command)
    for (;;) {
      const isReady = await this.send('GET', '/readyz').then(
        ({ status }) => status === 200,
        () => false
      )
      if (isReady) return
      if (command.child.exitCode !== null) throw new Error(`the service did not start:\n${command.text()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async kill(): Promise<void> {
    this.process.child.kill('SIGKILL')
    await this.process.ended
  }

  /** As a deployment stops it. */
  terminate(): Promise<Ended> {
    this.process.child.kill('SIGTERM')
    return this.process.ended
  }

  async addUser(name: string, role: Role): Promise<Person> {
    const args = ['user', 'add', name, '--role', role, '--config', this.configFile, '--json']
    const { code, out, err } = await runCommand(args, { cwd: this.folder })
    if (code !== 0) throw new Error(`${name} could not be added: ${err}`)
    return JSON.parse(out) as Person
  }

  /** `loadgate run` of a person, in a process and a folder of its own. */
  startGate(person: Person, name: string, flags: readonly string[] = []): Command {
    const cwd = join(this.folder, `gate-${name}`)
    mkdirSync(cwd, { recursive: true })
    writeFileSync(join(cwd, 'plan.jmx'), '<HTTPSamplerProxy testname="home" enabled="true"/>')
    const gate = startCommand(
      [
        ...[
          'run',
          '--base-url',
          this.gateUrl ?? this.url,
          '--files',
          'plan.jmx',
          '--grids',
          GRID,
          '--name',
          name
        ],
        ...['--tags', `gate-${name}`, '--poll-interval', '1s', '--output', 'out', ...flags]
      ],
      { cwd, env: { ...this.#environment(), ...this.gateEnv, LOADGATE_TOKEN: person.token } }
    )
    this.#gates.push(gate)
    return gate
  }

  /** What a gate has written for scripts. */
  verdictOf(
    name: string
  ): { verdict: string; reason?: string; run: { id: string } } & Record<string, unknown> {
    return JSON.parse(
      readFileSync(join(this.folder, `gate-${name}`, 'out', 'verdict.json'), 'utf8')
    ) as ReturnType<TeamService['verdictOf']>
  }

  send(
    method: string,
    path: string,
    call: { person?: Person; body?: string | Buffer; headers?: Record<string, string> } = {}
  ): Promise<Reply> {
    const { person, body, headers } = call
    const isSecure = this.url.startsWith('https:')
    const options: RequestOptions & { ca?: string } = {
      method,
      agent: false,
      headers: {
        ...(person && { authorization: `Basic ${Buffer.from(`${person.token}:`).toString('base64')}` }),
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
        // As its proxy says.
        ...(!isSecure && { 'x-forwarded-proto': 'https' }),
        ...headers
      },
      ...(isSecure && { ca: readFileSync(join(this.folder, 'cert.pem'), 'utf8') })
    }
    return new Promise((resolve, reject) => {
      const outgoing = (isSecure ? secureRequest : plainRequest)(
        `${this.url}${path}`,
        options,
        (incoming) => {
          const chunks: Buffer[] = []
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
          incoming.on('error', reject)
          incoming.on('end', () => {
            const bytes = Buffer.concat(chunks)
            const text = bytes.toString('utf8')
            const isJson = (incoming.headers['content-type'] ?? '').includes('json')
            const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Doc
            resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, bytes, json })
          })
        }
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }

  /** Every run of the service, newest first. */
  async listRuns(person: Person): Promise<Doc[]> {
    const runs: Doc[] = []
    for (let page = 1; ; page++) {
      const { json } = await this.send('GET', `/runs?page=${page}`, { person })
      runs.push(...json._embedded.runs)
      if (runs.length >= json.total || json._embedded.runs.length === 0) return runs
    }
  }

  async runNamed(person: Person, name: string): Promise<RunDoc | undefined> {
    return (await this.listRuns(person)).find((run) => run.name === name) as RunDoc | undefined
  }

  /** The run of a gate, once it has one of the statuses. */
  async waitForRun(person: Person, name: string, statuses: readonly string[]): Promise<RunDoc> {
    for (const deadlineMs = Date.now() + 60_000; ;) {
      const run = await this.runNamed(person, name)
      if (run && statuses.includes(run.status)) return run
      if (Date.now() > deadlineMs) throw new Error(`${name} is still ${run?.status}:\n${this.log}`)
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
  }

  async remove(): Promise<void> {
    for (const { child } of [...this.#processes, ...this.#gates]) child.kill('SIGKILL')
    await Promise.all([...this.#processes, ...this.#gates].map(({ ended }) => ended))
    removeFolder(this.folder)
  }

  #environment(): Record<string, string> {
    const { PATH = '', HOME = '', TMPDIR = tmpdir() } = process.env
    const trust = this.url.startsWith('https:') && { NODE_EXTRA_CA_CERTS: join(this.folder, 'cert.pem') }
    return { PATH, HOME, TMPDIR, XDG_STATE_HOME: join(this.folder, 'state'), ...trust }
  }
}

export const GRID =
  '[{ region: local, infrastructure: demand, instance_type: m5.large, instance_quantity: 1, stop_after: 5 }]'

/** A run that takes as long as it says. */
export const inRealTime = (seconds: number): string[] => [
  ...['--duration', `${seconds}s`, '--override-parameters', '-Jrehearsal.realtime=true']
]

/** For this machine only, and its own authority. */
function makeCertificate(folder: string): void {
  const flags = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', '/CN=loadgate', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  execFileSync('openssl', ['req', '-x509', ...flags, ...names, '-keyout', 'key.pem', '-out', 'cert.pem'], {
    cwd: folder,
    stdio: 'ignore'
  })
}

/** So that a restarted service has the address that its gates know. */
async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
