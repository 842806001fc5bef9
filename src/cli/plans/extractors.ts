import { NOT_FOUND, type PlanExtract, type PlanProof, type ReplyPlace } from './request.js'

/** The element of JMeter that takes a value from a reply: its kind, its panel, and its properties. */
export function jmeterExtractor({ variable, from }: PlanExtract): {
  readonly kind: string
  readonly gui: string
  readonly properties: readonly (readonly [name: string, value: string])[]
} {
  switch (from.kind) {
    case 'json':
      return jmeterElement('JSONPostProcessor', [
        ['referenceNames', variable],
        ['jsonPathExprs', jsonPath(from.keys)],
        ['match_numbers', '1'],
        ['defaultValues', NOT_FOUND]
      ])
    case 'element':
      return jmeterElement('HtmlExtractor', [
        ['refname', variable],
        ['expr', from.selector],
        ['attribute', from.attribute],
        ['default', NOT_FOUND],
        ['match_number', String(from.at)]
      ])
    case 'header':
    case 'body':
      return jmeterElement('RegexExtractor', [
        ['useHeaders', String(from.kind === 'header')],
        ['refname', variable],
        ['regex', from.kind === 'header' ? headerPattern(from) : from.pattern],
        ['template', '$1$'],
        ['default', NOT_FOUND],
        ['match_number', '1']
      ])
  }
}

function jmeterElement(kind: string, properties: readonly (readonly [string, string])[]) {
  return {
    ...{ kind, gui: `${kind}Gui` },
    properties: properties.map(([name, value]) => [`${kind}.${name}`, value] as const)
  }
}

function jsonPath(keys: readonly (string | number)[]): string {
  const parts = keys.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `['${key}']`
  })
  return `$${parts.join('')}`
}

/** JMeter has all headers as one text, with a line each. */
export function headerPattern({ name, pattern }: PlanProof['from']): string {
  const rest = pattern.startsWith('^') ? pattern.slice(1) : `[^\\r\\n]*?${pattern}`
  return `(?im)^${name}:${rest}`
}

/** The call that takes a value from `reply` in a script for k6, by one of the functions below. */
export function k6Extractor({ from }: Pick<PlanExtract, 'from'>, quote: (text: string) => string): string {
  switch (from.kind) {
    case 'json':
      return `fromJson(reply, [${from.keys.map((key) => (typeof key === 'number' ? key : quote(key))).join(', ')}])`
    case 'element':
      return `fromElement(reply, ${quote(from.selector)}, ${quote(from.attribute)}, ${from.at - 1})`
    case 'header':
      return `fromText(headerOf(reply, ${quote(from.name)}), ${quote(from.pattern)}, 'im')`
    case 'body':
      return `fromText(reply.body, ${quote(from.pattern)}, 'm')`
  }
}

const K6_FUNCTIONS: Readonly<Record<ReplyPlace['kind'], readonly string[]>> = {
  json: ['fromJson'],
  element: ['fromElement'],
  header: ['headerOf', 'fromText'],
  body: ['fromText']
}

/** Each gives NOT_FOUND where the reply lacks the value: a check fails then. */
const K6_LINES: Readonly<Record<string, readonly string[]>> = {
  fromJson: [
    'function fromJson(reply, keys) {',
    '  try {',
    '    const value = keys.reduce((found, key) => found[key], reply.json())',
    `    return String(value ?? '') || '${NOT_FOUND}'`,
    '  } catch {',
    `    return '${NOT_FOUND}'`,
    '  }',
    '}'
  ],
  fromElement: [
    'function fromElement(reply, selector, attribute, at) {',
    `  return (reply.body && reply.html(selector).eq(at).attr(attribute)) || '${NOT_FOUND}'`,
    '}'
  ],
  headerOf: [
    'function headerOf(reply, name) {',
    '  const key = Object.keys(reply.headers).find((one) => one.toLowerCase() === name.toLowerCase())',
    "  return key === undefined ? '' : reply.headers[key]",
    '}'
  ],
  fromText: [
    'function fromText(text, pattern, flags) {',
    "  const found = new RegExp(pattern, flags).exec(text || '')",
    `  return (found && found[1]) || '${NOT_FOUND}'`,
    '}'
  ]
}

/** The functions that these calls need. */
export function k6Functions(calls: readonly Pick<PlanExtract, 'from'>[]): string[] {
  const names = new Set(calls.flatMap(({ from }) => K6_FUNCTIONS[from.kind]))
  return [...names].flatMap((name) => ['', ...(K6_LINES[name] ?? [])])
}
