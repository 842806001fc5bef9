import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { listenForSignals, catchStrayErrors } from './gate/errors.js'
import { cleanUpStep, serviceFolder } from './gate/cleanup/post-step.js'
import { failsStep, failureMessage } from './gate/verdict/exit-code.js'
import { loadAfterRun } from './gate/follow-run.js'
import type { OutputName } from './contract/inputs.js'
import { resolveBaselinePath, resolvePlanFiles } from './gate/settings/plan-files.js'
import { resolveResultFiles } from './gate/settings/result-files.js'
import { maskToken } from './gate/settings/token-settings.js'
import { runGate } from './gate/run-gate.js'
import { defaultName, readSettings } from './gate/settings/settings.js'
import { describeSource } from './contract/api/run-source.js'
import { messageOf } from './contract/text.js'
import type { BaselineStore, Ports } from './gate/ports.js'
import { createIdTokens, offersIdTokens } from './gate/github/id-token.js'
import { createFindFiles } from './gate/github/runner-files.js'
import { findSource } from './gate/github/source.js'
import { createLog, takeOverOutput } from './gate/github/log.js'
import * as step from './gate/github/step.js'
import { systemClock } from './contract/clock.js'
import type { TokenSource } from './client/http/id-tokens.js'

const workspace = process.env.GITHUB_WORKSPACE ?? process.cwd()
const log = createLog()
let outputsAreWritten = true
let baselines: Promise<BaselineStore> | undefined

const PARTS = {
  main: () =>
    runStep(judge, 'Load gate error', 'The gate stopped there; the post step stops what is still running.'),
  post: cleanUp,
  // Its post step is that of the gate: the saved state says which grids to terminate.
  'grid-start': () => runStep(startStep, 'grid-start failed', 'The post step terminates what was created.'),
  'grid-stop': () =>
    runStep(stopStep, 'grid-stop failed', 'The grids may still be running; terminate them on the service.')
}

/**
 * Runs one part of the actions and ends the process. All parts are in one bundle, and a small file for each says which it is: nothing
 * else may decide that. By what the main step saved, for example, a post step after an early kill would start the load again.
 */
export async function runPart(part: keyof typeof PARTS): Promise<never> {
  // The reader may have gone; what runs is still stopped, terminated and cleaned up.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  takeOverOutput(log)
  await PARTS[part]()
  // Libraries may have open sockets; everything is said, and there is nothing to wait for.
  process.exit()
}

/** Fails the step with what the work throws; an error that nothing catches ends it at once. */
async function runStep(
  work: (cancelled: AbortSignal) => Promise<void>,
  failed: string,
  advice: string
): Promise<void> {
  catchStrayErrors((thrown) => {
    step.failStep(`${failed}: ${messageOf(thrown)}. ${advice}`)
    if (work === judge) setOutput('verdict', 'error')
    process.exit(1)
  })
  try {
    maskToken(step, step.readInput('token'))
    await work(listenForSignals(() => process.exit(130)))
  } catch (thrown) {
    step.failStep(messageOf(thrown))
    if (work !== judge) return
    const { publishWithoutRun } = await loadAfterRun()
    await publishWithoutRun({ ...step, setOutput, log }, 'error', messageOf(thrown))
  }
}

/** The post step of the gate and of grid-start: never fails, since the job's verdict is not its business. */
async function cleanUp(): Promise<void> {
  const giveUp = (thrown: unknown): void => log.warning(`The clean-up did not finish: ${messageOf(thrown)}`)
  catchStrayErrors((thrown) => {
    giveUp(thrown)
    process.exit(0)
  })
  try {
    // From the saved state alone: the inputs of a post step are unreliable.
    const state = step.loadState()
    if (state === undefined) return
    maskToken(step, state.token)
    await cleanUpStep(state, {
      log,
      clock: systemClock,
      openIdTokens,
      endProcessGroup: async (group) => {
        const { endLeftoverGroup } = await import('./service/nodes/machine/processes.js')
        return endLeftoverGroup(group)
      },
      deletePods: async (address, marker, options) => {
        const { deleteMarked, reopenCluster } = await import('./service/nodes/clusters.js')
        const cluster = await reopenCluster(address, process.env)
        return deleteMarked(marker, { ...options, clock: systemClock, cluster })
      }
    })
  } catch (thrown) {
    giveUp(thrown)
  }
}

async function startStep(cancelled: AbortSignal): Promise<void> {
  const { readGridStartSettings, startGrids } = await import('./gate/grids/grid-steps.js')
  const offer = { offersIdTokens: offersIdTokens(process.env) }
  const settings = await readGridStartSettings(step.readInput, offer)
  return startGrids({ ...step, log, clock: systemClock, cancelled, openIdTokens }, settings)
}

async function stopStep(cancelled: AbortSignal): Promise<void> {
  const { readGridStopSettings, stopGrids } = await import('./gate/grids/grid-steps.js')
  const offer = { offersIdTokens: offersIdTokens(process.env) }
  const settings = await readGridStopSettings(step.readInput, offer)
  return stopGrids({ log, clock: systemClock, cancelled, openIdTokens }, settings)
}

/** Each one is masked before it is used. */
function openIdTokens(audience: string | undefined): TokenSource {
  const onToken = (token: string): void => maskToken(step, token)
  return createIdTokens(process.env, audience, { onToken, clock: systemClock })
}

async function judge(cancelled: AbortSignal): Promise<void> {
  const ports = createPorts(cancelled)
  const settings = await readSettings({
    read: step.readInput,
    readConfig: (path) => readFile(resolve(workspace, path), 'utf8'),
    resolveFiles: async (lines) => {
      const folder = await step.findWorkspace(process.env)
      return resolvePlanFiles(lines, { workspace: folder, find: createFindFiles(folder) })
    },
    resolveResults: async (lines) => {
      const folder = await step.findWorkspace(process.env)
      const { RUNNER_TEMP: temporary = '' } = process.env
      const roots = temporary === '' ? [folder] : [folder, temporary]
      return resolveResultFiles(lines, { workspace: folder, find: createFindFiles(folder), roots })
    },
    resolveBaseline: async (path) =>
      resolveBaselinePath(path, { workspace: await step.findWorkspace(process.env), isConfined: true }),
    defaultName: defaultName(ports.occasion),
    defaultNotes: describeSource(await findSource(process.env, ports.occasion)),
    platform: process.platform,
    offersIdTokens: offersIdTokens(process.env),
    variable: (name) => process.env[name]
  })
  if ('skip' in settings) {
    log.notice(`Load gate skipped: ${settings.skip}.`)
    const { publishWithoutRun } = await loadAfterRun()
    await publishWithoutRun(ports, 'skipped', settings.skip)
    return
  }
  const { verdict, reason } = await runGate(ports, settings)
  if (failsStep(verdict, settings.failOn)) step.failStep(failureMessage(verdict, reason))
  else log.info(`Load gate ${verdict}: ${reason}`)
}

/** Steps that read an output would continue without it, as if there were no verdict, so this step must fail. */
function setOutput(name: OutputName, value: string): void {
  try {
    step.setOutput(name, value)
  } catch (thrown) {
    // Once: if one cannot be written the others cannot either, and a step can have ten annotations.
    if (outputsAreWritten)
      step.failStep(`Could not write the output ${name} and those after it: ${messageOf(thrown)}`)
    outputsAreWritten = false
  }
}

function createPorts(cancelled: AbortSignal): Ports {
  const occasion = step.readOccasion(process.env)
  const scratchDir = step.makeScratchDir(process.env)
  return {
    log,
    clock: systemClock,
    cancelled,
    openIdTokens,
    occasion,
    scratchDir,
    mask: step.mask,
    saveState: step.saveState,
    setOutput,
    writeSummary: step.writeSummary,
    annotate: ({ level, message }) => log[level](message),
    uploadArtifact: process.env.ACTIONS_RUNTIME_TOKEN ? step.createUploader(occasion) : undefined,
    comment: async (request) => {
      const { createCommenter } = await import('./gate/github/api.js')
      return createCommenter(process.env, log, systemClock)(request)
    },
    openBaselines: () =>
      (baselines ??= import('./gate/github/api.js').then(({ createBaselineStore }) =>
        createBaselineStore(process.env, log, systemClock)
      )),
    readWorkflowBegin: async (request) => {
      const { readWorkflowBegin } = await import('./gate/github/api.js')
      return readWorkflowBegin(process.env, systemClock, request)
    },
    startLocalService: async ({ serviceName, onProcessGroup, regions }) => {
      const { discardOnClose, startService } = await import('./service/embedded-service.js')
      const dataDir = serviceFolder(scratchDir)
      const { places, ...clusters } = regions ?? {}
      const service = await startService({
        dataDir,
        engine: 'real',
        log: (line) => log.info(line),
        onProcess: onProcessGroup,
        ...(serviceName !== undefined && { serviceName }),
        regions: places,
        ...clusters
      })
      return discardOnClose(service, dataDir)
    }
  }
}
