import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { listenForSignals } from './gate/cancellation.js'
import { serviceFolder } from './gate/cleanup/service-folder.js'
import { failsStep, failureMessage } from './gate/verdict/exit-code.js'
import type { OutputName } from './gate/publish/outputs.js'
import type { publishWithoutRun } from './gate/publish/publish-without-run.js'
import { resolveBaselinePath } from './gate/settings/baseline-path.js'
import { resolvePlanFiles } from './gate/settings/plan-files.js'
import { maskToken } from './gate/settings/mask-token.js'
import { runGate } from './gate/run-gate.js'
import { defaultName, readSettings } from './gate/settings/settings.js'
import { catchStrayErrors } from './gate/stray-errors.js'
import { messageOf } from './gate/errors.js'
import type { BaselineStore, Ports } from './gate/ports.js'
import { createUploader } from './github/artifact.js'
import { createFindFiles } from './github/find-files.js'
import { createLog } from './github/log.js'
import { takeOverOutput } from './github/runner-output.js'
import * as step from './github/step.js'
import { systemClock } from './service/clock.js'

const workspace = process.env.GITHUB_WORKSPACE ?? process.cwd()
const log = createLog()
// The reader may have gone; the run is still stopped and its processes are ended.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
let outputsAreWritten = true
let baselines: Promise<BaselineStore> | undefined
takeOverOutput(log)
catchStrayErrors((thrown) => {
  step.failStep(
    `Load gate error: ${messageOf(thrown)}. The gate stopped there; the post step stops what is still running.`
  )
  setOutput('verdict', 'error')
  process.exit(1)
})

try {
  maskToken(step, step.readInput('token'))
  const cancelled = listenForSignals(() => process.exit(130))
  await runStep(createPorts(cancelled))
} catch (thrown) {
  step.failStep(messageOf(thrown))
  await publishEarly({ ...step, setOutput, log }, 'error', messageOf(thrown))
}
// Libraries may have open sockets; the verdict is written, and there is nothing to wait for.
process.exit()

async function runStep(ports: Ports): Promise<void> {
  const settings = await readSettings({
    read: step.readInput,
    readConfig: (path) => readFile(resolve(workspace, path), 'utf8'),
    resolveFiles: async (lines) => {
      const folder = await step.findWorkspace(process.env)
      return resolvePlanFiles(lines, { workspace: folder, find: createFindFiles(folder) })
    },
    resolveBaseline: async (path) =>
      resolveBaselinePath(path, { workspace: await step.findWorkspace(process.env), isConfined: true }),
    defaultName: defaultName(ports.occasion),
    platform: process.platform
  })
  if ('skip' in settings) {
    log.notice(`Load gate skipped: ${settings.skip}.`)
    await publishEarly(ports, 'skipped', settings.skip)
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
    occasion,
    scratchDir,
    mask: step.mask,
    saveState: step.saveState,
    setOutput,
    writeSummary: step.writeSummary,
    annotate: ({ level, message }) => log[level](message),
    uploadArtifact: process.env.ACTIONS_RUNTIME_TOKEN ? createUploader(occasion) : undefined,
    comment: async (request) => {
      const { createCommenter } = await import('./github/comment.js')
      return createCommenter(process.env, log, systemClock)(request)
    },
    openBaselines: () => (baselines ??= openBaselines()),
    startLocalService: async ({ serviceName, onProcessGroup, regions }) => {
      const { startService } = await import('./server/server.js')
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
      return (await import('./server/discard-on-close.js')).discardOnClose(service, dataDir)
    }
  }
}

async function openBaselines(): Promise<BaselineStore> {
  const { createBaselineStore } = await import('./github/baseline/store.js')
  return createBaselineStore(process.env, log, systemClock)
}

/** A verdict without a run; loaded late because most steps never need it. */
async function publishEarly(...args: Parameters<typeof publishWithoutRun>): Promise<void> {
  const module = await import('./gate/publish/publish-without-run.js')
  await module.publishWithoutRun(...args)
}
