import { joinWords, when } from '../../contract/text.js'
import { lstat, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { addressOf, DEFAULT_TARGET, labelOf, propertiesOf, SourceError } from '../plans/request.js'
import type { PlanTarget, RequestSet } from '../plans/request.js'
import { readAddress, readUrls } from '../plans/url-requests.js'
import { nameVariables, VARIABLE_PREFIX, writeK6 } from '../plans/write-k6.js'
import { writePlan, describeLoad, totalThinkMs } from '../plans/write-plan.js'
import { readHar, type HarOptions } from '../plans/har/har-requests.js'
import { readOpenApi } from '../plans/openapi/openapi-requests.js'
import { flagsOf, UsageError, type Arguments } from '../arguments.js'
import { NoAnswerError, askAt, takeDefaults } from '../init/asker.js'
import { CHOICES, readChoices, readTool, type Choices, type InitTool, type Source } from '../init/choices.js'
import { credentialsOf, describeCredentials, type Credential } from '../init/credentials.js'
import { CONFIG_PATH, PLAN_PATHS, WORKFLOW_PATH, writeConfig } from '../init/config-text.js'
import { ignoreResults } from '../init/git-ignore.js'
import { findOwnReference } from '../init/own-reference.js'
import { describeStart, findStart, jobMinutes, writeWorkflow, type Start } from '../init/workflow-text.js'
import { checkPaths, writeFiles } from '../init/write-files.js'
import type { CommandPorts } from '../ports.js'
import { say } from '../screen.js'

/** The limit on runners that GitHub hosts. */
const MOST_JOB_MINUTES = 360
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/

export const flags = flagsOf({
  ...CHOICES,
  yes: 'Ask nothing, and take the defaults. This is the default without a terminal.',
  force: 'Overwrite files that exist.',
  json: 'Print what was written as JSON, and ask nothing.'
})

/** `loadgate init`: a plan, a config file and a workflow for this repository. */
export async function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const force = args.has('force')
  const tool = readTool(args)
  const written = [PLAN_PATHS[tool], CONFIG_PATH, WORKFLOW_PATH]
  // Check before asking questions whose answers could not be used.
  await checkPaths(ports.workspace, written, force)
  const answers = await askChoices(args, ports)
  if (typeof answers === 'number') return answers
  const { choices } = answers
  const set = tool === 'k6' ? nameVariables(answers.set) : answers.set
  refuseShortDuration(set, choices)
  const { workspace } = ports
  const target = args.has('target') ? readTargetFlag(args.text('target')) : (set.target ?? DEFAULT_TARGET)
  const start = isLocal(target) ? await findStart(workspace) : { kind: 'elsewhere' as const }
  const { durationSeconds } = choices
  const reference = await findOwnReference(dirname(ports.examplesDir), ports.version)
  const credentials = credentialsOf(set.credentials, tool === 'k6' ? VARIABLE_PREFIX : '')
  const write = tool === 'k6' ? writeK6 : writePlan
  await writeFiles(
    workspace,
    [
      {
        path: PLAN_PATHS[tool],
        text: write({ name: 'Load test', target, requests: set.requests, ...choices })
      },
      {
        path: CONFIG_PATH,
        text: writeConfig({ ...choices, ...configFacts(set, target, choices), credentials, reference })
      },
      {
        path: WORKFLOW_PATH,
        text: writeWorkflow({ tool, start, port: target.port, durationSeconds, credentials, reference })
      }
    ],
    force
  )
  const ignored = await ignoreResults(workspace)
  const namesOf = (are: boolean): string[] =>
    set.requests.filter(({ isEnabled }) => isEnabled === are).map(({ name }) => name)
  const result = {
    written: [...written, ...ignored.written],
    target: addressOf(target),
    requests: namesOf(true),
    disabled: namesOf(false),
    thresholds: choices.thresholds,
    correlations: set.correlations,
    credentials,
    start,
    notes: [
      ...set.notes,
      ...when(
        set.target === undefined && !args.has('target'),
        `The source names no server, so the plan has ${addressOf(target)}. --target gives another address.`
      ),
      ...when(
        jobMinutes(durationSeconds) > MOST_JOB_MINUTES,
        `GitHub ends jobs on its own runners after 6 hours, and this one may take ${jobMinutes(durationSeconds)} minutes: use a runner of your own, or a shorter duration.`
      ),
      ...(await notesOf(target, tool, workspace)),
      ...ignored.notes
    ]
  }
  say(ports, args, result, () => describeResult({ ...result, ...choices, also: ignored.said }))
  return 0
}

/** The last requests would never be sent, and the gate would be green without them. */
function refuseShortDuration(
  { requests }: RequestSet,
  { load, durationSeconds, rampupSeconds }: Choices
): void {
  const waitMs = totalThinkMs(requests.filter(({ isEnabled }) => isEnabled))
  if (load.kind === 'open' || waitMs < (durationSeconds - rampupSeconds) * 1000) return
  const waitSeconds = Math.ceil(waitMs / 1000)
  throw new UsageError(
    `a user waits ${waitSeconds} s between the requests, which is too long for a duration of ${durationSeconds} s: the last ones would never be sent. Give --duration ${2 * (waitSeconds + rampupSeconds)}s, or a shorter recording; --think-times keeps its pauses`
  )
}

/** The choices, with what their source says; or the exit code, if the questions were not answered. */
async function askChoices(args: Arguments, ports: CommandPorts) {
  const prompt = args.has('yes') || args.has('json') ? undefined : ports.openPrompt()
  const { out, err } = ports.screen
  try {
    let set: RequestSet = { target: undefined, requests: [], notes: [], correlations: [], credentials: [] }
    const ask = prompt === undefined ? takeDefaults : askAt(prompt, out, ports.cancelled)
    const choices = await readChoices(args, ask, async (source) => {
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

function configFacts({ requests, credentials }: RequestSet, target: PlanTarget, { source }: Choices) {
  const first = requests.find(({ isEnabled }) => isEnabled)
  // With a recording or an API, the first request may need values that are not there yet.
  const hasProperty = first?.path.some((part) => typeof part !== 'string') ?? true
  const page = source.kind === 'url' && first && !hasProperty ? labelOf(first.path) : '/'
  return {
    waitFor: addressOf(target) + page,
    label: first?.name ?? '',
    properties: [...propertiesOf(requests)].filter((name) => !credentials.includes(name))
  }
}

function isLocal({ host }: PlanTarget): boolean {
  return LOOPBACK.test(host)
}

async function notesOf(target: PlanTarget, tool: InitTool, workspace: string): Promise<string[]> {
  const root = (await findRepositoryRoot(workspace)) ?? workspace
  return [
    ...when(
      !isLocal(target),
      `The load goes to ${addressOf(target)}: make sure that you may test it. To test the application in the workflow instead, start it there, and give --target http://localhost:8080/, or ${tool === 'k6' ? '-Jbase_url' : '-Jhost'}=… as override-parameters.`
    ),
    ...when(
      root !== workspace,
      `GitHub looks for workflows at the root of the repository, ${root}, and this folder is not it: run \`loadgate init\` there, or move the files.`
    )
  ]
}

/** The folder with `.git`, this one or one above; undefined outside a repository. */
async function findRepositoryRoot(folder: string): Promise<string | undefined> {
  // A file in a worktree or a submodule.
  const found = await lstat(join(folder, '.git')).catch(() => undefined)
  if (found !== undefined) return folder
  const parent = dirname(folder)
  return parent === folder ? undefined : findRepositoryRoot(parent)
}

const SHOWN_REQUESTS = 5
const NEEDS: Readonly<Record<InitTool, string>> = { jmeter: 'Java 17 and Maven', k6: 'k6 1.0 or later' }

interface NextFacts {
  readonly start: Start
  readonly credentials: readonly Credential[]
}

/** What was written, what to know about it, and what to do next. */
function describeResult(
  result: Choices &
    NextFacts & {
      target: string
      requests: readonly string[]
      correlations: readonly string[]
      notes: readonly string[]
      also: readonly string[]
    }
): string {
  const { tool, target, requests, thresholds, start, notes, also, load, durationSeconds, correlations } =
    result
  // A user may visit the same page several times.
  const names = [...new Set(requests)]
  return [
    `Wrote ${PLAN_PATHS[tool]}: ${joinWords(names, SHOWN_REQUESTS)}, at ${target}.`,
    `Wrote ${CONFIG_PATH}: ${describeLoad(load)} for ${durationSeconds} s; ${thresholds.join(', ')}.`,
    `Wrote ${WORKFLOW_PATH}: the gate on every pull request; it starts ${describeStart(start)}.`,
    ...also,
    ...when(
      correlations.length > 0,
      '',
      'Taken from replies and sent later:',
      ...correlations.map((line) => `- ${line}`)
    ),
    ...when(notes.length > 0, '', 'Please note:', ...notes.map((note) => `- ${note}`)),
    '',
    'Next:',
    ...nextSteps(result).map((step, at) => `${at + 1}. ${step}`)
  ].join('\n')
}

function nextSteps({ tool, start, credentials }: Pick<Choices, 'tool'> & NextFacts): string[] {
  return [
    ...(credentials.length === 0 ? [] : [describeCredentials(credentials)]),
    `Start the application, and run \`loadgate check\`: it finds mistakes in seconds.`,
    `\`loadgate run --threads 1 --rampup 0 --duration 5s\` tries the ${tool === 'k6' ? 'script' : 'plan'} with one user; \`loadgate run\` gives a first verdict on this machine, with ${NEEDS[tool]}.`,
    `${
      start.kind === 'elsewhere'
        ? 'Commit these files'
        : `Read the step "Start the application" in ${WORKFLOW_PATH}, then commit these files`
    }, and open a pull request.`,
    'When it works, make the check "Load gate" required: Settings, Rules, Rulesets.'
  ]
}

const MEBIBYTE = 1024 * 1024
/** What is read is in memory several times; recordings contain every response unless saved without content. */
const MOST_BYTES = { openapi: 10 * MEBIBYTE, har: 100 * MEBIBYTE }
const SMALLER = {
  openapi: 'give a file with the part of the API that the load test is about',
  har: 'record fewer pages, or save it without the responses’ content'
}

/** The requests of the plan; a refusal names the file or the address. */
async function readSource(source: Source, options: HarOptions & { workspace: string }): Promise<RequestSet> {
  if (source.kind === 'url') return explained('', () => readUrls(source.addresses))
  const text = await readText(source, options.workspace)
  const set = explained(`${source.path}: `, () =>
    source.kind === 'har' ? readHar(text, options) : readOpenApi(text, options)
  )
  if (set.requests.some(({ isEnabled }) => isEnabled)) return set
  const notes = set.requests.flatMap(({ note }) => note ?? [])
  throw new UsageError(
    notes.some((note) => note.includes('--all-methods'))
      ? `${source.path}: none of its ${set.requests.length} requests is a GET or HEAD that can be sent as it is, so the plan would send nothing; --all-methods enables the others`
      : `${source.path}: none of its ${set.requests.length} requests can be sent as it is, so the plan would send nothing; for the first: ${notes[0] ?? ''}`
  )
}

async function readText(source: Exclude<Source, { kind: 'url' }>, workspace: string): Promise<string> {
  const { kind, path } = source
  const whole = resolve(workspace, path)
  try {
    const facts = await stat(whole)
    if (!facts.isFile()) throw new UsageError(`${path} is not a file`)
    if (facts.size > MOST_BYTES[kind])
      throw new UsageError(
        `${path} has ${Math.ceil(facts.size / MEBIBYTE)} MiB, and at most ${MOST_BYTES[kind] / MEBIBYTE} are read; ${SMALLER[kind]}`
      )
    return await readFile(whole, 'utf8')
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    const { code, message } = thrown as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new UsageError(`${path} cannot be read: ${why}; check the path`, { cause: thrown })
  }
}

function explained(prefix: string, read: () => RequestSet): RequestSet {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof SourceError) throw new UsageError(prefix + thrown.message, { cause: thrown })
    if (thrown instanceof RangeError)
      throw new UsageError(`${prefix}its values are nested too deeply to be read`, { cause: thrown })
    throw thrown
  }
}
