import { readAddress, type Address } from '../../client/http/address.js'
import { parseRegions, type ParsedRegions } from '../../contract/regions/parse-regions.js'
import type { Regions } from '../../contract/regions/regions.js'
import { parseDurationSeconds, type Parsed, showAddress } from '../../contract/setting-values.js'
import { messageOf } from '../../contract/text.js'
import { readYaml } from '../../contract/read-yaml.js'
import type { GateInputs, SettingsSources } from './inputs.js'
import { ID_TOKEN_FILE, isOidc, readCredentials, type Credentials } from './token-settings.js'

export type Target =
  | ({ readonly kind: 'remote'; readonly address: Address } & Credentials)
  | { readonly kind: 'local' }
  /** Files of another step need none. */
  | { readonly kind: 'none' }

type ServiceChoice = ReturnType<typeof chooseService>

const VARIABLE = 'LOADGATE_BASE_URL'

/** The service's address, unchecked, or `local`; empty only in the action. Inputs and a config file that was named win over the CLI's environment. */
export function chooseService(inputs: GateInputs, { environment }: Pick<SettingsSources, 'environment'>) {
  const isCommandLine = environment !== undefined
  const choose = (baseUrl: string, from: 'input' | 'environment' | 'found file' | 'nothing') => {
    return { baseUrl, from, isCommandLine, isLocal: baseUrl === 'local' }
  }
  const given = inputs.text('base-url')
  if (environment?.isConfigFound && given !== '' && given !== 'local')
    return environment.baseUrl === ''
      ? choose(given, 'found file')
      : choose(environment.baseUrl, 'environment')
  if (given !== '' || !isCommandLine) return choose(given, given === '' ? 'nothing' : 'input')
  return environment.baseUrl === '' ? choose('local', 'nothing') : choose(environment.baseUrl, 'environment')
}

export function readTarget(
  inputs: GateInputs,
  choice: ServiceChoice,
  sources: Pick<SettingsSources, 'platform' | 'environment' | 'offersIdTokens'>
): Target | undefined {
  if (choice.isLocal) {
    checkLocal(inputs, choice, sources)
    return { kind: 'local' }
  }
  const address = readServiceAddress(inputs, choice, sources)
  const credentials = readCredentials(inputs, sources, address?.origin ?? '')
  return address && { kind: 'remote', address, ...credentials }
}

/** Files need no service. What the environment has for other commands is not meant for them. */
export function refuseService(inputs: GateInputs, { from, isCommandLine }: ServiceChoice): Target {
  const words = 'cannot be combined with results, which are judged without a service; remove one of the two'
  if (from === 'input') inputs.complain('base-url', words)
  if (isCommandLine) return { kind: 'none' }
  for (const name of ['token', 'oidc-audience'] as const)
    if (inputs.text(name) !== '') inputs.complain(name, words)
  return { kind: 'none' }
}

const NO_TOKEN = 'base-url: local takes no token; remove one of the two'
const NO_OIDC =
  'oidc is for a service, and base-url: local is the embedded one, which takes no token; give the address of a service as base-url, or remove token'

function checkLocal(
  inputs: GateInputs,
  { from, isCommandLine }: ServiceChoice,
  { platform, environment }: Pick<SettingsSources, 'platform' | 'environment'>
): void {
  const token = inputs.text('token')
  if (inputs.text('oidc-audience') !== '')
    inputs.complain('oidc-audience', 'base-url: local takes no token; remove oidc-audience')
  if (token !== '' || environment?.idTokenFile !== undefined) {
    if (!isCommandLine) inputs.complain('token', isOidc(token) ? NO_OIDC : NO_TOKEN)
    // A token in the environment is for every command: where local was chosen it is not needed, where nothing was, probably not meant.
    else if (from === 'nothing')
      inputs.complain(
        'token',
        `${variableOf(environment)} is set, but no service is given; set ${VARIABLE} or base-url to the address of the service, or base-url to local to run on this machine without it`
      )
  }
  if (platform === 'win32')
    inputs.complain('base-url', 'local needs Linux or macOS; on Windows give the address of a service')
}

/** Which of the two variables has a token. */
function variableOf(environment: SettingsSources['environment']): string {
  return environment?.idTokenFile === undefined ? 'LOADGATE_TOKEN' : ID_TOKEN_FILE
}

function readServiceAddress(
  inputs: GateInputs,
  { baseUrl, from }: ServiceChoice,
  sources: Pick<SettingsSources, 'environment'>
): Address | undefined {
  const none = 'is empty; give the address of the service (https://…), or local to run on this runner'
  const found = `the config file that was found here is not trusted with ${variableOf(sources.environment)}; set ${VARIABLE} to the address of the service, or name the file with --config`
  const parsed =
    from === 'nothing'
      ? { problem: none }
      : from === 'found file'
        ? { problem: found }
        : parseServiceAddress(baseUrl)
  if ('address' in parsed) return parsed.address
  inputs.problems.push(`${from === 'environment' ? VARIABLE : 'base-url'}: ${parsed.problem}`)
  return undefined
}

export interface WaitFor {
  readonly url: URL
  readonly timeoutMs: number
}

/** Too short to be a secret. */
const DURATION_LIKE = /^-?[\d.,]{1,6}\s?[A-Za-z]{0,7}$/
const DEFAULT_SECONDS = 120
const ACCEPTED =
  'an http or https address without a password, and optionally how long to wait for it: `http://localhost:8080/health 5m`'

/** `<address>` or `<address> <duration>`. */
export function parseWaitFor(text: string): Parsed<WaitFor> {
  const [address = '', duration, ...others] = text.split(/\s+/)
  const url = URL.canParse(address) ? new URL(address) : undefined
  const seconds =
    duration === undefined ? { ok: true as const, value: DEFAULT_SECONDS } : parseDurationSeconds(duration, 1)
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === ''
  return isPlain && seconds.ok && others.length === 0
    ? { ok: true, value: { url, timeoutMs: seconds.value * 1000 } }
    : { ok: false, accepted: ACCEPTED, shown: hideSecrets(address, [duration ?? '', ...others]) }
}

/** Whatever is no address may be a secret. */
function hideSecrets(address: string, rest: readonly string[]): string {
  const shown = rest.filter((word) => word !== '').map((word) => (DURATION_LIKE.test(word) ? word : '***'))
  return [showAddress(address) ?? '***', ...shown].join(' ')
}

/** Where the nodes of the embedded service run. Undefined if it was not given, or no region in it can be read. */
export async function readRegions(
  inputs: GateInputs,
  { baseUrl, isLocal }: ServiceChoice
): Promise<Regions | undefined> {
  const given = inputs.structured('regions')
  if (given === '') return undefined
  // Where no token is given, the address may come from a variable that is empty too.
  if (!isLocal && baseUrl !== '')
    inputs.complain(
      'regions',
      'is for base-url: local only; the service at base-url decides itself where its grids run. Remove one of the two'
    )
  const { regions, problems } =
    typeof given === 'string' ? await parseRegionsText(given) : parseRegions(given)
  for (const problem of problems) inputs.complain('regions', problem)
  return regions.size === 0 ? undefined : regions
}

export async function parseRegionsText(text: string): Promise<ParsedRegions> {
  const { value, problems } = await readYaml(text)
  if (problems.length === 0) return parseRegions(value)
  return { regions: new Map(), problems: problems.map((problem) => `is not YAML: ${problem}`) }
}

export function parseServiceAddress(text: string): { address: Address } | { problem: string } {
  try {
    return { address: readAddress(text) }
  } catch (thrown) {
    const shown = showAddress(text)
    return { problem: `${shown === undefined ? 'this text' : `"${shown}"`} ${messageOf(thrown)}` }
  }
}
