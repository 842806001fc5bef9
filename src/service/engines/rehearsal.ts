import { createWriteStream } from 'node:fs'
import { basename } from 'node:path'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type { Clock } from '../../contract/clock.js'
import { TOOLS } from '../../contract/vocabulary.js'
import { JMETER_HEADER } from '../../contract/sample-row.js'
import { normal } from '../demo-shop.js'
import type { Engine, NodeOrder, NodeOutcome, PlanToPrepare, PreparedPlan } from './engine.js'
import { propertyValue } from './engine.js'
import { messageOf } from '../../contract/text.js'
import { ToolError } from '../errors.js'
import { askAboutPlan } from '../plans/ask.js'

const DEFAULTS = { threads: 5, durationSec: 10, meanMs: 120, errorPercent: 0.5 }
const THINK_MS = 100
const MAX_SAMPLES = 200_000
/** Every sample looks at all users: with more of them the service would be too busy to answer. */
const MAX_THREADS = 1000
const REAL_TIME_STEP_MS = 200
/** The spread of the response times: the 90th percentile is about 1.7 times the mean. */
const SIGMA = 0.5

/**
 * Generates synthetic samples instead of load, the same ones for the same seed and plan. Override parameters:
 * `-Jrehearsal.mean=<ms>`, `-Jrehearsal.errors=<per cent>`, `-Jrehearsal.problem=<words>` (the plan fails to load),
 * and `-Jrehearsal.realtime=true`, which makes it take as long as it says.
 */
export function createRehearsalEngine(options: { seed: number; clock: Clock }): Engine {
  return {
    tools: TOOLS,
    synthetic: true,
    refuse: () => [],
    prepare: async (plan) => {
      const labels = await labelsOf(plan)
      const runNode: PreparedPlan['runNode'] = (order, signal) =>
        rehearse(order, signal, { ...options, labels })
      return { version: 'rehearsal', runNode }
    }
  }
}

async function rehearse(
  order: NodeOrder,
  signal: AbortSignal,
  { seed, clock, labels }: { seed: number; clock: Clock; labels: readonly string[] }
): Promise<NodeOutcome> {
  const wordsOfFailure = propertyValue(order.properties, 'rehearsal.problem')
  if (wordsOfFailure !== undefined) return { problem: wordsOfFailure }
  const isRealTime = propertyValue(order.properties, 'rehearsal.realtime') === 'true'
  const durationMs = (order.durationSec ?? DEFAULTS.durationSec) * 1000
  // Unless in real time, the run is over as soon as it starts, so its samples lie in the past.
  const startMs = clock.now() - (isRealTime ? 0 : durationMs)
  const random = createRandom(`${seed} ${basename(order.planFile)} ${order.place.ordinal}`)
  const samples = makeSamples({ order, labels, startMs, durationMs, random })
  const out = createWriteStream(order.samplesFile)
  // The disk may be full: the failure is reported at the end, and nothing waits for a failed stream.
  out.on('error', () => undefined)
  out.write(JMETER_HEADER)
  const wait = (): Promise<void> => clock.sleep(REAL_TIME_STEP_MS, signal).catch(() => undefined)
  for (const { endMs, row } of samples) {
    while (isRealTime && endMs > clock.now() && !signal.aborted) await wait()
    if (signal.aborted || out.errored) break
    if (!out.write(row)) await once(out, 'drain')
  }
  while (isRealTime && clock.now() < startMs + durationMs && !signal.aborted && !out.errored) await wait()
  out.end()
  await finished(out)
  return isRealTime ? { problem: null } : { problem: null, span: { startMs, endMs: startMs + durationMs } }
}

/** The labels of the plan, and of the sources that are compiled with it. */
async function labelsOf({ uploadDir, fileNames }: PlanToPrepare): Promise<readonly string[]> {
  const [plan = ''] = fileNames
  const labels = await askAboutPlan('labels', { folder: uploadDir, names: fileNames }).catch(
    (thrown: unknown) => {
      throw new ToolError(`${plan} cannot be used: ${messageOf(thrown)}`, { cause: thrown })
    }
  )
  return labels.length > 0 ? labels : [plan]
}

interface Script {
  readonly order: NodeOrder
  readonly labels: readonly string[]
  readonly startMs: number
  readonly durationMs: number
  readonly random: () => number
}

/** Users who request one label after the other with a little think time, in the order of the requests. */
function* makeSamples(script: Script): Generator<{ endMs: number; row: string }> {
  const { order, labels, startMs, durationMs, random } = script
  const threads = Math.min(order.threads ?? DEFAULTS.threads, MAX_THREADS)
  const meanMs = positive(propertyValue(order.properties, 'rehearsal.mean')) ?? DEFAULTS.meanMs
  const errorPercent = positive(propertyValue(order.properties, 'rehearsal.errors')) ?? DEFAULTS.errorPercent
  const thinkMs = Math.max(THINK_MS, (threads * durationMs) / MAX_SAMPLES)
  const rampupMs = Math.min((order.rampupSec ?? 0) * 1000, durationMs)
  const users = Array.from({ length: threads }, (_, index) => ({
    name: `Rehearsal 1-${index + 1}`,
    nextMs: Math.floor((rampupMs * index) / threads),
    step: index
  }))
  for (;;) {
    const user = users.reduce((first, other) => (other.nextMs < first.nextMs ? other : first))
    const elapsedMs = Math.max(1, Math.round(meanMs * Math.exp(SIGMA * normal(random) - SIGMA ** 2 / 2)))
    if (user.nextMs + elapsedMs >= durationMs) return
    const active = users.filter((other) => other.nextMs > 0 || other === user).length
    const label = quote(labels[user.step % labels.length] ?? '')
    const isFailure = random() * 100 < errorPercent
    const code = isFailure ? '500,Internal Server Error' : '200,OK'
    const atMs = startMs + user.nextMs
    const row = `${atMs},${elapsedMs},${label},${code},${user.name},text,${!isFailure},,512,128,${active},${active},null,${elapsedMs},0,1\n`
    yield { endMs: atMs + elapsedMs, row }
    user.nextMs += elapsedMs + Math.round(thinkMs * (0.5 + random()))
    user.step += 1
  }
}

function quote(label: string): string {
  return /[",\r\n]/.test(label) ? `"${label.replaceAll('"', '""')}"` : label
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text ?? NaN)
  return value >= 0 ? value : undefined
}

/** Numbers from 0 to 1 that depend only on the text. */
function createRandom(text: string): () => number {
  let state = 2166136261
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16777619)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
