import { variableOf } from '../../analysis/plans/check/source-plan.js'
import { k6Extractor, k6Functions } from './extractors.js'
import { addressOf, claimName, isSafe, NOT_FOUND, readableName } from './request.js'
import type { PlanRequest, PlanText, RequestSet } from './request.js'
import { sharedThinkMs, startsAnew, totalThinkMs, UNIT_SECONDS } from './write-plan.js'
import type { PlanOptions, Rate } from './write-plan.js'

type Lines = readonly string[]

const TIMEOUT = '30s'
const TIME_UNITS = { s: '1s', min: '1m', h: '1h' }
/** How long a visit takes at least. k6 starts more users if it takes longer. */
const LEAST_SECONDS_PER_USER = 1
const MOST_USERS = 5000

/** A script for k6: users who send the requests in order, over and over, or once each if they arrive at a rate. */
export function writeK6(options: PlanOptions): string {
  const { target, requests, load } = options
  const extracts = requests.flatMap((request) => request.extracts ?? [])
  const proofs = requests.flatMap((request) => request.proofs ?? [])
  return [
    ...header(options),
    '',
    `import { ${hasChecks(requests) ? 'check, ' : ''}sleep } from 'k6'`,
    "import http from 'k6/http'",
    '',
    '// Where the load goes. To point it elsewhere: -Jbase_url=https://staging.example.com',
    `const application = __ENV.BASE_URL || ${quote(addressOf(target))}`,
    '// Wait before each request, in milliseconds: -Jthink=0 sends as fast as the application answers.',
    `const think = Number(__ENV.THINK || ${sharedThinkMs(requests)})`,
    '',
    ...(load.kind === 'open' ? openOptions(options, load.rate) : closedOptions(options, load.threads)),
    '',
    'export default function () {',
    ...(extracts.length === 0
      ? []
      : ['  // What replies contain, and later requests send.', '  const found = {}']),
    ...(extracts.length + proofs.length === 0 ? [] : ['  let reply']),
    ...requests.flatMap(writeRequest).map((line) => `  ${line}`),
    '}',
    '',
    '/** Milliseconds of this request alone, on top of those of all requests. */',
    'function pause(ms) {',
    '  if (think + ms > 0) sleep((think + ms) / 1000)',
    '}',
    ...k6Functions([...extracts, ...proofs]),
    ''
  ].join('\n')
}

function header({ target }: PlanOptions): Lines {
  return [
    `// A load test of ${oneLine(addressOf(target))}, written by loadgate init.`,
    '//',
    '// How values reach this script: -Jname=value of override-parameters is __ENV.NAME; threads, rampup and duration of loadgate',
    '// are __ENV.THREADS, __ENV.RAMPUP and __ENV.DURATION, and options of k6 where the script has no scenarios of its own.',
    '// Data files are listed under files, after the script. They are put beside it: open("./users.csv") reads one.',
    '// A response counts as failed if its status is 400 or above or not the expected one, or if it does not come.'
  ]
}

function closedOptions({ durationSeconds, requests }: PlanOptions, threads: number): Lines {
  return [
    'export const options = {',
    '  // threads, rampup and duration of loadgate replace these two.',
    `  vus: ${threads},`,
    `  duration: '${durationSeconds}s',`,
    ...checkThreshold(requests),
    ...(startsAnew(requests)
      ? ['  // A user who starts over is a new one, without cookies.', '  noCookiesReset: false']
      : [
          '  // A user stays the same one, with the cookies that the application set.',
          '  noCookiesReset: true'
        ]),
    '}'
  ]
}

/** k6 takes whole numbers of users only, in any unit of time. The duration includes the ramp-up. */
function openOptions(options: PlanOptions, rate: Rate): Lines {
  const { requests, rampupSeconds, durationSeconds } = options
  const secondsPerUser = LEAST_SECONDS_PER_USER + Math.ceil(totalThinkMs(requests) / 1000)
  const perSecond = UNIT_SECONDS[rate.per]
  const perUnit = perSecond === 1 ? 'rate' : `(rate / ${perSecond})`
  return [
    `// Users arrive at this rate, whether others are waiting or not (an open model), and send each request once. -Jrate=50 sets another rate.`,
    `const rate = Number(__ENV.RATE || ${rate.arrivals})`,
    `const rampup = seconds(__ENV.RAMPUP || '${rampupSeconds}s')`,
    `const duration = seconds(__ENV.DURATION || '${durationSeconds}s')`,
    `const unit = Number.isInteger(rate) ? '${TIME_UNITS[rate.per]}' : '${1000 * perSecond}s'`,
    'const arrivals = Number.isInteger(rate) ? rate : Math.round(rate * 1000)',
    '// How many are active at a time depends on the application: k6 starts more when it needs them, up to maxVUs.',
    `const users = Math.max(1, Math.ceil(${perUnit} * ${secondsPerUser}))`,
    `const vus = { preAllocatedVUs: Math.min(users, ${MOST_USERS}), maxVUs: Math.min(20 * users, ${MOST_USERS}) }`,
    '',
    'export const options = {',
    '  scenarios: {',
    '    users:',
    '      rampup === 0',
    "        ? { executor: 'constant-arrival-rate', rate: arrivals, timeUnit: unit, duration: `${duration}s`, ...vus }",
    '        : {',
    "            executor: 'ramping-arrival-rate',",
    '            startRate: 0,',
    '            timeUnit: unit,',
    '            stages: [',
    '              { target: arrivals, duration: `${rampup}s` },',
    '              { target: arrivals, duration: `${duration - rampup}s` }',
    '            ],',
    '            ...vus',
    '          }',
    '  },',
    ...checkThreshold(requests),
    '  // Whoever arrives is a new user, with connections and cookies of their own.',
    '  noVUConnectionReuse: true',
    '}',
    '',
    '/** As loadgate passes them: 60s. */',
    'function seconds(text) {',
    '  if (!/^\\d+s?$/.test(text)) throw new Error(`"${text}" is not a number of seconds such as 60s`)',
    '  return parseInt(text, 10)',
    '}'
  ]
}

function hasChecks(requests: readonly PlanRequest[]): boolean {
  return requests.some(
    ({ isEnabled, extracts = [], proofs = [] }) => isEnabled && extracts.length + proofs.length > 0
  )
}

/** k6 judges a response by its status alone, and checks fail nothing by themselves. */
function checkThreshold(requests: readonly PlanRequest[]): Lines {
  return hasChecks(requests)
    ? [
        '  // A reply without what later requests need, or with another redirect than the recorded one, fails the run.',
        "  thresholds: { checks: ['rate>0.99'] },"
      ]
    : []
}

/** A request that is not enabled is a comment, with the reason in front. */
function writeRequest(request: PlanRequest): Lines {
  const { method, path, body, thinkMs = 0, isEnabled, note, extracts = [], proofs = [] } = request
  const expectFound = (words: string, value: string): string =>
    `check(reply, { ${quote(readableName(`${request.name} ${words}`))}: () => ${value} !== '${NOT_FOUND}' })`
  const call = [
    `pause(${thinkMs})`,
    `${extracts.length + proofs.length === 0 ? '' : 'reply = '}http.request(${quote(method)}, application + ${encode(path)}, ${body === undefined ? 'null' : encode(body)}, {`,
    ...parameters(request).map((line) => `  ${line}`),
    '})',
    ...extracts.flatMap((extract) => [
      `found.${extract.variable} = ${k6Extractor(extract, quote)}`,
      expectFound(`has ${extract.variable}`, `found.${extract.variable}`)
    ]),
    ...proofs.map((proof) => expectFound(proof.words, k6Extractor(proof, quote)))
  ]
  const lines = isEnabled ? call : call.map((line) => `// ${line}`)
  return note === undefined ? lines : [`// ${oneLine(note)}`, ...lines]
}

function parameters({ name, method, headers, expects }: PlanRequest): Lines {
  const followsRedirects = expects === undefined && isSafe(method)
  const fields = headers.map(({ name: field, value }) => `  ${quote(field)}: ${encode(value)}`)
  const entries = [
    `tags: { name: ${quote(readableName(name))} }`,
    ...(headers.length === 0 ? [] : [['headers: {', fields.join(',\n'), '}'].join('\n')]),
    // Each redirect that k6 follows is a request of its own in all figures.
    ...(followsRedirects ? [] : ['redirects: 0']),
    // Otherwise a redirect to a login would count as a success.
    ...(expects === undefined
      ? []
      : [`responseCallback: http.expectedStatuses({ min: ${expects}00, max: ${expects}99 })`]),
    `timeout: '${TIMEOUT}'`
  ]
  return entries.join(',\n').split('\n')
}

/** Line breaks, which end a comment, characters that change the direction of text, and invisible ones. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\ufffe\uffff]/gu

/** A string of JavaScript: nothing in it is code, and no line of the file ends within it. */
function quote(text: string): string {
  return JSON.stringify(text).replace(UNPRINTABLE, (sign) =>
    Array.from({ length: sign.length }, (_, at) => escapeUnit(sign.charCodeAt(at))).join('')
  )
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

function oneLine(text: string): string {
  return text.replace(UNPRINTABLE, ' ').replace(/\s+/g, ' ').trim()
}

/** An expression for the text, with variables where it has properties. */
function encode(text: PlanText): string {
  const parts = text.map((part) => {
    if (typeof part === 'string') return quote(part)
    const value = 'property' in part ? `(__ENV.${variableOf(part.property)} || '')` : `found.${part.variable}`
    return part.isEncoded ? `encodeURIComponent(${value})` : value
  })
  return parts.length === 0 ? "''" : parts.join(' + ')
}

export const VARIABLE_PREFIX = 'value_'

/**
 * The requests with properties whose names can be those of variables. They begin with `value_`: a recording names its fields as it likes,
 * and must not get what is in the environment of whoever runs the script, such as AWS_SECRET_ACCESS_KEY.
 */
export function nameVariables(set: RequestSet): RequestSet {
  const names = new Map<string, string>()
  const used = new Set<string>()
  const rename = (property: string): string => {
    const known = names.get(property)
    if (known !== undefined) return known
    const base = `${VARIABLE_PREFIX}${property.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`
    const name = claimName(base, used)
    names.set(property, name)
    return name
  }
  const text = (parts: PlanText): PlanText =>
    parts.map((part) =>
      typeof part !== 'string' && 'property' in part ? { ...part, property: rename(part.property) } : part
    )
  const requests = set.requests.map((request) => ({
    ...request,
    path: text(request.path),
    headers: request.headers.map(({ name, value }) => ({ name, value: text(value) })),
    ...(request.body !== undefined && { body: text(request.body) }),
    ...(request.note !== undefined && { note: renameIn(request.note, names) })
  }))
  const notes = set.notes.map((note) => renameIn(note, names))
  return { ...set, requests, notes, credentials: set.credentials.map(rename) }
}

/** Notes name the parameters to give. */
function renameIn(note: string, names: ReadonlyMap<string, string>): string {
  return note
    .replace(/-J([\w.-]+)=…/g, (_, name: string) => `-J${names.get(name) ?? name}=…`)
    .replace('${__P(name,)}', '__ENV.NAME')
}
