import { labelOf, propertyName } from '../plans/make/plan-text.js'
import { DEFAULT_TARGET, SourceError, addressOf } from '../plans/make/request.js'
import type { PlanTarget, RequestSet } from '../plans/make/request.js'
import { readAddress } from '../plans/make/url-requests.js'
import { writePlan } from '../plans/make/write-plan.js'
import { UsageError } from './arguments.js'
import type { Arguments, Flag } from './arguments.js'
import { NoAnswerError, askAt, takeDefaults } from './init/asker.js'
import { CHOICE_FLAGS, readChoices } from './init/choices.js'
import type { Choices } from './init/choices.js'
import { writeConfig } from './init/config-text.js'
import { describeResult } from './init/describe-result.js'
import type { InitResult } from './init/describe-result.js'
import { findRepositoryRoot } from './init/repository-root.js'
import { CONFIG_PATH, PLAN_PATH, WORKFLOW_PATH } from './init/paths.js'
import type { Prompt } from './init/prompt.js'
import { readSource } from './init/read-source.js'
import { findStart } from './init/start-step.js'
import { jobMinutes, writeWorkflow } from './init/workflow-text.js'
import { checkPaths, writeFiles } from './init/write-files.js'
import { safeJson } from './screen.js'
import type { Screen } from './screen.js'

export interface InitPorts {
  readonly screen: Screen
  readonly workspace: string
  readonly cancelled: AbortSignal
  /** Undefined if nobody is there to answer: no terminal. */
  openPrompt(): Prompt | undefined
}

const PATHS = [PLAN_PATH, CONFIG_PATH, WORKFLOW_PATH]
/** Of runners that GitHub hosts. */
const MOST_JOB_MINUTES = 360
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/

export const INIT_FLAGS: readonly Flag[] = [
  ...CHOICE_FLAGS,
  { name: 'yes', about: 'Ask nothing, and take the defaults; so it is without a terminal.' },
  { name: 'force', about: 'Overwrite files that exist.' },
  { name: 'json', about: 'Print what was written as JSON, and ask nothing.' }
]

/** `loadgate init`: a plan, a config file and a workflow for this repository. */
export async function runInitCommand(args: Arguments, ports: InitPorts): Promise<number> {
  const force = args.has('force')
  // Nobody should answer questions in vain.
  await checkPaths(ports.workspace, PATHS, force)
  const answers = await askChoices(args, ports)
  if (typeof answers === 'number') return answers
  const { choices, set } = answers
  const { workspace } = ports
  const target = args.has('target') ? readTargetFlag(args.text('target')) : (set.target ?? DEFAULT_TARGET)
  const isLocal = LOOPBACK.test(target.host)
  const start = isLocal ? await findStart(workspace) : { kind: 'elsewhere' as const }
  const { durationSeconds } = choices
  await writeFiles(
    workspace,
    [
      { path: PLAN_PATH, text: writePlan({ name: 'Load test', target, requests: set.requests, ...choices }) },
      { path: CONFIG_PATH, text: writeConfig({ ...choices, ...configFacts(set, target, choices) }) },
      { path: WORKFLOW_PATH, text: writeWorkflow({ start, port: target.port, durationSeconds }) }
    ],
    force
  )
  const result: InitResult = {
    written: PATHS,
    target: addressOf(target),
    requests: set.requests.filter(({ isEnabled }) => isEnabled).map(({ name }) => name),
    disabled: set.requests.filter(({ isEnabled }) => !isEnabled).map(({ name }) => name),
    thresholds: choices.thresholds,
    start,
    notes: [
      ...set.notes,
      ...(jobMinutes(durationSeconds) > MOST_JOB_MINUTES
        ? [
            `GitHub ends jobs on its own runners after 6 hours, and this one may take ${jobMinutes(durationSeconds)} minutes: use a runner of your own, or a shorter duration.`
          ]
        : []),
      ...notesOf(target, isLocal, await findRepositoryRoot(workspace), workspace)
    ]
  }
  ports.screen.out.write(args.has('json') ? safeJson(result) : describeResult(result, choices))
  return 0
}

/** The choices, with what their source says; or the exit code, if the questions were not answered. */
async function askChoices(
  args: Arguments,
  ports: InitPorts
): Promise<{ choices: Choices; set: RequestSet } | number> {
  const prompt = args.has('yes') || args.has('json') ? undefined : ports.openPrompt()
  const { out, err } = ports.screen
  try {
    let set: RequestSet = { target: undefined, requests: [], notes: [] }
    const asker = prompt === undefined ? takeDefaults : askAt(prompt, out, ports.cancelled)
    const choices = await readChoices(args, asker, async (source) => {
      set = await readSource(source, {
        workspace: ports.workspace,
        allMethods: args.has('all-methods'),
        thinkTimes: args.has('think-times')
      })
    })
    return { choices, set }
  } catch (thrown) {
    if (thrown instanceof NoAnswerError) {
      err.write(
        '\nloadgate: the input ended before the last question; nothing was written. --yes takes the defaults.\n'
      )
      return 2
    }
    if (!ports.cancelled.aborted || thrown !== ports.cancelled.reason) throw thrown
    err.write('\nloadgate: cancelled; nothing was written.\n')
    return 130
  } finally {
    prompt?.close()
  }
}

function readTargetFlag(address: string): PlanTarget {
  try {
    return readAddress(address, 'without a path')
  } catch (thrown) {
    if (thrown instanceof SourceError) throw new UsageError(`--target: ${thrown.message}`, { cause: thrown })
    throw thrown
  }
}

function configFacts(
  { requests }: RequestSet,
  target: PlanTarget,
  { source }: Choices
): { waitFor: string; label: string; properties: string[] } {
  const first = requests.find(({ isEnabled }) => isEnabled)
  // Of a recording or an API, the first request may need values that are not there yet.
  const hasProperty = first?.path.some((part) => typeof part !== 'string') ?? true
  const page = source.kind === 'url' && first && !hasProperty ? labelOf(first.path) : '/'
  const texts = requests
    .filter(({ isEnabled }) => isEnabled)
    .flatMap(({ path, headers, body = [] }) => [...path, ...headers.flatMap(({ value }) => value), ...body])
  const properties = texts.flatMap((part) => (typeof part === 'string' ? [] : [propertyName(part.property)]))
  return {
    waitFor: addressOf(target) + page,
    label: first?.name ?? '',
    properties: [...new Set(properties)]
  }
}

function notesOf(
  target: PlanTarget,
  isLocal: boolean,
  root: string | undefined,
  workspace: string
): string[] {
  return [
    ...(isLocal
      ? []
      : [
          `The load goes to ${addressOf(target)}: make sure that you may test it. To test the application in the workflow instead, start it there, and give --target http://localhost:8080/, or -Jhost=… as override-parameters.`
        ]),
    ...(root === undefined || root === workspace
      ? []
      : [
          `GitHub looks for workflows at the root of the repository, ${root}, and this folder is not it: run \`loadgate init\` there, or move the files.`
        ])
  ]
}
