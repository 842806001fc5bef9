import { readFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Arguments } from './arguments.js'
import { readArguments, UsageError } from './arguments.js'
import type { DemoPorts, DemoShop } from './demo-command.js'
import { GATE_FLAGS, nameOutputFolder, runGateCommand } from './gate-command.js'

const DEFAULT_SLOWER_PERCENT = 20
/** What the example allows; less than this is not a breach. */
const LIMIT_PERCENT = 5

/** `npm start -- --compare`: two demo shops, base and head, and the gate of the example that compares them in turns. */
export async function runComparison(args: Arguments, ports: DemoPorts): Promise<number> {
  const { out } = ports.screen
  const slowerPercent = readPercent(args)
  for (const name of ['slow', 'stall', 'tool'])
    if (args.has(name)) throw new UsageError(`--${name} does not apply with --compare${ADVICE[name] ?? ''}`)
  const shops: DemoShop[] = []
  try {
    for (const slowerBy of [0, slowerPercent / 100])
      shops.push(await ports.startShop({ slow: false, slowerBy }))
    const [base, head] = shops.map(({ port }) => port)
    out.write(describeShops({ base, head, slowerPercent }))
    const lacksJava = !args.has('rehearse') && !(await ports.hasJava())
    if (lacksJava)
      out.write('Java was not found. Install Java 17 and Maven for a real comparison; until then it is ')
    const rehearse = args.has('rehearse') || lacksJava
    out.write(rehearse ? REHEARSAL : STORY)
    // The example's paths are relative to the package's root, wherever this was typed; results go to the current directory.
    const root = resolve(ports.examplesDir, '..')
    const folder = resolve(ports.workspace, nameOutputFolder())
    const gateArgs = [
      '--config',
      relative(root, join(ports.examplesDir, 'side-by-side', 'loadgate.yml')),
      '--output',
      folder,
      '--override-parameters',
      `-Jport=${head}`,
      '--baseline-parameters',
      `-Jport=${base}`,
      ...(rehearse ? ['--rehearse'] : [])
    ]
    // What happens to be in the environment is for another service; the embedded one needs none of it.
    const demoPorts = { ...withoutToolOutput(ports), workspace: root, token: '', baseUrl: '' }
    const code = await runGateCommand(readArguments(gateArgs, GATE_FLAGS), demoPorts)
    // Cancelled or with an error, it may have compared some rounds all the same.
    const outcomes = code > 1 ? [] : await readOutcomes(folder)
    if (!rehearse) out.write(describeEnd(outcomes, slowerPercent))
    return code
  } finally {
    await Promise.all(shops.map((shop) => shop.close()))
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  slow: '; `--slower 50` makes the head slower by 50 %',
  tool: ', which runs JMeter'
}

const REHEARSAL = `a rehearsal with synthetic samples: the same for both shops, so it shows the steps, and never a difference.
`
const STORY = `JMeter visits them in turns, 5 s at a time: each once to warm up, then ten rounds, base first and head first alternately.
Then every round is one measurement of the difference. This takes about three minutes.
`

/** What JMeter prints in each of the many short runs says nothing to a newcomer; its errors are in the outcome. */
function withoutToolOutput(ports: DemoPorts): DemoPorts {
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
  if (!args.has('slower')) return DEFAULT_SLOWER_PERCENT
  const text = args.text('slower')
  const [, number] = /^(\d{1,4}(?:\.\d{1,3})?) ?%?$/.exec(text) ?? []
  if (number === undefined)
    throw new UsageError(`--slower: "${text}" is not a percentage; give a number such as 20, or 0 for none`)
  return Number(number)
}

function describeShops(shops: {
  base: number | undefined
  head: number | undefined
  slowerPercent: number
}): string {
  const { base, head, slowerPercent } = shops
  const difference = slowerPercent === 0 ? 'equally fast' : `${slowerPercent} % slower on every page`
  return `Two demo shops are open: the base on 127.0.0.1:${base}, the head on 127.0.0.1:${head}, ${difference}.\n`
}

const COMPARED = ['holds', 'broken', 'unsure']

/** Those of the lines that were compared; none if the comparison did not end. */
async function readOutcomes(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, 'verdict.json'), 'utf8').catch(() => '{}')
  const { thresholds = [] } = JSON.parse(text) as { thresholds?: readonly { outcome?: string }[] }
  return thresholds.flatMap(({ outcome = '' }) => (COMPARED.includes(outcome) ? [outcome] : []))
}

/** What was to be found, beside what was found. */
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
