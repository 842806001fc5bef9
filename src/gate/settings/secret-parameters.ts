import { isReference } from '../../service/documents/requests.js'
import { splitParameters } from './override-parameters.js'
import type { Settings } from './settings.js'

/** The same pattern as in the embedded service. */
const SECRET_NAME =
  /pass|pwd|secret|token|credential|key|auth|session|cookie|signature|(?<![a-z])(?:pin|otp|jwt|bearer|salt|private)(?![a-z])/i
const PARAMETER = /^-[JD]([\w.-]+)=([^]*)$/
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
 * The values of override parameters whose names suggest a secret. A service that echoes them would put them into CSVs and reports.
 * A value that also appears in a public setting is not secret, and may be needed to match labels, grids and addresses.
 */
export function secretParameters(settings: Settings): string[] {
  const { source } = settings.baseline
  const given = [settings.overrideParameters ?? '', source.kind === 'side-by-side' ? source.parameters : '']
  const values = given
    .flatMap(readSecretParameters)
    .flatMap((value) => value.split(/[\r\n]+/))
    // These may begin or end a field of a CSV.
    .map((line) => line.replace(/^[\s"',;]+|[\s"',;]+$/g, ''))
  const shown = plainTextsOf(settings)
  return values
    .filter((value) => !NUMBER.test(value) && !shown.some((text) => text.includes(value)))
    .flatMap(partsOf)
    .filter((part) => part.length >= LEAST_LENGTH)
}

export function readSecretParameters(text: string): string[] {
  return splitParameters(text).flatMap((entry) => {
    const [, name, value] = PARAMETER.exec(entry) ?? []
    return name !== undefined && value !== undefined && isSecretName(name) ? [value] : []
  })
}

/** `userPin` contains the word `pin`, `spinner` does not. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replace(/(?<=[a-z\d])(?=[A-Z])/g, '_'))
}

function plainTextsOf({ target, origin, thresholds, ...settings }: Settings): string[] {
  const grids = origin.kind === 'files' ? origin.grids : []
  return [
    PLAIN_WORDS,
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
