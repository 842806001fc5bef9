import { join, relative, resolve } from 'node:path'
import { TOOLS } from '../protocol/vocabulary.js'
import { parseChoice } from '../values/setting-values.js'
import type { Arguments, Flag } from './arguments.js'
import { readArguments, UsageError } from './arguments.js'
import { runComparison } from './demo-comparison.js'
import { GATE_FLAGS, nameOutputFolder, runGateCommand } from './gate-command.js'
import type { GateCommandPorts } from './gate-command.js'

export interface DemoPorts extends GateCommandPorts {
  /** Where the examples are, one folder each. */
  readonly examplesDir: string
  startShop(options: {
    slow: boolean
    slowerBy?: number
    stall?: { afterMs: number; ms: number }
  }): Promise<DemoShop>
  hasJava(): Promise<boolean>
}

export interface DemoShop {
  readonly port: number
  served(): number
  close(): Promise<void>
}

type Tool = (typeof TOOLS)[number]

/** The example for each tool, and what to install if there is no Java for it. */
const DEMOS: Readonly<Record<Tool, { example: string; java?: string }>> = {
  jmeter: { example: 'shop', java: 'Java 17 and Maven' },
  gatling: { example: 'gatling', java: 'a JDK (17 or later) and Maven' },
  'java-selenium-chrome': { example: 'selenium', java: 'a JDK (17 or later) and Maven' },
  'java-selenium-firefox': { example: 'selenium', java: 'a JDK (17 or later) and Maven' },
  'service-chrome': { example: 'service-chrome' }
}

export const DEMO_FLAGS: readonly Flag[] = [
  {
    name: 'tool',
    value: 'tool',
    about: `The tool that makes the load: ${TOOLS.join(', ')}. Default: jmeter.`
  },
  { name: 'slow', about: 'Make the shop slow, so that the gate fails.' },
  {
    name: 'stall',
    about:
      'Let the shop stand still for 3 s in the middle: almost every request is fast, and the gate fails all the same.'
  },
  {
    name: 'compare',
    about:
      'Open two shops, base and head, and find out whether the head is slower. Takes about three minutes.'
  },
  {
    name: 'slower',
    value: 'percent',
    about: 'With --compare: how much slower the head is; 0 for no difference. Default: 20.'
  },
  { name: 'rehearse', about: 'Generate synthetic samples instead of load.' }
]

const STALL = { afterMs: 4000, ms: 3000 }
const STALL_STORY = `It stands still for 3 s, 4 s after the first request. While users wait, nothing more is asked, so only a few requests are slow.
`

/** `npm start`: a demo shop on loopback, and the gate of the tool's example on it; with `--compare`, two shops. */
export async function runDemoCommand(args: Arguments, ports: DemoPorts): Promise<number> {
  if (args.has('compare')) return runComparison(args, ports)
  if (args.has('slower'))
    throw new UsageError('--slower only works with --compare; --slow makes one shop slow')
  const { out } = ports.screen
  const tool = readTool(args)
  const stalls = args.has('stall')
  const shop = await ports.startShop({ slow: args.has('slow'), ...(stalls && { stall: STALL }) })
  try {
    out.write(`A ${args.has('slow') ? 'slow ' : ''}demo shop is open on 127.0.0.1:${shop.port}.\n`)
    if (stalls) out.write(STALL_STORY)
    const { example, java } = DEMOS[tool]
    const lacksJava = java !== undefined && !args.has('rehearse') && !(await ports.hasJava())
    if (lacksJava)
      out.write(
        `Java was not found, so this is a rehearsal with synthetic samples. Install ${java} for a real load test.\n`
      )
    const rehearse = args.has('rehearse') || lacksJava
    // The example's paths are relative to the package's root, wherever this was typed; results go to the current directory.
    const root = resolve(ports.examplesDir, '..')
    const gateArgs = [
      '--config',
      relative(root, join(ports.examplesDir, example, 'loadgate.yml')),
      '--tool',
      tool,
      '--output',
      resolve(ports.workspace, nameOutputFolder()),
      '--override-parameters',
      `-Jport=${shop.port}`,
      ...(rehearse ? ['--rehearse'] : [])
    ]
    // What happens to be in the environment is for another service; the embedded one needs none of it.
    const demoPorts = { ...ports, workspace: root, token: '', baseUrl: '' }
    const code = await runGateCommand(readArguments(gateArgs, GATE_FLAGS), demoPorts)
    if (!rehearse) out.write(`The shop answered ${shop.served()} requests.\n`)
    return code
  } finally {
    await shop.close()
  }
}

function readTool(args: Arguments): Tool {
  const given = args.has('tool') ? args.text('tool') : 'jmeter'
  const tool = parseChoice(given, TOOLS)
  if (!tool.ok) throw new UsageError(`--tool: "${given}" is invalid; expected ${tool.accepted}`)
  return tool.value
}
