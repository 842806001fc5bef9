import { isSecretName } from '../../contract/secret-names.js'
import type { PropertyOverride } from './engine.js'
import { LEAST_LENGTH, rememberFinders } from '../secret-finder.js'

export const REDACTED = '***'

/** Secrets where tools and plans usually log them, whatever they are called. */
const PLACES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Headers, as a sampler's request data has them.
  [/((?:authorization|cookie2?|x-api-key|x-auth-token|x-csrf-token)["']?\s*[:=]\s*).+/gi, `$1${REDACTED}`],
  [/\b(Bearer|Basic|Digest) [\w+/=.~-]{6,}/g, `$1 ${REDACTED}`],
  // `https://user:password@host`
  [/(:\/\/)[^\s/:@]{0,200}:[^\s/@]{1,200}@/g, `$1${REDACTED}@`]
]

/** Where a value follows its name: `Setting JMeter property: shop.password=…`, `?access_token=…`, and `"password": "…"`. */
const NAMED: readonly RegExp[] = [
  /( property: ([^=\s]{1,400})=).*/g,
  /([?&]([\w.-]{1,160})=)[^&\s"']+/g,
  /("([\w.-]{1,160})"\s*:\s*)"[^"\n]*"/g
]

/** Whether a value is secret: its name says so, or whoever gave it. */
export function isSecretProperty({
  name,
  isSecret = false
}: Pick<PropertyOverride, 'name' | 'isSecret'>): boolean {
  return isSecret || isSecretName(name)
}

/** The values of properties or variables that are secret. */
export function secretValues(
  properties: readonly Pick<PropertyOverride, 'name' | 'value' | 'isSecret'>[]
): string[] {
  return properties.filter(isSecretProperty).flatMap(({ name, value, isSecret = false }) => [
    value,
    // A value too short to be found by itself is found after its name.
    ...(isSecret ? [`${name}=${value}`] : [])
  ])
}

/** The secrets that a plan was given: properties, and variables of an uploaded file. */
export function planSecrets(
  properties: readonly PropertyOverride[],
  variables: Readonly<Record<string, string>>
): string[] {
  return secretValues([...properties, ...Object.entries(variables).map(([name, value]) => ({ name, value }))])
}

/** Redacts the known secrets, in any form, and whatever looks like one. Of a secret that was cut with its line, what is left. */
export function redactLog(text: string, secrets: readonly string[]): string {
  let rest = redactKnown(text, secrets)
  for (const pattern of NAMED) rest = rest.replace(pattern, strikeNamed)
  for (const [pattern, replacement] of PLACES) rest = rest.replace(pattern, replacement)
  return rest
}

export function redactKnown(text: string, secrets: readonly string[]): string {
  return finderOf(secrets).replaceIn(text, REDACTED)
}

const finderOf = rememberFinders(secretForms)

function strikeNamed(whole: string, start: string, name: string): string {
  if (!isSecretName(name)) return whole
  return start.endsWith('=') ? `${start}${REDACTED}` : `${start}"${REDACTED}"`
}

/** Every form in which the secrets may be written. Where shorter values, such as `true`, are set, they are redacted by their names. */
export function secretForms(secrets: readonly string[]): string[] {
  const forms = secrets
    .filter((secret) => secret.length >= LEAST_LENGTH)
    .flatMap((secret) => [...new Set([secret, ...secret.split(/[\r\n]+/)])])
    .flatMap(formsOf)
  return [...new Set(forms)].filter((form) => form.length >= LEAST_LENGTH)
}

function formsOf(secret: string): string[] {
  const inAddress = encodeURIComponent(secret)
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1)
  const inJson = JSON.stringify(secret).slice(1, -1)
  // As samples have it.
  const inRow = Array.from(secret, (character) => (character < ' ' ? ' ' : character)).join('')
  return [
    secret,
    // UTF-8 that was read as ISO-8859-1, as JMeter reads a status line.
    Buffer.from(secret).toString('latin1'),
    inRow,
    ...[inAddress, inForm, ...inBrowserAddress(secret)].flatMap((form) => [
      form,
      form.replace(/%../g, (code) => code.toLowerCase())
    ]),
    ...[inJson, inJson.replaceAll('/', '\\/')],
    ...['&#39;', '&apos;', "'"].map((apostrophe) => inHtml(secret, apostrophe)),
    Buffer.from(`${secret}:`).toString('base64'),
    ...[0, 1, 2]
      .map((bytesBefore) => base64Core(secret, bytesBefore))
      .flatMap((core) => [core, core.replaceAll('+', '-').replaceAll('/', '_')])
  ]
}

/** As a browser writes it into the query, the path and the fragment of an address. */
function inBrowserAddress(secret: string): string[] {
  return ['http://x/?', 'http://x/x/', 'http://x/#'].map((start) =>
    new URL(`${start}${secret}`).href.slice(start.length)
  )
}

function inHtml(secret: string, apostrophe: string): string {
  const named = new Map(
    Object.entries({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": apostrophe })
  )
  return secret.replace(/[&<>"']/g, (character) => named.get(character) ?? character)
}

/** The base64 of a secret anywhere in a text, as after a user name: without the characters that depend on its neighbours. */
function base64Core(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)])
  const letters = bytes.toString('base64').replace(/=+$/, '')
  const isOpen = bytes.length % 3 !== 0
  return letters.slice(bytesBefore === 0 ? 0 : bytesBefore + 1, isOpen ? -1 : undefined)
}
