// Writes schema/service.schema.json, the JSON schema of the service's config file for editors: part of npm run schema
import {
  CONFIG_KEYS,
  DEFAULT_DRAIN,
  METRICS_KEYS,
  PROXY_KEYS,
  REQUIRED_KEYS,
  RETENTION_KEYS,
  TLS_KEYS
} from '../src/service-config/config-keys.ts'
import { SIZE_UNITS } from '../src/service-config/size.ts'
import { duration, integer, listOf, mapOf, regions, text } from './schema-parts.mjs'
import { writeSchema } from './write-schema.mjs'

/** Left to the service: whether the address is a valid one. */
const PORT = ':(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[0-5]?[0-9]{1,4})\\s*$'
const LOOPBACK = `^\\s*(127\\.[0-9.]+|[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]|\\[[0:]*:0*1\\])${PORT}`
const range = {
  type: 'string',
  pattern:
    '^\\s*([0-9]{1,3}(\\.[0-9]{1,3}){3}(/([1-9]|[12][0-9]|3[0-2]))?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/([1-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?)\\s*$'
}
const path = text

/** A map whose keys have these descriptions. */
const described = (keys, schemas) =>
  mapOf(
    Object.fromEntries(
      Object.entries(keys).map(([name, description]) => [name, { description, ...schemas[name] }])
    )
  )

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
  'max-nodes': integer(1),
  drain: { ...duration(0), default: DEFAULT_DRAIN },
  retention: described(RETENTION_KEYS, {
    days: integer(1),
    size: {
      type: 'string',
      pattern: `^\\s*(?=[0-9.]*[1-9])[0-9]{1,9}(\\.[0-9]{1,3})?\\s?(${Object.keys(SIZE_UNITS).join('|')})\\s*$`
    },
    'runs-per-project': integer(1)
  }),
  metrics: {
    ...described(METRICS_KEYS, { 'token-file': path, allow: listOf(range) }),
    oneOf: Object.keys(METRICS_KEYS).map((key) => ({ required: [key] }))
  },
  regions: regions()
}

await writeSchema('service.schema.json', {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Config file of the loadgate service',
  description: 'The file that `loadgate serve --config` reads. Relative paths start at its folder.',
  ...described(CONFIG_KEYS, SCHEMAS),
  required: REQUIRED_KEYS,
  not: { required: ['tls', 'behind-proxy'] },
  // Beyond loopback, tokens must not be on the wire in plain text.
  if: { properties: { listen: { pattern: LOOPBACK } } },
  else: { anyOf: [{ required: ['tls'] }, { required: ['behind-proxy'] }] }
})
