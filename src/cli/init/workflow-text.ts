import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { InitTool } from './choices.js'
import type { Credential } from './credentials.js'
import { CONFIG_PATH, timeoutMinutes } from './config-text.js'
import { gateAt } from './own-reference.js'

const CHECKOUT = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1'
const SETUP_JAVA = 'actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961 # v5.7.0'
const SETUP_NODE = 'actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0'
const SETUP_K6 = 'grafana/setup-k6-action@db07bd9765aac508ef18982e52ab937fe633a065 # v1.2.1'
/** Another version may measure differently. */
const K6_VERSION = '1.8.1'
/** Checkout, tools and the application's own build, on top of the gate. */
const JOB_OVERHEAD_MINUTES = 15
const LOG = '"$RUNNER_TEMP/application.log"'

export function jobMinutes(durationSeconds: number): number {
  return timeoutMinutes(durationSeconds) + JOB_OVERHEAD_MINUTES
}

interface WorkflowOptions {
  readonly tool: InitTool
  readonly start: Start
  readonly port: number
  readonly durationSeconds: number
  /** The commit or tag of loadgate that the workflow names. */
  readonly reference: string
  readonly credentials: readonly Credential[]
}

const TOOL_STEPS: Readonly<Record<InitTool, readonly string[]>> = {
  jmeter: [`- uses: ${SETUP_JAVA}`, '  with:', '    distribution: temurin', "    java-version: '17'"],
  k6: [`- uses: ${SETUP_K6}`, '  with:', `    k6-version: '${K6_VERSION}'`]
}

/** `.github/workflows/loadgate.yml`: the gate on every pull request. */
export function writeWorkflow(options: WorkflowOptions): string {
  const { tool, start, port, durationSeconds, credentials, reference } = options
  const steps = [
    [`- uses: ${CHECKOUT}`, '  with:', '    persist-credentials: false'],
    TOOL_STEPS[tool],
    ...startSteps(start, port),
    [
      `- uses: ${gateAt(reference)}`,
      '  with:',
      `    config: ${CONFIG_PATH}`,
      ...credentialLines(credentials)
    ],
    ...logSteps(start)
  ]
  return `# A load test of every pull request. Its settings are in ${CONFIG_PATH}.
name: Load gate
on: pull_request

permissions:
  contents: read

# A newer push makes the run of an older one pointless.
concurrency:
  group: load-gate-\${{ github.ref }}
  cancel-in-progress: true

jobs:
  gate:
    name: Load gate
    runs-on: ubuntu-latest
    timeout-minutes: ${jobMinutes(durationSeconds)}
    permissions:
      contents: read
      pull-requests: write # for the comment with the result
    steps:
${steps.map((lines) => lines.map((line) => `      ${line}`.trimEnd()).join('\n')).join('\n')}
`
}

function credentialLines(credentials: readonly Credential[]): string[] {
  if (credentials.length === 0) return []
  // Forks get no secrets: there the gate says which one is missing.
  return ['  env:', ...credentials.map(({ variable }) => `    ${variable}: \${{ secrets.${variable} }}`)]
}

type Steps = readonly (readonly string[])[]

const BANNER =
  '# ---- Start your application here. The gate waits until it answers (wait-for in the config file). ----'

function startSteps(start: Start, port: number): Steps {
  switch (start.kind) {
    case 'elsewhere':
      return [['# The application runs elsewhere: nothing is started here.']]
    case 'compose':
      return [startStep(['docker compose up --detach --build'])]
    case 'dockerfile':
      return [
        startStep([
          'docker build --tag application .',
          `docker run --detach --name application --env PORT=${port} --publish ${port}:${port} application`
        ])
      ]
    case 'node':
      return [
        [`- uses: ${SETUP_NODE}`, '  with:', "    node-version: 'lts/*'", '    package-manager-cache: false'],
        startStep([...installLines(start), `nohup ${start.manager} start > ${LOG} 2>&1 &`], port)
      ]
    case 'unknown':
      return [
        startStep([
          'echo "::warning::Start the application in .github/workflows/loadgate.yml, in this step."',
          `# For example: nohup ./my-application --port ${port} > ${LOG} 2>&1 &`
        ])
      ]
  }
}

function installLines({ manager, hasLock }: Start & { kind: 'node' }): string[] {
  if (manager === 'npm') return [hasLock ? 'npm ci' : 'npm install']
  const frozen = manager === 'pnpm' ? 'pnpm install --frozen-lockfile' : 'yarn install --immutable'
  return ['corepack enable', frozen]
}

function startStep(lines: readonly string[], port?: number): string[] {
  return [
    BANNER,
    '- name: Start the application',
    ...(port === undefined ? [] : ['  env:', `    PORT: '${port}'`]),
    '  run: |',
    ...lines.map((line) => `    ${line}`)
  ]
}

/** The application's log is the first thing to look at. */
function logSteps(start: Start): Steps {
  const command = {
    compose: 'docker compose logs --tail 100',
    dockerfile: 'docker logs --tail 100 application',
    node: `tail -n 100 ${LOG}`,
    ...{ unknown: undefined, elsewhere: undefined }
  }[start.kind]
  if (command === undefined) return []
  return [['- name: Show the log of the application', '  if: ${{ failure() }}', `  run: ${command}`]]
}

/** How the workflow starts the application: found in the folder, or left open. */
export type Start =
  | { readonly kind: 'compose' | 'dockerfile' | 'unknown' | 'elsewhere' }
  | { readonly kind: 'node'; readonly manager: 'npm' | 'pnpm' | 'yarn'; readonly hasLock: boolean }

const COMPOSE_FILES = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']
const MOST_BYTES = 1024 * 1024

/** Compose comes first: where there is one, the application needs more than itself. */
export async function findStart(folder: string): Promise<Start> {
  const has = async (name: string): Promise<boolean> =>
    (await stat(join(folder, name)).catch(() => undefined))?.isFile() ?? false
  for (const name of COMPOSE_FILES) if (await has(name)) return { kind: 'compose' }
  if ((await has('package.json')) && (await hasStartScript(join(folder, 'package.json')))) {
    if (await has('pnpm-lock.yaml')) return { kind: 'node', manager: 'pnpm', hasLock: true }
    if (await has('yarn.lock')) return { kind: 'node', manager: 'yarn', hasLock: true }
    return { kind: 'node', manager: 'npm', hasLock: await has('package-lock.json') }
  }
  return { kind: (await has('Dockerfile')) ? 'dockerfile' : 'unknown' }
}

async function hasStartScript(path: string): Promise<boolean> {
  if ((await stat(path)).size > MOST_BYTES) return false
  try {
    const { scripts } = JSON.parse(await readFile(path, 'utf8')) as { scripts?: { start?: unknown } }
    return typeof scripts?.start === 'string'
  } catch {
    // npm will report it.
    return false
  }
}

export function describeStart(start: Start): string {
  if (start.kind === 'node') return `${start.manager} start`
  return {
    ...{ compose: 'docker compose', dockerfile: 'the Dockerfile' },
    ...{ elsewhere: 'nothing: it runs elsewhere', unknown: 'nothing yet' }
  }[start.kind]
}
