import { variableOf } from '../../../analysis/plans/check/source-plan.js'
import { dirname } from 'node:path'
import { FactsReader, ORDER_VARIABLE, type K6Order } from '../../programs/k6/order.js'
import { describeExit } from '../../lines.js'
import type { NodeOrder, NodeOutcome, NodeWork } from '../engine.js'
import { placeVariables } from '../environment-file.js'
import { packageFile } from '../install/run-to-end.js'
import { NodeOutput } from '../node-output.js'
import { planSecrets, redactLog } from '../redact-log.js'

export interface K6Tool {
  readonly k6: string
  readonly version: string
  /** Runs the program that starts k6 and reads its samples. */
  readonly node: string
}

interface K6Plan {
  readonly tool: K6Tool
  /** Those of the uploaded file of variables. */
  readonly variables: Readonly<Record<string, string>>
}

const PROGRAM = 'dist/tools/k6.mjs'

/** Runs the script on one node, in a process that starts k6 and reads its samples there. */
export async function runOnNode(
  { tool, variables }: K6Plan,
  { order, signal, ports }: NodeWork
): Promise<NodeOutcome> {
  const secrets = planSecrets(order.properties, variables)
  const redact = (text: string): string => redactLog(text, secrets)
  const { node } = order
  const folder = dirname(order.planFile)
  const program = packageFile(PROGRAM)
  const reader = new FactsReader()
  const output = new NodeOutput({
    word: order.mark,
    take: (fact) => reader.take(fact),
    log: (line) => ports.log(`${order.nodeName}: ${redact(line)}`)
  })
  const exit = await node.run(
    {
      file: tool.node,
      args: [node.pathOf(program)],
      starts: [tool.k6],
      brings: [folder, program],
      follows: [order.samplesFile],
      collects: [order.logFile],
      cwd: node.pathOf(folder),
      env: {
        ...node.env,
        ...variables,
        ...scriptVariables({ ...order, threads: order.whole.threads }),
        ...placeVariables(order.place),
        [ORDER_VARIABLE]: JSON.stringify(describeOrder(tool, order))
      },
      onLine: (line) => output.push(line)
    },
    signal
  )
  // The caller has stopped it and knows that load is missing.
  if (signal.aborted) return { problem: null }
  const { facts } = reader
  if (facts === undefined || output.isBroken)
    return {
      problem: redact(
        `The process that runs k6 ended too early (${describeExit(exit)}): ${output.lastLines.join('\n')}`
      )
    }
  if (facts.isIdle) ports.log(`${order.nodeName}: the script has no VU for it, so it stays idle`)
  const isSilent = facts.problem === null && facts.requests === 0 && !facts.isIdle
  return {
    problem: facts.problem === null ? null : redact(facts.problem),
    losses: [
      ...facts.losses,
      ...(isSilent ? [`${order.nodeName} recorded no samples: the script sent no HTTP request`] : [])
    ].map(redact),
    doubts: facts.doubts.map(redact),
    lines: facts.lines.map((line) => ({ ...line, text: redact(`k6: ${line.text}`) })),
    isIdle: facts.isIdle
  }
}

type Settings = Pick<NodeOrder, 'rampupSec' | 'durationSec'> & {
  /** For all nodes that share the script together. */
  readonly threads: number | null
  readonly properties: readonly { readonly name: string; readonly value: string }[]
}

/** As k6 writes durations; parameters under their own names, and in capitals as variables are written. */
export function scriptVariables({ threads, rampupSec, durationSec, properties }: Settings) {
  const settings = {
    ...(threads !== null && { THREADS: String(threads) }),
    ...(rampupSec !== null && { RAMPUP: `${rampupSec}s` }),
    ...(durationSec !== null && { DURATION: `${durationSec}s` })
  }
  const given = properties.flatMap(({ name, value }) => [
    [name, value] as const,
    [variableOf(name), value] as const
  ])
  return { ...settings, ...Object.fromEntries<string>(given) }
}

function describeOrder({ k6 }: K6Tool, order: NodeOrder): K6Order {
  const { node, place, whole, rampupSec, durationSec, hosts } = order
  return {
    ...{ word: order.mark, k6, script: node.pathOf(order.planFile) },
    ...{ samplesFile: node.pathOf(order.samplesFile), logFile: node.pathOf(order.logFile) },
    threadPrefix: `${place.ordinal + 1}-`,
    ...{ vus: whole.threads, rampupSec, durationSec, hosts },
    // Those without work are the last ones of a grid.
    ...{ part: whole.nodes === 1 ? 0 : place.nodeIndex, parts: whole.nodes }
  }
}
