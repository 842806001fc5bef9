import { isIP } from 'node:net'
import { finished } from 'node:stream/promises'
import { splitLines } from '../lines.js'
import { openIfThere } from '../regular-file.js'
import type { LoadNode } from '../nodes/load-node.js'
import type { InstallPorts } from './install/run-to-end.js'
import type { NodeLine } from '../node-lines.js'

export interface PlanRequest {
  /** As in `run[tool]`, in the API document's own word. */
  readonly tool: string
  /** The names of the uploaded files; the plan is the first. */
  readonly fileNames: readonly string[]
  readonly threads: number | null
  readonly rampupSec: number | null
  readonly durationSec: number | null
  readonly hosts: readonly HostOverride[]
  readonly properties: readonly PropertyOverride[]
}

/** A plan to prepare, once per run. */
export interface PlanToPrepare extends PlanRequest {
  /** The folder of the uploaded files. They are not to be changed: a repeat of the run needs them. */
  readonly uploadDir: string
  /** For what is compiled, kept as long as the run's other files. It does not exist yet, unless an earlier service started the run. */
  readonly buildDir: string
  /** One node of each grid, once they run; starting them may take a while. */
  readonly nodes: () => Promise<readonly LoadNode[]>
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
}

/** Where a node stands among the others; indices count from 0. */
export interface NodePosition {
  readonly region: string
  /** Among the grids of the run. */
  readonly gridIndex: number
  /** Among the nodes of its grid. */
  readonly nodeIndex: number
  /** Among the nodes of the run. */
  readonly ordinal: number
}

/** The work of one node of a grid; threads are its share. */
export interface NodeOrder extends Omit<PlanRequest, 'tool' | 'fileNames'> {
  /** What the nodes of its grid share: those with work, and the threads of all of them. */
  readonly whole: { readonly nodes: number; readonly threads: number | null }
  readonly node: LoadNode
  readonly place: NodePosition
  /** The plan; its data files are next to it, and the folder belongs to this node. */
  readonly planFile: string
  /** Where the samples go: CSV in JMeter's columns, with a header. */
  readonly samplesFile: string
  readonly logFile: string
  /** Identifies the node's lines in the log. */
  readonly nodeName: string
  /** Random, and the same if another service continues the node's work: tools mark their lines with it, and a plan cannot know it. */
  readonly mark: string
}

export interface NodeWork {
  readonly order: NodeOrder
  readonly signal: AbortSignal
  readonly ports: InstallPorts
}

/** How a node's work ended; `problem` is the tool's own error if it could not run the plan. */
export interface NodeOutcome {
  readonly problem: string | null
  /** Parts of the plan's load that were not generated although the tool ran to the end, one sentence each. */
  readonly losses?: readonly string[]
  /** What may be a mistake or intended, one sentence each. */
  readonly doubts?: readonly string[]
  /** What the plan itself says must hold, as the tool judged it. */
  readonly lines?: readonly NodeLine[]
  /** The plan had nothing to do for this node. */
  readonly isIdle?: boolean
  /** The time span of the samples, if it differs from the duration of the work. */
  readonly span?: { readonly startMs: number; readonly endMs: number }
}

/** An installed tool and a plan that it can run: what every node of a run shares. */
export interface PreparedPlan {
  /** The version of the tool, and of the browser if it drives one: figures of other versions are not comparable. */
  readonly version: string
  /** Runs the plan to its end or until the signal aborts; samples recorded until then are kept. */
  runNode(order: NodeOrder, signal: AbortSignal): Promise<NodeOutcome>
}

/** A load-test tool. To add another one, implement this in a folder of its own. */
export interface Engine {
  readonly tools: readonly string[]
  /** Its samples are synthetic; everything that shows them must say so. */
  readonly synthetic?: true
  /** Why a run cannot even be created, one sentence each: a file of the wrong kind, an option that has no effect. */
  refuse(request: PlanRequest): string[]
  /** Finds or installs the tool, which it caches, and has the plan compiled on a node. A `ToolError` says what to do. */
  prepare(plan: PlanToPrepare): Promise<PreparedPlan>
}

/** Remembers what was found, but not a failure: what was missing may have been installed since. */
export function findOnce<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined
  return () => {
    found ??= find().catch((thrown: unknown) => {
      found = undefined
      throw thrown
    })
    return found
  }
}

export class Engines {
  constructor(private readonly engines: readonly Engine[]) {}

  get tools(): readonly string[] {
    return this.engines.flatMap(({ tools }) => tools)
  }

  /** True if the samples are made up; then those of every tool are. */
  get synthetic(): boolean {
    return this.engines.some(({ synthetic }) => synthetic === true)
  }

  of(tool: string): Engine {
    const engine = this.engines.find(({ tools }) => tools.includes(tool))
    if (engine === undefined) throw new Error(`no engine runs ${tool}`)
    return engine
  }
}

/** The versions of several nodes, each once: `5.6.3 and 5.5`. */
export function joinVersions(versions: readonly string[]): string {
  const [last = '', ...others] = [...new Set(versions)].reverse()
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`
}

export interface HostOverride {
  readonly host: string
  readonly address: string
}

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*$/i
/** Names that end in a number are read as addresses, such as 127.2 and 0x7f.1. */
const NUMBER_AT_END = /(?:^|\.)(?:\d+|0x[\da-f]*)$/i

/** Reads `example.com/10.0.0.1, other.example/10.0.0.2`; entries are separated by commas or spaces. All tools apply them alike. */
export function parseOverrideHosts(text: string): { hosts: HostOverride[]; problems: string[] } {
  const hosts = new Map<string, HostOverride>()
  const problems: string[] = []
  for (const entry of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const [name = '', address = '', ...rest] = entry.split('/')
    const host = name.replace(/\.$/, '')
    const known = hosts.get(host.toLowerCase())
    const problem = rest.length > 0 ? NOT_AN_ENTRY : (refuseHost(host) ?? refuseAddress(address))
    if (problem !== undefined) problems.push(`override_hosts: "${entry}" ${problem}`)
    else if (known !== undefined && known.address !== address)
      problems.push(`override_hosts: ${host} has two addresses, ${known.address} and ${address}; give one`)
    else hosts.set(host.toLowerCase(), { host, address })
  }
  return { hosts: [...hosts.values()], problems }
}

const NOT_AN_ENTRY = 'is not <host name>/<address>, as in example.com/10.0.0.1'

function refuseHost(host: string): string | undefined {
  if (isIP(host) !== 0 || NUMBER_AT_END.test(host))
    return 'is for an address, which nobody looks up: only host names can have other addresses'
  return HOST_NAME.test(host) ? undefined : NOT_AN_ENTRY
}

/** A name would be looked up by each tool in its own way, and by some as if nothing were overridden. */
function refuseAddress(address: string): string | undefined {
  if (isIP(address) !== 0 && !address.includes('%')) return undefined
  return HOST_NAME.test(address) && !NUMBER_AT_END.test(address)
    ? `has a name where the address must be: look up the address of ${address}, and give that`
    : NOT_AN_ENTRY
}

/** For tools that compare names as texts: a plan may write `shop.example.` too, which is the same host. */
export function withFinalDots(hosts: readonly HostOverride[]): HostOverride[] {
  return hosts.flatMap(({ host, address }) => [
    { host, address },
    { host: `${host}.`, address }
  ])
}

/** A property for the tool: `J` for the tool's own, `D` for Java's. */
export interface PropertyOverride {
  readonly kind: 'J' | 'D'
  readonly name: string
  readonly value: string
  /** The caller said that its value is secret, whatever its name. */
  readonly isSecret?: boolean
}

const OVERRIDE = /^-([JD])([\w.-]+)=([\s\S]*)$/

/** Reads `-Dparam=value, -Jparam=value`; a value may contain commas and spaces. Any other option could make the tool do something else. */
export function parseOverrideParameters(text: string) {
  const properties: PropertyOverride[] = []
  const problems: string[] = []
  for (const entry of splitEntries(text)) {
    const [, kind, name, value] = OVERRIDE.exec(entry) ?? []
    if (name !== undefined && value !== undefined)
      properties.push({ kind: kind === 'D' ? 'D' : 'J', name, value })
    else problems.push(`override_parameters: "${entry}" is not -Jname=value or -Dname=value`)
  }
  return { properties, problems }
}

/** A new entry starts where a comma or a space is followed by `-` and a letter; otherwise it belongs to the value. */
function splitEntries(text: string): string[] {
  const entries: string[] = []
  let between = ''
  // Each run of commas and spaces is read once, however long it is.
  for (const [index, part] of text.split(/([\s,]+)/).entries()) {
    if (index % 2 === 1) between = part
    else if (part !== '' && (entries.length === 0 || /^-[A-Za-z]/.test(part))) entries.push(part)
    else if (part !== '') entries.push(`${entries.pop() ?? ''}${between}${part}`)
  }
  return entries
}

/** The effective value: the last one given for the name. */
export function propertyValue(properties: readonly PropertyOverride[], name: string): string | undefined {
  return properties.findLast((property) => property.name === name)?.value
}

const LOG_CHUNK_BYTES = 1 << 18

/** Reads a tool's log of any size line by line, as far as time allows; there may be none. */
export async function readLogLines(file: string, onLine: (line: string) => void, signal?: AbortSignal) {
  const handle = await openIfThere(file)
  const stream = handle?.createReadStream({ highWaterMark: LOG_CHUNK_BYTES, signal })
  if (stream === undefined) return
  splitLines(stream, onLine)
  await finished(stream).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code !== 'ABORT_ERR') throw thrown
  })
}

const HEADER_BYTES = 1 << 16

export async function hasSamples(samplesFile: string): Promise<boolean> {
  const handle = await openIfThere(samplesFile)
  if (handle === undefined) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES))
    const header = buffer.indexOf('\n')
    return header >= 0 && header + 1 < bytesRead
  } finally {
    await handle.close()
  }
}
