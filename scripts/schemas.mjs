// Writes the schemas of the config files and of verdict.json into schema/, from the code's own tables and schemas: npm run generate -- schema
//   --check writes nothing, and fails if a file differs
// Those of the config files are draft 7, which editors know best. Every plain value is read as text, so that 00123 stays an id; an editor reads numbers and
// booleans, and both are accepted here. What depends on several keys is left to `loadgate check`.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { format, resolveConfig } from 'prettier'
import { toJsonSchema } from '@valibot/to-json-schema'
import { VERDICT_PARTS, verdictSchema } from '../src/contract/verdict.ts'
import { INPUTS, INPUT_NAMES, describeInput, mayBeInFile } from '../src/contract/inputs.ts'
import {
  INFRASTRUCTURES,
  MAX_STOP_AFTER_MIN,
  OPTIONAL_GRID_KEYS,
  REQUIRED_GRID_KEYS
} from '../src/contract/vocabulary.ts'
import { KUBERNETES_KEYS } from '../src/contract/regions/parse-regions.ts'
import {
  CONFIG_KEYS,
  DEFAULT_AT_LEAST,
  DEFAULT_DRAIN,
  METRICS_KEYS,
  PROXY_KEYS,
  REQUIRED_KEYS,
  RETENTION_KEYS,
  TLS_KEYS
} from '../src/service/config/parse-config.ts'
import { PROJECT_KEYS } from '../src/service/config/parse-projects.ts'
import { ROLES } from '../src/service/config/config.ts'
import {
  DEFAULT_GROUPS_CLAIM,
  GROUP_KEYS,
  LEAST_MAX_AGE_SEC,
  LOGIN_KEYS,
  REQUIRED_LOGIN_KEYS
} from '../src/service/config/parse-login.ts'
import { QUOTA_KEYS, QUOTAS_KEYS } from '../src/service/config/parse-quotas.ts'
import { SIZE_UNITS } from '../src/service/config/keys.ts'
import { CHECKED_CLAIMS, OIDC_KEYS } from '../src/service/config/parse-oidc.ts'

const text = { type: ['string', 'number', 'boolean'], pattern: '\\S' }
const listOf = (items, description) => ({
  type: 'array',
  minItems: 1,
  items,
  ...(description && { description })
})
const oneOf = (...choices) => ({ enum: choices })
const integer = (minimum, maximum) => ({
  type: ['integer', 'string'],
  minimum,
  ...(maximum !== undefined && { maximum }),
  pattern: '^\\s*[0-9]{1,9}\\s*$'
})
const matching = (pattern) => ({ type: ['string', 'number'], pattern })
const duration = (minimum) => ({
  type: ['integer', 'string'],
  minimum,
  pattern: '^\\s*(?=[0-9])([0-9]{1,7}|([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,7}s)?)\\s*$'
})
const flag = oneOf(true, false, 'true', 'false')
const mapOf = (properties) => ({ type: 'object', additionalProperties: false, properties })
const named = (names, schemaOf) => Object.fromEntries(names.map((name) => [name, schemaOf(name)]))

/** A map from the names of regions to places. */
function regions() {
  return {
    type: 'object',
    minProperties: 1,
    additionalProperties: { anyOf: [inKubernetes(), inProcesses()] }
  }
}

function inProcesses() {
  return {
    ...mapOf({ processes: mapOf({}) }),
    required: ['processes'],
    description: 'Processes on this machine.'
  }
}

function inKubernetes() {
  const label = { type: ['string', 'number', 'boolean'] }
  const own = {
    'node-selector': { type: 'object', additionalProperties: label },
    tolerations: {
      type: 'array',
      items: mapOf({
        key: text,
        operator: oneOf('Exists', 'Equal'),
        value: text,
        effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
        tolerationSeconds: integer(0)
      })
    },
    'image-pull-secrets': {
      type: 'array',
      items: { anyOf: [text, { ...mapOf({ name: text }), required: ['name'] }] }
    },
    'image-pull-policy': oneOf('Always', 'IfNotPresent', 'Never'),
    'host-network': flag,
    'instance-types': {
      type: 'object',
      additionalProperties: {
        ...mapOf({
          cpu: { type: ['number', 'string'], pattern: '[1-9]' },
          memory: { type: 'string', pattern: '^\\s*[0-9]{1,12}(\\.[0-9]{1,3})?([KMGTPE]i|[kMGTPE])\\s*$' }
        }),
        required: ['cpu', 'memory']
      }
    },
    'start-timeout': duration(1)
  }
  return {
    ...mapOf({ kubernetes: mapOf(named(KUBERNETES_KEYS, (name) => own[name] ?? text)) }),
    required: ['kubernetes'],
    description: 'Pods of a cluster.'
  }
}

/** What `grids`, `regions` and `results` are in a file, instead of text. */
const STRUCTURES = {
  grids: listOf({ anyOf: [matching('^\\s*[A-Za-z0-9][A-Za-z0-9_-]{0,127}\\s*$'), gridByUuid(), grid()] }),
  regions: regions(),
  results: {
    anyOf: [
      listOf(matching('\\S')),
      {
        type: 'object',
        propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$' },
        additionalProperties: matching('\\S'),
        minProperties: 1
      }
    ]
  }
}

function gridByUuid() {
  return {
    ...mapOf({ uuid: matching('^\\s*[A-Za-z0-9][A-Za-z0-9_-]{0,127}\\s*$') }),
    required: ['uuid'],
    description: 'A grid that exists.'
  }
}

function grid() {
  const own = {
    infrastructure: oneOf(...INFRASTRUCTURES),
    instance_quantity: integer(1),
    stop_after: { ...integer(1, MAX_STOP_AFTER_MIN), description: 'In minutes.' },
    aws_spot_price: matching('^\\s*[0-9]+(\\.[0-9]+)?\\s*$')
  }
  return {
    ...mapOf(named([...REQUIRED_GRID_KEYS, ...OPTIONAL_GRID_KEYS], (name) => own[name] ?? text)),
    description:
      'A grid to create. A service needs infrastructure, region, instance_quantity, instance_type and stop_after; with `base-url: local` each has a default.'
  }
}

function schemaOf(name) {
  const { kind, inFile, byDefault } = INPUTS[name]
  const structure = inFile === 'list' ? listOf(kind.json) : STRUCTURES[name]
  return {
    description: describeInput(name),
    ...(structure === undefined
      ? kind.json
      : { anyOf: [inFile === 'list' ? kind.json : { type: 'string', pattern: '\\S' }, structure] }),
    ...(byDefault !== undefined && { default: plainValue(byDefault) })
  }
}

/** As people write it in a file: what an editor completes. */
function plainValue(given) {
  if (/^(true|false)$/.test(given)) return given === 'true'
  return /^\d+$/.test(given) ? Number(given) : given
}

function makeSchema() {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Config file of loadgate',
    description:
      'The file that `config` names: its keys are the inputs of the action and flags of the command line.',
    ...mapOf(named(INPUT_NAMES.filter(mayBeInFile), schemaOf))
  }
}

/** In the service's config file. Left to the service: whether the address is a valid one. */
const PORT = ':(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[0-5]?[0-9]{1,4})\\s*$'
const LOOPBACK = `^\\s*(127\\.[0-9.]+|[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|\\[[0:]*:0*1\\])${PORT}`
const ISSUER =
  '^\\s*([Hh][Tt][Tt][Pp][Ss]://(?=[^/\\s])|[Hh][Tt][Tt][Pp]://(127\\.[0-9.]+|[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|\\[::1\\])(?=[:/]|\\s*$))[^\\s?#@]*\\s*$'
const range = {
  type: 'string',
  pattern:
    '^\\s*([0-9]{1,3}(\\.[0-9]{1,3}){3}(/([1-9]|[12][0-9]|3[0-2]))?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?)\\s*$'
}
const path = text
const size = {
  type: 'string',
  pattern: `^\\s*(?=[0-9.]*[1-9])[0-9]{1,9}(\\.[0-9]{1,3})?\\s?(${Object.keys(SIZE_UNITS).join('|')})\\s*$`
}

/** A map whose keys have these descriptions. */
const described = (keys, schemas) =>
  mapOf(
    Object.fromEntries(
      Object.entries(keys).map(([name, description]) => [name, { description, ...schemas[name] }])
    )
  )

const projectUsers = {
  type: 'array',
  items: { anyOf: [text, { type: 'object', minProperties: 1, additionalProperties: text }] }
}

const SCHEMAS = {
  listen: {
    type: 'string',
    pattern: `^\\s*([A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\])${PORT}`,
    examples: ['0.0.0.0:8443', '127.0.0.1:8080']
  },
  data: path,
  'external-url': { type: 'string', pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?://[^/\\s?#@]+/?\\s*$' },
  tls: { ...described(TLS_KEYS, { certificate: path, key: path }), required: Object.keys(TLS_KEYS) },
  'behind-proxy': { ...described(PROXY_KEYS, { trusted: listOf(range) }), required: ['trusted'] },
  oidc: listOf({
    ...described(OIDC_KEYS, {
      issuer: { type: 'string', pattern: ISSUER },
      name: { type: 'string', pattern: '^\\s*[a-z][a-z0-9-]{0,31}\\s*$' },
      'user-claim': text,
      audience: text,
      ca: path,
      allow: listOf({
        type: 'object',
        properties: { role: oneOf(...ROLES) },
        additionalProperties: text,
        required: ['role'],
        minProperties: 2,
        not: { anyOf: CHECKED_CLAIMS.map((name) => ({ required: [name] })) }
      })
    }),
    required: ['issuer', 'audience', 'allow']
  }),
  'max-nodes': integer(1),
  drain: { ...duration(0), default: DEFAULT_DRAIN },
  retention: described(RETENTION_KEYS, {
    days: integer(1),
    size,
    'runs-per-project': integer(1),
    'at-least': { ...duration(0), default: DEFAULT_AT_LEAST }
  }),
  login: {
    ...described(LOGIN_KEYS, {
      issuer: { type: 'string', pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]://[^/\\s?#@]+(/[^\\s?#]*)?\\s*$' },
      'client-id': text,
      'client-secret-file': path,
      ...named(GROUP_KEYS, () => listOf(text)),
      'groups-claim': { ...text, default: DEFAULT_GROUPS_CLAIM },
      'max-age': duration(LEAST_MAX_AGE_SEC),
      ca: path
    }),
    required: REQUIRED_LOGIN_KEYS,
    anyOf: GROUP_KEYS.map((key) => ({ required: [key] }))
  },
  quotas: quotas(),
  metrics: {
    ...described(METRICS_KEYS, { 'token-file': path, allow: listOf(range) }),
    oneOf: Object.keys(METRICS_KEYS).map((key) => ({ required: [key] }))
  },
  regions: regions(),
  projects: {
    type: 'object',
    additionalProperties: described(PROJECT_KEYS, { members: projectUsers, viewers: projectUsers })
  }
}

function quotas() {
  const limits = described(QUOTA_KEYS, {
    ...{ 'waiting-runs': integer(1), nodes: integer(1), 'upload-per-day': size, disk: size }
  })
  const byName = { type: 'object', additionalProperties: limits }
  return described(QUOTAS_KEYS, { user: limits, project: limits, users: byName, projects: byName })
}

async function writeSchema(name, schema) {
  const file = fileURLToPath(new URL(`../schema/${name}`, import.meta.url))
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const options = { ...(await resolveConfig(file)), filepath: file }
  const wanted = await format(JSON.stringify(schema), options)
  const found = await readFile(file, 'utf8').catch(() => '')
  if (found === wanted) return
  if (!values.check) return writeFile(file, wanted)
  console.error(`schema/${name} is out of date: run \`npm run generate -- schema\` and commit the result.`)
  process.exitCode = 1
}

await writeSchema('config.schema.json', makeSchema())
await writeSchema('service.schema.json', {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Config file of the loadgate service',
  description: 'The file that `loadgate serve --config` reads. Relative paths start at its folder.',
  ...described(CONFIG_KEYS, SCHEMAS),
  required: REQUIRED_KEYS,
  not: { required: ['tls', 'behind-proxy'] },
  dependencies: { login: ['external-url'] },
  // Beyond loopback, tokens must not be on the wire in plain text.
  if: { properties: { listen: { pattern: LOOPBACK } } },
  else: { anyOf: [{ required: ['tls'] }, { required: ['behind-proxy'] }] }
})
await writeSchema('verdict.schema.json', {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'verdict.json of loadgate',
  description:
    'What a gate found, for machines. Times are in ms, rates are ratios from 0 to 1, throughput is per second; null stands for what is not known.',
  ...toJsonSchema(verdictSchema, { target: 'draft-2020-12', definitions: VERDICT_PARTS })
})
