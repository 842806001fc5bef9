import { join, relative, resolve } from 'node:path'
import { readFile } from 'node:fs/promises'
import { TOOLS } from '../../contract/vocabulary.js'
import { parseChoice, parsePattern } from '../../contract/setting-values.js'
import { flagsOf, type Arguments, readArguments, UsageError, valueOf } from '../arguments.js'
import * as gate from './gate-command.js'
import type { CommandPorts } from '../ports.js'

type Tool = (typeof TOOLS)[number]

/** The example for each tool, the program that it needs, and what to install if that is missing. */
const DEMOS: Readonly<Record<Tool, { example: string; java?: string; k6?: string }>> = {
  jmeter: { example: 'shop', java: 'Java 17 and Maven' },
  gatling: { example: 'gatling', java: 'a JDK (17 or later) and Maven' },
  'java-selenium-chrome': { example: 'selenium', java: 'a JDK (17 or later) and Maven' },
  'java-selenium-firefox': { example: 'selenium', java: 'a JDK (17 or later) and Maven' },
  'service-chrome': { example: 'service-chrome' },
  k6: { example: 'k6', k6: 'k6 1.0 or later (or set K6 to its path)' }
}

/** The plan of examples/login for each tool that has one. */
const LOGIN_PLANS: Readonly<Partial<Record<Tool, string>>> = {
  ...{ jmeter: 'plan.jmx', gatling: 'LoginSimulation.java', k6: 'script.js' }
}

export const flags = flagsOf({
  'tool <tool>': `The tool that makes the load: ${TOOLS.join(', ')}. Default: jmeter.`,
  login:
    'Log in to the shop, by form and by token: the example in examples/login, with jmeter, gatling or k6.',
  slow: 'Make the shop slow, so that the gate fails.',
  stall: 'Let the shop hang for 3 s in the middle: almost every request is fast, and the gate still fails.',
  compare:
    'Open two shops, base and head, and find out whether the head is slower. Takes three to five minutes.',
  'slower <percent>': 'With --compare: how much slower the head is; 0 for no difference. Default: 20.',
  rehearse: 'Generate synthetic samples instead of load.'
})

const STALL = { afterMs: 4000, ms: 3000 }
const STALL_STORY = `It hangs for 3 s, 4 s after the first request. Users who wait send nothing, so only a few requests are slow.
`

/** `npm start`: a demo shop on loopback, and the gate of the tool's example on it; with `--compare`, two shops. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const shops: Shop[] = []
  const open: Open = async (options) => {
    const shop = await ports.startShop(options)
    shops.push(shop)
    return shop
  }
  try {
    return await (args.has('compare') ? compareShops(args, ports, open) : visitShop(args, ports, open))
  } finally {
    await Promise.all(shops.map((shop) => shop.close()))
  }
}

type Shop = Awaited<ReturnType<CommandPorts['startShop']>>
type Open = CommandPorts['startShop']

async function visitShop(args: Arguments, ports: CommandPorts, open: Open): Promise<number> {
  if (args.has('slower'))
    throw new UsageError('--slower only works with --compare; --slow makes one shop slow')
  const { out } = ports.screen
  const tool = valueOf(args, 'tool', (text) => parseChoice(text, TOOLS)) ?? 'jmeter'
  const loginFiles = args.has('login') ? loginFilesOf(tool) : []
  const stalls = args.has('stall')
  const shop = await open({ slow: args.has('slow'), ...(stalls && { stall: STALL }) })
  out.write(`A ${args.has('slow') ? 'slow ' : ''}demo shop is open on 127.0.0.1:${shop.port}.\n`)
  if (stalls) out.write(STALL_STORY)
  const example = args.has('login') ? 'login' : DEMOS[tool].example
  const lack = args.has('rehearse') ? undefined : await findLack(tool, ports)
  if (lack !== undefined)
    out.write(
      `${lack.program} was not found, so this is a rehearsal with synthetic samples. Install ${lack.install} for a real load test.\n`
    )
  const rehearse = args.has('rehearse') || lack !== undefined
  const folder = resolve(ports.workspace, gate.nameOutputFolder())
  const code = await runExample(ports, { example, folder, rehearse }, [
    ...['--tool', tool],
    ...loginFiles,
    ...['--override-parameters', `-Jport=${shop.port}`]
  ])
  if (!rehearse) out.write(`The shop answered ${shop.served()} requests.\n`)
  return code
}

/** The config file of that example names the plan of JMeter. */
function loginFilesOf(tool: Tool): string[] {
  const plan = LOGIN_PLANS[tool]
  if (plan === undefined)
    throw new UsageError(`--login has no example for ${tool}; give --tool jmeter, gatling or k6`)
  return ['--files', `examples/login/${plan}`]
}

/** What the tool needs and this machine does not have. */
async function findLack(
  tool: Tool,
  ports: CommandPorts
): Promise<{ program: string; install: string } | undefined> {
  const { java, k6 } = DEMOS[tool]
  if (java !== undefined && !(await ports.hasJava())) return { program: 'Java', install: java }
  if (k6 !== undefined && !(await ports.hasK6())) return { program: 'k6', install: k6 }
  return undefined
}

/** The example's paths are relative to the package's root, wherever this was typed; results go to the current directory. */
function runExample(
  ports: CommandPorts,
  { example, folder, rehearse }: { example: string; folder: string; rehearse: boolean },
  args: readonly string[]
): Promise<number> {
  const root = resolve(ports.examplesDir, '..')
  const config = relative(root, join(ports.examplesDir, example, 'loadgate.yml'))
  const all = ['--config', config, '--output', folder, ...args, ...(rehearse ? ['--rehearse'] : [])]
  // What happens to be in the environment is for another service; the embedded one needs none of it.
  const demoPorts = { ...ports, workspace: root, token: '', idTokens: undefined, baseUrl: '' }
  return gate.run(readArguments(all, gate.flags), demoPorts)
}

const DEFAULT_SLOWER_PERCENT = 20
/** What the example allows; less than this is not a breach. */
const LIMIT_PERCENT = 5

/** `npm start -- --compare`: two demo shops, base and head, and the gate of the example that compares them in turns. */
async function compareShops(args: Arguments, ports: CommandPorts, open: Open): Promise<number> {
  const { out } = ports.screen
  const slowerPercent = readPercent(args)
  for (const name of ['slow', 'stall', 'tool', 'login'])
    if (args.has(name)) throw new UsageError(`--${name} does not apply with --compare${ADVICE[name] ?? ''}`)
  const { port: base } = await open({ slow: false, slowerBy: 0 })
  const { port: head } = await open({ slow: false, slowerBy: slowerPercent / 100 })
  const difference = slowerPercent === 0 ? 'equally fast' : `${slowerPercent} % slower on every page`
  out.write(
    `Two demo shops are open: the base on 127.0.0.1:${base}, the head on 127.0.0.1:${head}, ${difference}.\n`
  )
  const lacksJava = !args.has('rehearse') && !(await ports.hasJava())
  if (lacksJava)
    out.write('Java was not found. Install Java 17 and Maven for a real comparison; until then it is ')
  const rehearse = args.has('rehearse') || lacksJava
  out.write(rehearse ? REHEARSAL : STORY)
  const folder = resolve(ports.workspace, gate.nameOutputFolder())
  const code = await runExample(withoutToolOutput(ports), { example: 'side-by-side', folder, rehearse }, [
    ...['--override-parameters', `-Jport=${head}`],
    ...['--baseline-parameters', `-Jport=${base}`]
  ])
  // Cancelled or with an error, it may have compared some rounds all the same.
  const outcomes = code > 1 ? [] : await readOutcomes(folder)
  if (!rehearse) out.write(describeEnd(outcomes, slowerPercent))
  return code
}

const ADVICE: Readonly<Record<string, string>> = {
  slow: '; `--slower 50` makes the head slower by 50 %',
  tool: ', which runs JMeter'
}

const REHEARSAL = `a rehearsal with synthetic samples: the same for both shops, so it shows the steps, and never a difference.
`
const STORY = `JMeter visits them in turns, 5 s at a time: each once to warm up, then ten rounds, base first and head first alternately.
Then every round is one measurement of the difference. This takes three to five minutes.
`

/** What JMeter prints in each of the many short runs says nothing to a newcomer; its errors are in the outcome. */
function withoutToolOutput(ports: CommandPorts): CommandPorts {
  return {
    ...ports,
    startLocalService: (request) =>
      ports.startLocalService({
        ...request,
        log: (line) => {
          if (!/ node \d+: /.test(line)) request.log(line)
        }
      })
  }
}

function readPercent(args: Arguments): number {
  const text = valueOf(args, 'slower', (given) =>
    parsePattern(given, /^\d{1,4}(?:\.\d{1,3})? ?%?$/, 'a percentage such as 20, or 0 for none')
  )
  return text === undefined ? DEFAULT_SLOWER_PERCENT : parseFloat(text)
}

const COMPARED = ['holds', 'broken', 'unsure']

/** Those of the lines that were compared; none if the comparison did not end. */
async function readOutcomes(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'verdict.json'), 'utf8').catch(() => '{}')
  const { thresholds = [] } = JSON.parse(text) as { thresholds?: readonly { outcome?: string }[] }
  return thresholds.flatMap(({ outcome = '' }) => (COMPARED.includes(outcome) ? [outcome] : []))
}

export function describeEnd(outcomes: readonly string[], slowerPercent: number): string {
  const truth =
    slowerPercent === 0
      ? 'The shops are equally fast'
      : `The head is ${slowerPercent} % slower, and the lines allow ${LIMIT_PERCENT} %`
  if (outcomes.length === 0) return `${truth}. The comparison did not end; the reason is above.\n`
  const isBroken = outcomes.includes('broken')
  if (isBroken === slowerPercent > LIMIT_PERCENT)
    return `${truth}: ${isBroken ? 'the gate failed, as it should' : 'no line is broken, as it should be'}.\n`
  const isUnsure = outcomes.includes('unsure')
  return `${truth}: the gate ${isUnsure ? 'could not tell' : 'is wrong'} this time. Is this machine busy with other things? Then try again.\n`
}
