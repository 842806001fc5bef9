import { BRANCH_NAME, ID, SERVICE_NAME, TOOLS } from './vocabulary.js'
import {
  parseBoolean,
  parseChoice,
  parseDurationSeconds,
  parseInteger,
  parseMilliseconds,
  DEFAULT_APDEX_TARGET_MS,
  parsePattern,
  parsePercent
} from './setting-values.js'
import type { Parsed } from './setting-values.js'

/** The groups of inputs, in the order in which the help shows them. */
export const INPUT_GROUPS = [
  'What to run',
  'Where',
  'Load',
  'How long',
  'What must hold',
  'Baseline',
  'Output'
] as const

type InputGroup = (typeof INPUT_GROUPS)[number]

/** What an input can be. */
export interface Kind<T> {
  /** For the help. */
  readonly value: string
  parse(text: string): Parsed<T>
  /** For editors, as a JSON schema: they read numbers and booleans, and may not know what depends on several keys. */
  readonly json: Readonly<Record<string, unknown>>
}

export interface InputFacts {
  readonly kind: Kind<unknown>
  /** The value that an empty input has. */
  readonly byDefault?: string
  /** What it can be in a config file, if not plain text. */
  readonly inFile?: 'list' | 'structure' | 'refused'
  /** Where to set what is refused there. */
  readonly elsewhere?: string
}

interface Input extends InputFacts {
  readonly group: InputGroup
  /** Says what applies without a value, unless that is a value itself. */
  readonly about: string
  readonly only?: 'new run' | 'waiting'
}

/** The value of an input; undefined if it may be empty. */
export type ValueOf<F extends InputFacts> =
  F['kind'] extends Kind<infer T> ? (F extends { readonly byDefault: string } ? T : T | undefined) : never

const NOT_EMPTY = '\\S'

function text(value = 'text', json: Kind<string>['json'] = {}): Kind<string> {
  const type = 'pattern' in json || 'examples' in json ? 'string' : ['string', 'number', 'boolean']
  return {
    value,
    parse: (given) => ({ ok: true, value: given }),
    json: { type, pattern: NOT_EMPTY, ...json }
  }
}

/** A pattern allows for the spaces around a value that are left out. */
function matching(pattern: RegExp, accepted: string, value: string): Kind<string> {
  const source = pattern.source.replace(/^\^/, '^\\s*').replace(/\$$/, '\\s*$')
  return {
    value,
    parse: (given) => parsePattern(given, pattern, accepted),
    json: { type: ['string', 'number'], pattern: source }
  }
}

function integer(least: number, most?: number, value = 'number'): Kind<number> {
  return {
    value,
    parse: (given) => parseInteger(given, most === undefined ? { least } : { least, most }),
    json: {
      type: ['integer', 'string'],
      minimum: least,
      ...(most !== undefined && { maximum: most }),
      pattern: '^\\s*[0-9]{1,9}\\s*$'
    }
  }
}

/** In seconds. */
function duration(least: number): Kind<number> {
  return {
    value: 'duration',
    parse: (given) => parseDurationSeconds(given, least),
    json: {
      type: ['integer', 'string'],
      minimum: least,
      pattern: '^\\s*(?=[0-9])([0-9]{1,7}|([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,7}s)?)\\s*$'
    }
  }
}

function oneOf<const T extends string>(choices: readonly T[], value = choices.join('|')): Kind<T> {
  return { value, parse: (given) => parseChoice(given, choices), json: { enum: choices } }
}

const flag: Kind<boolean> = {
  value: 'true|false',
  parse: parseBoolean,
  json: { enum: [true, false, 'true', 'false'] }
}
const percent: Kind<number> = {
  value: 'percent',
  parse: parsePercent,
  json: { type: 'string', pattern: '^\\s*[0-9]{1,3}(\\.[0-9]{1,6})?\\s?%\\s*$' }
}
/** In ms. */
const responseTime: Kind<number> = {
  value: 'time',
  parse: parseMilliseconds,
  json: { type: 'string', pattern: '^\\s*(?=[0-9.]*[1-9])[0-9]{1,7}(\\.[0-9]{1,3})?\\s?(ms|s)\\s*$' }
}
const address = text('address', { pattern: '^\\s*(local|https?://\\S+)\\s*$', examples: ['local'] })
const id = matching(ID, "a run's id: letters, digits, - and _", 'id')
const serviceName = matching(SERVICE_NAME, 'a word of lowercase letters, digits, - and _', 'word')

/** Every input of the contract: for the settings, action.yml, the README's table, the command line's help and the config file's schema. */
export const INPUTS = {
  config: {
    ...{ group: 'What to run', kind: text('file'), inFile: 'refused' },
    about:
      'YAML file whose keys are these inputs. A value given directly wins over the file. Unknown keys are an error, and so are `token`, `oidc-audience`, `github-token`, `matrix` and `config`. Default: none.'
  },
  'base-url': {
    ...{ group: 'Where', kind: address },
    about:
      'Address of the load-test service (https), used as written; where its API does not answer there, `/api` is added. Or `local`, the embedded service on this runner. Required, here or in the config file, unless `results` is given: an empty value is never taken for `local`.'
  },
  token: {
    ...{ group: 'Where', kind: text('token'), inFile: 'refused' },
    elsewhere: 'set it in the workflow, from a secret, or set LOADGATE_TOKEN on the command line',
    about:
      'API token of the service; pass it from a secret. Or the word `oidc`: the ID tokens that GitHub gives the job, which needs `id-token: write`, for a service that trusts them. Required with a service, refused with `base-url: local` and with `results`.'
  },
  'oidc-audience': {
    ...{ group: 'Where', kind: text('audience'), inFile: 'refused' },
    elsewhere: 'set it in the workflow: it says which service accepts the ID tokens of the job',
    about:
      'With `token: oidc`, the audience of the ID tokens, as the service expects it. Default: the origin of `base-url`, such as `https://load.example.com`.'
  },
  tool: {
    ...{ group: 'What to run', kind: oneOf(TOOLS, 'tool'), byDefault: 'jmeter', only: 'new run' },
    about:
      'Tool that runs the plan: `jmeter`, `gatling`, `java-selenium-chrome`, `java-selenium-firefox`, `service-chrome` or `k6`.'
  },
  files: {
    ...{ group: 'What to run', kind: text('path'), inFile: 'list' },
    about:
      'One path or glob per line, relative to the workspace. The first line must match exactly one file, the plan; its data files follow in the order of the lines. A line that starts with `!` excludes files. Two files with the same base name are an error. Required unless `results`, `run-id` or `repeat` is given.'
  },
  results: {
    ...{ group: 'What to run', kind: text('path'), inFile: 'structure' },
    about:
      "Judge these files, which another step has written, instead of a run: one path or glob per line, relative to the workspace, or a YAML map from names to paths. They are recognized by their content: JMeter's CSV and XML, k6's CSV and JSON, vegeta's and hey's CSV, each also as gzip. Nothing is run, and no service is needed. Default: none."
  },
  'tool-exit-code': {
    ...{ group: 'What to run', kind: integer(0) },
    about:
      'With `results`: the exit code of the tool that wrote them. Any code but 0 is inconclusive; 99 from k6, which means that thresholds of the script are crossed, fails the gate. Default: none, which checks nothing.'
  },
  grids: {
    ...{ group: 'Where', kind: text('yaml'), only: 'new run', inFile: 'structure' },
    about:
      'YAML or JSON list of the grids to run on. Each element is a specification (`region`, `instance_quantity`, `instance_type`, `infrastructure`, `stop_after` in minutes, and the optional keys of the service) or a reference to an existing grid (`uuid: …`, or just the uuid); the two can be mixed. Default: one node with `base-url: local`, unless `regions` has several regions, and one in its first region with a service of loadgate, which has a default for every key; another service needs all five, unless `run-id` or `repeat` is given.'
  },
  regions: {
    ...{ group: 'Where', kind: text('yaml'), inFile: 'structure' },
    about:
      'With `base-url: local`: YAML map from the names of regions to the places where their grids run, `kubernetes: { … }` for pods of a cluster or `processes: {}` for this machine. A grid in a region that is not in the map is an error. Default: none, and every region is this machine.'
  },
  name: {
    ...{ group: 'What to run', kind: text(), only: 'new run' },
    about: 'Name of the run. Default: repository, ref and short commit.'
  },
  notes: {
    ...{ group: 'What to run', kind: text(), only: 'new run' },
    about:
      "Notes kept with the run. Default: the addresses of the commit, the pull request and the workflow run, one per line, which the run page of loadgate's own service links to."
  },
  project: {
    ...{ group: 'What to run', kind: text(), only: 'new run' },
    about:
      "Project of the service that the run belongs to. Default: the repository with loadgate's own service, none with another."
  },
  tags: {
    ...{ group: 'What to run', kind: text('tags'), only: 'new run', inFile: 'list' },
    about: 'Tags of the run, separated by commas or newlines. Default: none.'
  },
  privacy: {
    ...{ group: 'What to run', kind: oneOf(['public', 'private'], 'privacy') },
    ...{ byDefault: 'private', only: 'new run' },
    about:
      "Who can see the run on the service: `private` or `public`. On loadgate's own service it takes effect with `projects`: a private run is seen by its creator, the users of its project and admins, a public one by everyone who is signed in."
  },
  threads: {
    ...{ group: 'Load', kind: integer(1), only: 'new run' },
    about:
      'Number of threads, passed to the plan; with `results`, what each file is expected to have. Default: what the plan says.'
  },
  rampup: {
    ...{ group: 'Load', kind: duration(0), only: 'new run' },
    about:
      'Ramp-up time, passed to the plan: whole seconds or a duration such as `90s` or `5m`. Default: what the plan says.'
  },
  duration: {
    ...{ group: 'Load', kind: duration(1), only: 'new run' },
    about:
      'Duration, passed to the plan: whole seconds or a duration such as `90s` or `5m`. A run, or a file of `results`, whose samples cover less than 90 % of it is inconclusive. Default: what the plan says.'
  },
  'override-hosts': {
    ...{ group: 'Load', kind: text('hosts'), only: 'new run' },
    about:
      'Host names to resolve differently during the run, as `example.com/10.0.0.1, other.example/10.0.0.2`. Default: none.'
  },
  'override-parameters': {
    ...{ group: 'Load', kind: text('parameters'), only: 'new run' },
    about:
      'Parameters passed to the tool, as `-Jname=value, -Dname=value`. `-Jname=secret:value` passes a value that is shown nowhere, `-Jname=env:LOADGATE_PARAMETER_NAME` that of an environment variable, also shown nowhere. Default: none.'
  },
  thresholds: {
    ...{ group: 'What must hold', kind: text('line'), only: 'waiting', inFile: 'list' },
    about:
      'What must hold, one threshold per line: `apdex >= 0.85`, `p95{label="checkout"} < 800ms`, `warn: error_rate < 1%`, `p95 <= baseline + 10%`. Default: none, which reports and judges nothing.'
  },
  'apdex-target': {
    ...{
      group: 'What must hold',
      kind: responseTime,
      byDefault: `${DEFAULT_APDEX_TARGET_MS}ms`,
      only: 'waiting'
    },
    about:
      'Response time up to which a user is satisfied, with its unit: `500ms`, `1.5s`. For `base-url: local` and `results`; a service elsewhere has its own.'
  },
  baseline: {
    group: 'Baseline',
    kind: text('auto|off|side-by-side|file', { examples: ['auto', 'off', 'side-by-side'] }),
    byDefault: 'auto',
    only: 'waiting',
    about:
      'What to compare with: `auto` compares with earlier runs of `baseline-branch` and records runs of pushes, schedules and manual starts; `side-by-side` runs base and head in turns within this step; a path names a baseline document in the workspace, for servers without artifacts; `off` neither compares nor records.'
  },
  'baseline-branch': {
    group: 'Baseline',
    kind: matching(BRANCH_NAME, 'the name of a branch such as main, without refs/heads/', 'branch'),
    only: 'waiting',
    about:
      'Branch whose recorded runs are the baseline. Default: the base of the pull request or merge group, else the default branch.'
  },
  'baseline-parameters': {
    ...{ group: 'Baseline', kind: text('parameters'), only: 'waiting' },
    about:
      'With `baseline: side-by-side`: the `override-parameters` that point the plan at the server of the base instead of the head. Required there. Default: none.'
  },
  'baseline-rounds': {
    // Two rounds leave one degree of freedom (t = 31.8 at 1 %), with which hardly any change could be found.
    ...{ group: 'Baseline', kind: integer(3, 100), byDefault: '10', only: 'waiting' },
    about:
      'With `baseline: side-by-side`: how many pairs of runs to compare, each run as long as `duration`; from 3 to 100.'
  },
  noise: {
    ...{ group: 'Baseline', kind: percent, byDefault: '5%', only: 'waiting' },
    about:
      'Noise from run to run that is assumed for times and throughput until enough runs are recorded. Above 0% and at most 100%; `loadgate calibrate` measures it.'
  },
  'ignore-parameters': {
    ...{ group: 'Baseline', kind: text('names'), only: 'waiting', inFile: 'list' },
    about:
      'Names of further parameters that do not make runs incomparable with recorded ones, separated by commas or newlines. Those that only say where the target is never do. Default: host, port, url and the like.'
  },
  'on-missing-baseline': {
    ...{ group: 'Baseline', kind: oneOf(['warn', 'fail', 'pass']), byDefault: 'warn', only: 'waiting' },
    about:
      'What a line that names `baseline` does when there is nothing to compare with: `warn`, `fail` (inconclusive) or `pass` (a notice).'
  },
  'on-unsure': {
    ...{ group: 'Baseline', kind: oneOf(['warn', 'fail', 'pass']), byDefault: 'warn', only: 'waiting' },
    about:
      'What a line that names `baseline` does when the runs are too few or too noisy to tell: `warn`, `fail` (inconclusive) or `pass` (a notice).'
  },
  confirm: {
    ...{ group: 'Baseline', kind: integer(0, 10), byDefault: '0', only: 'waiting' },
    about:
      'How many further runs to make when a line that names `baseline` is broken or unsure, at most 10. Such lines are judged by all runs together, other lines by each run on its own, and the worst counts. Side by side these are further blocks of rounds; with `base-url: local` it only works there.'
  },
  'stop-early': {
    ...{ group: 'What must hold', kind: flag, byDefault: 'false', only: 'waiting' },
    about:
      '`true` stops a run when a threshold with an absolute limit is broken for good (`max`, `min`, `failures`, `samples`), or is broken so far and in each of the last six 10-second windows. The gate then fails by what was measured until then, although the run might have recovered. Needs `duration` and live samples; never stops a run given by `run-id`.'
  },
  'warm-up': {
    ...{ group: 'What must hold', kind: duration(0), only: 'waiting' },
    about:
      'Leaves out of all figures the samples that start within this time after the first one, and shows them apart: whole seconds or a duration such as `90s` or `5m`. A run that is not longer is inconclusive. Default: none.'
  },
  'on-stall': {
    group: 'What must hold',
    kind: oneOf(['fail', 'warn', 'ignore']),
    byDefault: 'fail',
    only: 'waiting',
    about:
      'What a line on a percentile, `median` or `apdex` does when it holds for the requests that were sent, but not for users who arrived while nothing was answered: `fail`, `warn` (it holds, with a warning) or `ignore`. With `fail`, a run is inconclusive if no request was sent for more than half of its time.'
  },
  'run-id': {
    ...{ group: 'What to run', kind: id },
    about:
      'Judge this existing run, waiting for it to end if it is still running. Nothing is created and nothing is stopped. Default: none.'
  },
  repeat: {
    ...{ group: 'What to run', kind: id },
    about: 'Repeat this finished run instead of creating one from `files`. Default: none.'
  },
  'wait-for': {
    group: 'How long',
    kind: text('address', { pattern: '^\\s*https?://\\S+(\\s+[0-9][0-9hms]*)?\\s*$' }),
    about:
      'An http or https address that must answer with a status below 500 before the load starts; `<address> 5m` waits for up to 5 minutes instead of 2. Default: none.'
  },
  wait: {
    ...{ group: 'How long', kind: flag, byDefault: 'true' },
    about: '`false` starts the run and does not wait for it; nothing stops it later.'
  },
  timeout: {
    ...{ group: 'How long', kind: duration(1), byDefault: '2h' },
    about:
      'Deadline for everything up to the end of the run: whole seconds or `90s`, `5m`, `2h`, `1h30m`. When it passes, the run is stopped. Collecting the report and the CSVs may take as long again, up to 10 minutes.'
  },
  'poll-interval': {
    ...{ group: 'How long', kind: duration(1), byDefault: '15s', only: 'waiting' },
    about:
      'Longest interval between two polls of the run. It starts at one second, grows as the run goes on, and shrinks when the end is near.'
  },
  'stop-on-cancel': {
    ...{ group: 'How long', kind: flag, byDefault: 'true', only: 'waiting' },
    about: 'Stop the run when the job is cancelled.'
  },
  'fail-on': {
    ...{ group: 'What must hold', kind: oneOf(['breach', 'never']), byDefault: 'breach', only: 'waiting' },
    about:
      '`breach` fails the step when a threshold is broken or inconclusive; `never` does not fail it for these two.'
  },
  'on-missing-token': {
    ...{ group: 'Where', kind: oneOf(['fail', 'skip']), byDefault: 'fail' },
    about:
      'What to do without a token, or with `token: oidc` without an ID token, as in a pull request from a fork: `fail`, or `skip`, which ends with the verdict `skipped` and a notice.'
  },
  'artifact-name': {
    ...{ group: 'Output', only: 'waiting' },
    kind: matching(
      /^[^":<>|*?\r\n\\/]{1,200}$/,
      'at most 200 characters without " : < > | * ? \\ / or line breaks',
      'text'
    ),
    about:
      'Name of the artifact with the CSVs and the report. Default: `loadgate-` and the run id, or `loadgate-results-` and a unique suffix.'
  },
  'retention-days': {
    ...{ group: 'Output', kind: integer(1, 400, 'days'), only: 'waiting' },
    about: "How many days the artifact is kept. Default: the repository's setting."
  },
  comment: {
    ...{ group: 'Output', kind: oneOf(['auto', 'off']), byDefault: 'auto', only: 'waiting' },
    about: '`auto` keeps one sticky comment on the pull request; `off` writes none.'
  },
  'github-token': {
    ...{ group: 'Output', kind: text('token'), inFile: 'refused' },
    about: "Token for the comment and the baseline. Default: the job's token."
  },
  matrix: {
    ...{ group: 'Output', kind: text('json'), inFile: 'refused' },
    about:
      "Set automatically: tells the legs of a matrix apart in the comment and in annotations. Default: the job's matrix as JSON."
  },
  'service-name': {
    ...{ group: 'Where', kind: serviceName },
    about:
      'The name in the paths and fields of the service, if it has its own: with `acme` these are `/acmes`, `acme[tool]`, `acme_files[]` and `application/vnd.acme.v2+json`. Default: none.'
  }
} as const satisfies Record<string, Input>

export type InputName = keyof typeof INPUTS

export const INPUT_NAMES = Object.keys(INPUTS) as InputName[]

/** The inputs of the action that stops grids. */
export const GRID_STOP_INPUTS = {
  'base-url': INPUTS['base-url'],
  token: INPUTS.token,
  'oidc-audience': INPUTS['oidc-audience'],
  grids: INPUTS.grids,
  timeout: { kind: duration(1), byDefault: '10m' },
  'service-name': INPUTS['service-name']
} as const satisfies Record<string, InputFacts>

/** The inputs of the action that starts them. */
export const GRID_START_INPUTS = {
  ...GRID_STOP_INPUTS,
  timeout: { kind: duration(1), byDefault: '15m' },
  keep: { kind: flag, byDefault: 'false' }
} as const satisfies Record<string, InputFacts>

export type GridInputName = keyof typeof GRID_START_INPUTS

/** It has no effect otherwise: for a run that is created from files, or after the run has started. */
export function onlyFor(name: InputName): Input['only'] {
  const { only }: Input = INPUTS[name]
  return only
}

export function mayBeInFile(name: InputName): boolean {
  const { inFile }: Input = INPUTS[name]
  return inFile !== 'refused'
}

/** The full description, including the default. */
export function describeInput(name: InputName): string {
  const { about, byDefault }: Input = INPUTS[name]
  return byDefault === undefined ? about : `${about} Default: \`${byDefault}\`.`
}

/** Every output of the contract. */
export const OUTPUT_NAMES = [
  'run-id',
  'run-url',
  'status',
  'verdict',
  'apdex',
  'apdex-target',
  'summary',
  'metrics',
  'thresholds',
  'results-dir',
  'artifact-id',
  'artifact-url',
  'baseline',
  'saved-seconds'
] as const

export type OutputName = (typeof OUTPUT_NAMES)[number]
