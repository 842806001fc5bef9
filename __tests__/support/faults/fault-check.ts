import type { FaultTestbed } from './fault-testbed.js'
import type { StepResult } from '../step/step.js'

/** What a case may find at its end beside what holds in every case. */
export interface Leave {
  /** The run is meant to go on: detached, or `stop-on-cancel: false`. */
  readonly mayRun?: boolean
  /** The reply to a grid's creation was lost: it cannot be looked up, and ends by its stop_after. */
  readonly lostGrids?: number
}

/** Everything that must hold in every case, whatever the fault; the problems in words. */
export async function checkInvariants(
  testbed: FaultTestbed,
  { main, post, leave }: { main: StepResult; post: StepResult; leave: Leave }
): Promise<string[]> {
  await testbed.proxy.settle()
  const own = await testbed.ownRuns()
  const running = own.filter(({ status }) => !['finished', 'problem'].includes(status))
  const liveGrids = testbed.liveGrids()
  const disturbed = await testbed.disturbed()
  const living = testbed.livingProcesses()
  const problems: (string | false)[] = [
    own.length > 1 && `${own.length} runs were started`,
    running.length > (leave.mayRun ? 1 : 0) &&
      `run ${running[0]?.uuid ?? ''} is still ${running[0]?.status ?? ''}`,
    leave.mayRun === true && running.length !== 1 && 'the run that was to go on was ended',
    leave.mayRun !== true &&
      liveGrids.length > (leave.lostGrids ?? 0) &&
      `grids ${liveGrids.join()} are still there`,
    disturbed.length > 0 && `other people's things were touched: ${disturbed.join('; ')}`,
    living.length > 0 && `processes ${living.join()} are alive`,
    post.code !== 0 && `post ended with ${post.code ?? post.signal ?? ''}`,
    post.log.includes('::error') && 'post wrote an error',
    ...(await checkVerdict(testbed, main)),
    ...findToken(testbed, [main, post])
  ]
  return problems.filter((problem) => problem !== false)
}

/** Green needs all of the evidence: the report, and every CSV as the service holds it, on disk and in the artifact. */
async function checkVerdict(testbed: FaultTestbed, main: StepResult): Promise<string[]> {
  const { verdict, 'run-id': runId = '', summary, 'results-dir': folder = '' } = main.outputs
  if (verdict !== 'passed')
    return main.code === 0 && verdict !== 'detached' ? [`the step passed as ${verdict ?? 'nothing'}`] : []
  const csvs = await testbed.csvs(runId)
  const artifact = testbed.artifactOf(main)
  const lacking = [...csvs].filter(([name, text]) => artifact.get(name)?.toString() !== text)
  const problems: (string | false)[] = [
    csvs.size === 0 && 'passed without a CSV',
    summary !== (await testbed.report(runId)) && 'passed without the report',
    lacking.length > 0 && `passed without the whole of ${lacking.map(([name]) => name).join()}`,
    !artifact.has('verdict.json') && 'passed without verdict.json in the artifact',
    folder === '' && 'passed without results-dir'
  ]
  return problems.filter((problem) => problem !== false)
}

/** The token is in the step's own state, and nowhere else. */
function findToken(testbed: FaultTestbed, results: readonly StepResult[]): string[] {
  const { token } = testbed.service
  const secrets = [token, Buffer.from(`${token}:`).toString('base64')]
  const logs = results.map(({ log }) =>
    log
      .split('\n')
      .filter((line) => !line.startsWith('::add-mask::'))
      .join('\n')
  )
  const artifact = [...testbed.artifacts.artifacts.values()].flatMap((files) => [...files.values()])
  const places: Record<string, string> = {
    'the log': logs.join('\n'),
    'a file': testbed.step.everythingWritten(),
    'the artifact': artifact.map((bytes) => bytes.toString('latin1')).join('\n')
  }
  return Object.entries(places)
    .filter(([, text]) => secrets.some((secret) => text.includes(secret)))
    .map(([place]) => `the token is in ${place}`)
}
