import type { PlanText } from './request.js'

const LONGEST_NAME = 120
/** What XML 1.0 cannot contain, not even escaped; and characters that turn the direction of text. */
const UNPRINTABLE =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu

export function escapeXml(text: string): string {
  const escapes: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    '\r': '&#xd;'
  }
  return text.replace(UNPRINTABLE, '\ufffd').replace(/[&<>"\r]/g, (sign) => escapes[sign] ?? sign)
}

/** Within a comment two hyphens would end it. */
export function escapeComment(text: string): string {
  return text.replace(UNPRINTABLE, '\ufffd').replace(/-(?=-)/g, '- ')
}

/**
 * Text for JMeter, which would run every `${…}` in it, wherever it comes from. As soon as a text contains a function, JMeter
 * reads backslashes as escapes too; without one it leaves them alone.
 */
export function encodeText(text: PlanText): string {
  const parts = joinLiterals(text)
  // Nothing but one literal, which JMeter leaves as it is.
  const [only = ''] = parts
  if (parts.length < 2 && typeof only === 'string' && !only.includes('${')) return only
  return parts
    .map((part) =>
      typeof part === 'string'
        ? part.replaceAll('\\', '\\\\').replaceAll('${', '${__char(36)}{')
        : `\${__P(${propertyName(part.property)},)}`
    )
    .join('')
}

/** A `$` at the end of one part and a `{` at the start of the next are a function too. */
function joinLiterals(text: PlanText): PlanText {
  const joined: (string | { readonly property: string })[] = []
  for (const part of text) {
    const last = joined.at(-1)
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part
    else joined.push(part)
  }
  return joined
}

/** A label: one short line, without anything that JMeter would run. */
export function readableName(text: string): string {
  const line = text
    .slice(0, 10 * LONGEST_NAME)
    .replace(UNPRINTABLE, ' ')
    .replace(/\$+(?=\{)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
  // Not within a character of two units.
  return line.length <= LONGEST_NAME
    ? line
    : `${line.slice(0, LONGEST_NAME - 1).replace(/\p{Surrogate}$/u, '')}…`
}

/** The path as people read it, without its query. */
export function labelOf(path: PlanText): string {
  const text = path.map((part) => (typeof part === 'string' ? part : `{${part.property}}`)).join('')
  return text.split('?')[0] ?? ''
}

/** Java refuses an address with other characters, although browsers send them. */
export function encodePath(path: string): string {
  return path
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/gu, (sign) => encodeURIComponent(sign))
    .replace(/%(?![0-9A-Fa-f]{2})/g, '%25')
}

/** A name for `-Jname=value`: no commas, brackets or equals signs, and not one that the plan uses for itself. */
export function propertyName(text: string): string {
  const name =
    text
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .slice(0, 60)
      .toLowerCase() || 'value'
  return OWN_PROPERTIES.includes(name) ? `recorded-${name}` : name
}

const OWN_PROPERTIES: readonly string[] = [
  'threads',
  'rampup',
  'duration',
  'protocol',
  'host',
  'port',
  'think'
]
