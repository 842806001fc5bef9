import { type PropertyOverride, propertyValue } from '../engines/override-parameters.js'

const PROPERTY = 'jmeter.reportgenerator.apdex_satisfied_threshold'
const DEFAULT_MS = 500

/** The response time up to which a user is satisfied; undefined if the override is not a whole number of ms. */
export function apdexTargetMs(properties: readonly PropertyOverride[]): number | undefined {
  const given = propertyValue(properties, PROPERTY)
  if (given === undefined) return DEFAULT_MS
  return /^[1-9]\d{0,8}$/.test(given) ? Number(given) : undefined
}

/** What is wrong with the override, if anything. */
export function checkApdexTarget(properties: readonly PropertyOverride[]): string[] {
  if (apdexTargetMs(properties) !== undefined) return []
  return [`override_parameters: ${PROPERTY} must be whole milliseconds, as in 500`]
}

/** At most four decimals and never rounded up: 0.84996 must not pass for 0.85. */
export function formatScore(score: number): string {
  const text = (Math.floor(score * 1e4 + 1e-6) / 1e4).toString()
  return text.includes('.') ? text : `${text}.0`
}
