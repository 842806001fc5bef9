import { isReference } from '../../client/documents/requests.js'
import { isSecretName } from '../../contract/secret-names.js'
import { readParameters, splitParameters, type Parameter } from './override-parameters.js'
import type { Settings } from './settings.js'

/** Shorter ones occur in any text by chance. */
const LEAST_LENGTH = 6
/** A longer pattern would be very large; a longer value is redacted in parts. */
const LONGEST_PART = 500
/** Replies are mostly numbers and times: redacting one would lose a figure. */
const NUMBER = /^[\d\s.,:+TZ-]+$/
/** Words of the API's replies and CSVs, and common values that are not secret. */
const PLAIN_WORDS = [
  'batch_id created updated started stopped queued starting running stopping finished problem unknown message error errors remote_errors',
  'infrastructure instance_type instance_quantity stop_after region origin public private privacy demand hosted status summary permalink',
  '_embedded _links href total results report result.csv grid_id duration rampup threads project tag_list override_hosts override_parameters',
  'mean_response_time mean_concurrency mean_throughput mean_error_rate application/json text/csv authentication_token',
  'timeStamp elapsed label responseCode responseMessage threadName dataType success failureMessage bytes sentBytes grpThreads allThreads',
  'Latency IdleTime Connect SampleCount ErrorCount Hostname measurement concurrency throughput response_time https:// http:// localhost',
  'password passwords passwd secret secrets token tokens apikey api-key api_key session sessions cookie cookies bearer Bearer digest',
  'oauth oauth2 openid default enabled disabled required optional session-id session_id authorization anonymous undefined'
].join(' ')

/**
 * The values of override parameters that are secret: marked ones, and those whose names suggest it. A service that echoes them would put
 * them into CSVs and reports. A value that was not marked and also appears in a public setting is not secret, and may be needed to
 * match labels, grids and addresses.
 */
export function secretParameters(settings: Settings): string[] {
  const parameters = parametersOf(settings)
  const marked = parameters.filter(({ isMarked }) => isMarked).flatMap(linesOf)
  const shown = plainTextsOf(settings)
  const named = parameters
    .filter(({ name, isMarked }) => !isMarked && isSecretName(name))
    .flatMap(linesOf)
    .filter((value) => !shown.some((text) => text.includes(value)))
  return [...marked, ...named].filter(canBeTold).flatMap(partsOf).filter(isLong)
}

/** The values that were marked as secret, for the log. */
export function markedValues(settings: Settings): string[] {
  return parametersOf(settings).flatMap(({ isMarked, value }) => (isMarked && isLong(value) ? [value] : []))
}

/** The parameters with the names alone of secret ones, for what is hashed: a secret must not be guessed from its hash. */
export function withoutSecretValues(text: string | undefined): string | undefined {
  if (text === undefined || !readParameters(text).some(isSecret)) return text
  const entries = splitParameters(text).map((entry) => {
    const secret = readParameters(entry).find(isSecret)
    return secret === undefined ? entry : `-${secret.kind}${secret.name}`
  })
  return entries.join(', ')
}

/** Whether a parameter was marked as secret, or has a name that suggests it. */
export function isSecret({ name, isMarked }: Parameter): boolean {
  return isMarked || isSecretName(name)
}

/** The names of parameters whose values were marked as secret. */
export function markedNames(parameters: string | undefined): string[] {
  const marked = readParameters(parameters ?? '').filter(({ isMarked }) => isMarked)
  return [...new Set(marked.map(({ name }) => name))]
}

/** Marked values that cannot be redacted in results, as one sentence; undefined if there are none. */
export function describeShortSecrets(settings: Settings): string | undefined {
  const short = parametersOf(settings).filter(
    (parameter) => parameter.isMarked && !linesOf(parameter).every((line) => isLong(line) && canBeTold(line))
  )
  if (short.length === 0) return undefined
  const names = [...new Set(short.map(({ name }) => name))].join(', ')
  return `override-parameters: the value of ${names} is marked as secret, but it is a number, a common word or shorter than ${LEAST_LENGTH} characters, so it may appear in any text by chance, and is not redacted in results and reports.`
}

function parametersOf({ overrideParameters, baseline: { source } }: Settings): Parameter[] {
  return [overrideParameters ?? '', source.kind === 'side-by-side' ? source.parameters : ''].flatMap(
    readParameters
  )
}

function linesOf({ value }: Parameter): string[] {
  // These may begin or end a field of a CSV.
  return value.split(/[\r\n]+/).map((line) => line.replace(/^[\s"',;]+|[\s"',;]+$/g, ''))
}

function canBeTold(value: string): boolean {
  return !NUMBER.test(value) && !PLAIN_WORDS.includes(value)
}

function isLong(value: string): boolean {
  return value.length >= LEAST_LENGTH
}

function plainTextsOf({ target, origin, thresholds, ...settings }: Settings): string[] {
  const grids = origin.kind === 'files' ? origin.grids : []
  return [
    ...(target.kind === 'remote' ? [target.address.api] : []),
    ...thresholds.map(({ text }) => text),
    ...grids.map((grid) => (isReference(grid) ? grid.id : `${grid.region} ${grid.instanceType}`)),
    ...[settings.name, settings.project ?? '', settings.tool, settings.serviceName ?? '', ...settings.tags]
  ]
}

function partsOf(value: string): string[] {
  return Array.from({ length: Math.ceil(value.length / LONGEST_PART) }, (_, index) =>
    value.slice(index * LONGEST_PART, (index + 1) * LONGEST_PART)
  )
}
