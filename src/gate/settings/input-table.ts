/** The groups of inputs, in the order in which the help shows them. */
export const INPUT_GROUPS = ['What to run', 'Where', 'How long', 'What must hold', 'Output'] as const

export type InputGroup = (typeof INPUT_GROUPS)[number]

export interface InputText {
  readonly group: InputGroup
  /** The kind of value, for the help. */
  readonly value: string
  readonly about: string
  /** The value that an empty input has. */
  readonly byDefault?: string
  /** What applies without a value, if there is no such value. Empty if there is nothing to say. */
  readonly otherwise?: string
}

/** Every input of the contract. */
const TABLE = {
  config: {
    group: 'What to run',
    value: 'file',
    about:
      'YAML file whose keys are these inputs. A value given directly wins over the file. Unknown keys are an error, and so are `token`, `github-token`, `matrix` and `config`.',
    otherwise: 'none'
  },
  'base-url': {
    group: 'Where',
    value: 'address',
    about:
      'Address of the load-test service (https), with or without `/api`; or `local`, the embedded service on this runner. Required, here or in the config file: an empty value is never taken for `local`.',
    otherwise: ''
  },
  token: {
    group: 'Where',
    value: 'token',
    about:
      'API token of the service. Required unless `base-url` is `local`, refused when it is. Pass it from a secret.',
    otherwise: ''
  },
  tool: {
    group: 'What to run',
    value: 'tool',
    byDefault: 'jmeter',
    about:
      'Tool that runs the plan: `jmeter`, `gatling`, `java-selenium-chrome`, `java-selenium-firefox` or `service-chrome`.'
  },
  files: {
    group: 'What to run',
    value: 'path',
    about:
      'One path or glob per line, relative to the workspace. The first line must match exactly one file, the plan; its data files follow in the order of the lines. A line that starts with `!` excludes files. Two files with the same base name are an error. Required unless `run-id` or `repeat` is given.',
    otherwise: ''
  },
  grids: {
    group: 'Where',
    value: 'yaml',
    about:
      'YAML or JSON list of the grids to run on. Each element is a specification (`region`, `instance_quantity`, `instance_type`, `infrastructure`, `stop_after` in minutes, and the optional keys of the service) or a reference to an existing grid (`uuid: …`, or just the uuid); the two can be mixed.',
    otherwise:
      'one node with `base-url: local`, unless `regions` has several regions; required with a service, unless `run-id` or `repeat` is given'
  },
  regions: {
    group: 'Where',
    value: 'yaml',
    about:
      'With `base-url: local`: YAML map from the names of regions to the places where their grids run, `kubernetes: { … }` for pods of a cluster or `processes: {}` for this machine. A grid in a region that is not in the map is an error.',
    otherwise: 'none, and every region is this machine'
  },
  name: {
    group: 'What to run',
    value: 'text',
    about: 'Name of the run.',
    otherwise: 'repository, ref and short commit'
  },
  notes: { group: 'What to run', value: 'text', about: 'Notes kept with the run.', otherwise: 'none' },
  project: {
    group: 'What to run',
    value: 'text',
    about: 'Project of the service that the run belongs to.',
    otherwise: 'none'
  },
  tags: {
    group: 'What to run',
    value: 'tags',
    about: 'Tags of the run, separated by commas or newlines.',
    otherwise: 'none'
  },
  privacy: {
    group: 'What to run',
    value: 'privacy',
    byDefault: 'private',
    about: 'Who can see the run on the service: `private` or `public`.'
  },
  threads: {
    group: 'What to run',
    value: 'number',
    about: 'Number of threads, passed to the plan.',
    otherwise: 'what the plan says'
  },
  rampup: {
    group: 'What to run',
    value: 'duration',
    about: 'Ramp-up time, passed to the plan: whole seconds or a duration such as `90s` or `5m`.',
    otherwise: 'what the plan says'
  },
  duration: {
    group: 'What to run',
    value: 'duration',
    about:
      'Duration, passed to the plan: whole seconds or a duration such as `90s` or `5m`. A run whose samples cover less than 90 % of it is inconclusive.',
    otherwise: 'what the plan says'
  },
  'override-hosts': {
    group: 'What to run',
    value: 'hosts',
    about:
      'Host names to resolve differently during the run, as `example.com/10.0.0.1, other.example/10.0.0.2`.',
    otherwise: 'none'
  },
  'override-parameters': {
    group: 'What to run',
    value: 'parameters',
    about:
      'Parameters passed to the tool, as `-Jname=value, -Dname=value`. `-Jname=secret:value` passes a value that is shown nowhere.',
    otherwise: 'none'
  },
  thresholds: {
    group: 'What must hold',
    value: 'line',
    about:
      'What must hold, one threshold per line: `apdex >= 0.85`, `p95{label="checkout"} < 800ms`, `warn: error_rate < 1%`, `p95 <= baseline + 10%`.',
    otherwise: 'none, which reports and judges nothing'
  },
  baseline: {
    group: 'What must hold',
    value: 'auto|off|side-by-side|file',
    byDefault: 'auto',
    about:
      'What to compare with: `auto` compares with earlier runs of `baseline-branch` and records runs of pushes, schedules and manual starts; `side-by-side` runs base and head in turns within this step; a path is that of a baseline document in the workspace, for servers without artifacts; `off` neither compares nor records.'
  },
  'baseline-branch': {
    group: 'What must hold',
    value: 'branch',
    about: 'Branch whose recorded runs are the baseline.',
    otherwise: 'the base of the pull request or merge group, else the default branch'
  },
  'baseline-parameters': {
    group: 'What must hold',
    value: 'parameters',
    about:
      'With `baseline: side-by-side`: the `override-parameters` that lead the plan to the server of the base instead of that of the head. Required there.',
    otherwise: 'none'
  },
  'baseline-rounds': {
    group: 'What must hold',
    value: 'number',
    byDefault: '10',
    about:
      'With `baseline: side-by-side`: how many pairs of runs to compare, each run as long as `duration`; from 3 to 100.'
  },
  noise: {
    group: 'What must hold',
    value: 'percent',
    byDefault: '5%',
    about:
      'Noise from run to run that is assumed for times and throughput until enough runs are recorded. Above 0% and at most 100%; `loadgate calibrate` measures it.'
  },
  'on-missing-baseline': {
    group: 'What must hold',
    value: 'warn|fail|pass',
    byDefault: 'warn',
    about:
      'What a line that names `baseline` does when there is nothing to compare with: `warn`, `fail` (inconclusive) or `pass` (a notice).'
  },
  'on-unsure': {
    group: 'What must hold',
    value: 'warn|fail|pass',
    byDefault: 'warn',
    about:
      'What a line that names `baseline` does when the runs are too few or too noisy to tell: `warn`, `fail` (inconclusive) or `pass` (a notice).'
  },
  confirm: {
    group: 'What must hold',
    value: 'number',
    byDefault: '0',
    about:
      'Further runs when a line that names `baseline` is broken or unsure; such lines are judged by all of them together, others by each run on its own, and the worst counts; at most 10. Side by side they are further blocks of rounds; with `base-url: local` only there.'
  },
  'stop-early': {
    group: 'What must hold',
    value: 'true|false',
    byDefault: 'false',
    about:
      '`true` stops a run for a threshold with an absolute limit that is broken for good (`max`, `min`, `failures`, `samples`), or so far and in each of the last six 10-second windows, although it might recover. The gate fails, judged by what was measured until then. Needs `duration` and live samples; never stops a run given by `run-id`.'
  },
  'warm-up': {
    group: 'What must hold',
    value: 'duration',
    about:
      'Leaves the samples that start within this time after the first one out of all figures, and shows them apart: whole seconds or a duration such as `90s` or `5m`. A run that is not longer is inconclusive.',
    otherwise: 'none'
  },
  'on-stall': {
    group: 'What must hold',
    value: 'fail|warn|ignore',
    byDefault: 'fail',
    about:
      'What a line on a percentile, `median` or `apdex` does when it holds for the requests that were sent, but not for users who arrived while nothing was answered: `fail`, `warn` (it holds, with a warning) or `ignore`. With `fail`, a run is inconclusive if no request was sent for more than half of its time.'
  },
  'run-id': {
    group: 'What to run',
    value: 'id',
    about:
      'Judge this existing run, waiting for it to end if it is still running. Nothing is created and nothing is stopped.',
    otherwise: 'none'
  },
  repeat: {
    group: 'What to run',
    value: 'id',
    about: 'Repeat this finished run instead of creating one from `files`.',
    otherwise: 'none'
  },
  'wait-for': {
    group: 'How long',
    value: 'address',
    about:
      'An http or https address that must answer with a status below 500 before the load starts; `<address> 5m` waits for up to 5 minutes instead of 2.',
    otherwise: 'none'
  },
  wait: {
    group: 'How long',
    value: 'true|false',
    byDefault: 'true',
    about: '`false` starts the run and does not wait for it; nothing stops it later.'
  },
  timeout: {
    group: 'How long',
    value: 'duration',
    byDefault: '2h',
    about:
      'Deadline for everything up to the end of the run: whole seconds or `90s`, `5m`, `2h`, `1h30m`. When it passes, the run is stopped. Collecting the report and the CSVs may take as long again, up to 10 minutes.'
  },
  'poll-interval': {
    group: 'How long',
    value: 'duration',
    byDefault: '15s',
    about:
      'Longest interval between two polls of the run. It starts at one second, grows as the run goes on, and shrinks when the end is near.'
  },
  'stop-on-cancel': {
    group: 'How long',
    value: 'true|false',
    byDefault: 'true',
    about: 'Stop the run when the job is cancelled.'
  },
  'fail-on': {
    group: 'What must hold',
    value: 'breach|never',
    byDefault: 'breach',
    about:
      '`breach` fails the step when a threshold is broken or inconclusive; `never` does not fail it for these two.'
  },
  'on-missing-token': {
    group: 'Where',
    value: 'fail|skip',
    byDefault: 'fail',
    about:
      'What to do without a token, as in a pull request from a fork: `fail`, or `skip`, which ends with the verdict `skipped` and a notice.'
  },
  'artifact-name': {
    group: 'Output',
    value: 'text',
    about: 'Name of the artifact with the CSVs and the report.',
    otherwise: '`loadgate-` and the run id'
  },
  'retention-days': {
    group: 'Output',
    value: 'days',
    about: 'How many days the artifact is kept.',
    otherwise: "the repository's setting"
  },
  comment: {
    group: 'Output',
    value: 'auto|off',
    byDefault: 'auto',
    about: '`auto` keeps one sticky comment on the pull request; `off` writes none.'
  },
  'github-token': {
    group: 'Output',
    value: 'token',
    about: 'Token for the comment and the baseline.',
    otherwise: "the job's token"
  },
  matrix: {
    group: 'Output',
    value: 'json',
    about: 'Set automatically: tells the legs of a matrix apart in the comment and in annotations.',
    otherwise: "the job's matrix as JSON"
  },
  'service-name': {
    group: 'Where',
    value: 'word',
    about:
      "The service's own word, where its identifiers contain one: `acme` makes it `/acmes`, `acme[tool]`, `acme_files[]` and `application/vnd.acme.v2+json`.",
    otherwise: 'none'
  }
} as const satisfies Record<string, InputText>

export type InputName = keyof typeof TABLE

/** What each input means: used for action.yml, the table in the README and the help of the command line. */
export const INPUT_TABLE: Readonly<Record<InputName, InputText>> = TABLE

/** The full description, including the default. */
export function describeInput(name: InputName): string {
  const { about, byDefault, otherwise = '' } = INPUT_TABLE[name]
  const words = byDefault === undefined ? otherwise : `\`${byDefault}\``
  return words === '' ? about : `${about} Default: ${words}.`
}
